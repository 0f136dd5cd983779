/* SPDX-License-Identifier: BSD-2-Clause */
/* Also built with switch_ucontext.c. */
#include "run/switch.h"

#include <fenv.h>
#include <stdio.h>

#include "../test.h"

enum { STACK = 256 * 1024, ROUNDS = 1000 };

struct place {
	struct tux_switch here, there;
	unsigned n;
	const char *local;		/* of the other's frame */
	int rounding;			/* as the other found it */
	char *stack;
};

static void open_place(struct place *p, void (*fn)(void *))
{
	*p = (struct place){ .stack = malloc(STACK) };
	assert_non_null(p->stack);
	tux_switch_here(&p->here);
	tux_switch_make(&p->there, p->stack, p->stack + STACK, 0, fn, p);
}

static void close_place(struct place *p)
{
	tux_switch_fini(&p->there);
	free(p->stack);
}

static void count(void *arg)
{
	struct place *p = arg;
	char local = 0;

	p->local = &local;
	for (;;) {
		p->n++;
		tux_switch(&p->there, &p->here);
	}
}

static void switch__there_and_back(void **state)
{
	struct place p;
	unsigned i;

	(void)state;
	open_place(&p, count);
	for (i = 1; i <= ROUNDS; i++) {
		tux_switch(&p.here, &p.there);
		assert_int_equal(p.n, i);
	}
	assert_true(p.local > p.stack && p.local < p.stack + STACK);
	close_place(&p);
}

static void round_up(void *arg)
{
	struct place *p = arg;

	p->rounding = fegetround();
	fesetround(FE_UPWARD);
	tux_switch(&p->there, &p->here);
	p->rounding = fegetround();
	tux_switch(&p->there, &p->here);
}

static void switch__keeps_the_rounding_mode_of_each(void **state)
{
	struct place p;

	(void)state;
	open_place(&p, round_up);
	tux_switch(&p.here, &p.there);
	assert_int_equal(p.rounding, FE_TONEAREST);
	assert_int_equal(fegetround(), FE_TONEAREST);
	fesetround(FE_DOWNWARD);
	tux_switch(&p.here, &p.there);
	assert_int_equal(p.rounding, FE_UPWARD);
	assert_int_equal(fegetround(), FE_DOWNWARD);
	fesetround(FE_TONEAREST);
	close_place(&p);
}

/* A stack that is not aligned as the ABI says faults at the first vector. */
static void print(void *arg)
{
	struct place *p = arg;
	char s[32];

	snprintf(s, sizeof(s), "%.3f", 3.14159);
	p->n = !strcmp(s, "3.142");
	tux_switch(&p->there, &p->here);
}

static void switch__to_an_aligned_stack(void **state)
{
	struct place p;

	(void)state;
	open_place(&p, print);
	tux_switch(&p.here, &p.there);
	assert_int_equal(p.n, 1);
	close_place(&p);
}

static void pass(void *arg)
{
	struct place *p = arg;

	for (;;) {
		p->n++;
		tux_switch(&p->there, &p[1].there);
	}
}

static void pass_back(void *arg)
{
	struct place *p = arg;

	for (;;) {
		p->n++;
		tux_switch(&p->there, &p[-1].here);
	}
}

static void switch__from_one_to_the_next(void **state)
{
	struct place p[2];
	unsigned i;

	(void)state;
	open_place(&p[0], pass);
	open_place(&p[1], pass_back);
	for (i = 0; i < ROUNDS; i++)
		tux_switch(&p[0].here, &p[0].there);
	assert_int_equal(p[0].n, ROUNDS);
	assert_int_equal(p[1].n, ROUNDS);
	close_place(&p[0]);
	close_place(&p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switch__there_and_back),
		cmocka_unit_test(switch__keeps_the_rounding_mode_of_each),
		cmocka_unit_test(switch__to_an_aligned_stack),
		cmocka_unit_test(switch__from_one_to_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
