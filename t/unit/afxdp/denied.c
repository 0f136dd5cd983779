/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is left of a link when the kernel refuses bpf().
 */
#include "../kernel/kernel.h"

#include "handshake/announce.h"

enum { FD = 0 };		/* some descriptor */

static unsigned denials;

static void on_said(const struct tux_link_note *n)
{
	denials += n->what == TUX_LINK_DENIED;
}

static int init(void **state)
{
	denials = 0;
	kernel_init(state, on_said);
	kernel_taken(*state);
	return 0;
}

/* ---- bpf() is there ---- */

static void prog_lost__no_link(void **state)
{
	struct tux_prog p;

	(void)state;
	tux_prog_init(&p);
	assert_true(tux_prog_lost(&p));
	assert_false(tux_prog_denied(&p));
}

static void prog_add__no_map(void **state)
{
	struct tux_addr local = kernel_addr(80);
	struct tux_prog p;

	(void)state;
	tux_prog_init(&p);
	assert_int_equal(tux_prog_add(&p, &local),
			 -TUX_REASON_NO_MEMORY);
}

static int look(void)
{
	struct tux_announce a;
	struct tux_mark_peer peer;

	tux_announce_init(&a);
	a.link = FD;
	return tux_announce_look(&a, FD, true, &peer);
}

static void announce_look__no_map(void **state)
{
	(void)state;
	assert_int_equal(look(), -TUX_REASON_NOT_ANNOUNCED);
}

/* ---- it is refused ---- */

static void prog_denied__may_not_ask(void **state)
{
	struct tux_prog p;

	(void)state;
	tux_prog_init(&p);
	assert_true(tux_prog_denied(&p));
}

static void prog_add__may_not_add(void **state)
{
	struct tux_addr local = kernel_addr(80);
	struct tux_prog p;

	(void)state;
	tux_prog_init(&p);
	assert_int_equal(tux_prog_add(&p, &local),
			 -TUX_REASON_NO_PRIVILEGE);
}

static void announce_look__may_not_look(void **state)
{
	(void)state;
	assert_int_equal(look(), -TUX_REASON_NO_PRIVILEGE);
}

static void paths_admit__says_why(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(1);
	struct kernel *k = *state;
	struct tux_flow *f;

	kernel_route(k, 0);
	kernel_route(k, 1);
	assert_int_equal(tux_paths_admit(&k->p, &local, &peer, &f, TUX_SEC(9)),
			 -TUX_REASON_NO_PRIVILEGE);
	assert_int_equal(k->p.flows.n, 0);
}

static void paths_tick__keeps_the_interface(void **state)
{
	struct tux_addr local = kernel_addr(80), peer = kernel_addr(1);
	struct kernel *k = *state;
	unsigned i;

	tux_flows_add(&k->p.flows, &local, &peer);
	for (i = 0; i < 100; i++) {
		tux_paths_plan(&k->p, TUX_SEC(i));
		tux_paths_tick(&k->p, TUX_SEC(i + 1));
	}
	assert_true(tux_paths_on(&k->p));
	assert_int_equal(denials, 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, init, kernel_fini)

int main(void)
{
	const struct CMUnitTest before[] = {
		cmocka_unit_test(prog_lost__no_link),
		cmocka_unit_test(prog_add__no_map),
		cmocka_unit_test(announce_look__no_map),
	};
	const struct CMUnitTest denied[] = {
		cmocka_unit_test(prog_denied__may_not_ask),
		cmocka_unit_test(prog_add__may_not_add),
		cmocka_unit_test(announce_look__may_not_look),
		T(paths_admit__says_why),
		T(paths_tick__keeps_the_interface),
	};
	int failed = cmocka_run_group_tests(before, NULL, NULL);

	return cmocka_run_group_tests(denied, kernel_deny, NULL) + failed;
}
