/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/loop_pass.h"

#include "udp/udp.h"

#include "../test.h"

enum { LOOPS = 2 };

static struct tux_ends ends;
static struct tux_loop *loop[LOOPS];
static struct tux_duplex dx;
static unsigned gone, passed;

static void on_gone(void *user)
{
	(void)user;
	gone++;
}

static void on_passed(void *arg, struct tux_loop *to)
{
	(void)arg;
	assert_ptr_equal(to, loop[1]);
	passed++;
}

static int setup(void **state)
{
	struct tux_loop_opts o = {
		.link = &tux_udp, .link_opts = { .ifname = "lo" },
		.ends = &ends, .ack_delay = TUX_MSEC(1), .gone = on_gone,
		.passed = on_passed,
	};

	(void)state;
	assert_int_equal(tux_ends_init(&ends), 0);
	for (o.number = 0; o.number < LOOPS; o.number++)
		assert_int_equal(tux_loop_new(&loop[o.number], &o), 0);
	return 0;
}

static int teardown(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < LOOPS; i++)
		tux_loop_free(loop[i]);
	tux_ends_fini(&ends);
	return 0;
}

/* The end closes, and the thread that closes it still rings at the loop that the end has
 * left. */
static void take_ring__passes_it_on(void **state)
{
	struct tux_end *e = tux_ends_get(&ends);

	(void)state;
	e->dx = &dx;
	e->fd = -1;
	e->lent = -1;
	e->why = TUX_REASON_CLOSED;
	atomic_store(&loop[1]->end_n, 1);
	atomic_store(&dx.rung, TUX_DOORBELL_CLOSE | TUX_DOORBELL_QUEUED);
	atomic_store(&e->loop, loop[1]);
	tux_loop_ring(loop[0], e->index);
	assert_true(tux_loop_quiet(loop[1]));
	tux_loop_turn(loop[0]);
	assert_int_equal(passed, 1);
	assert_int_equal(gone, 0);
	assert_false(tux_loop_quiet(loop[1]));
	tux_loop_turn(loop[1]);
	assert_int_equal(gone, 1);
	/* An end that was given back has no loop. */
	atomic_store(&e->loop, NULL);
	tux_loop_ring(loop[0], e->index);
	tux_loop_turn(loop[0]);
	assert_int_equal(passed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(take_ring__passes_it_on, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
