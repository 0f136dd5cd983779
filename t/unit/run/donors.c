/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/donors.h"

#include <sched.h>
#include <unistd.h>

#include "../test.h"

enum { MAX = 50 };

struct thing {
	struct tux_donor d;		/* the first */
	int zero;
};

static _Atomic unsigned more_n, parked_n;

static void more(void *arg)
{
	(void)arg;
	atomic_fetch_add(&more_n, 1);
}

static void parks(struct tux_donor *d)
{
	(void)d;
	atomic_fetch_add(&parked_n, 1);
}

static const struct tux_donors_opts opts = {
	.size = sizeof(struct thing), .max = MAX, .parks = parks, .more = more,
};

static void get__until_there_are_no_more(void **state)
{
	struct tux_donors p;
	unsigned n = 0, went_without = 0;

	(void)state;
	atomic_store(&parked_n, 0);
	assert_int_equal(tux_donors_init(&p, &opts), 0);
	assert_true(atomic_load(&parked_n) > 1);
	assert_true(tux_donors_ready(&p));
	while (tux_donors_left(&p)) {
		struct thing *t = (struct thing *)tux_donors_get(&p);

		if (!t) {
			went_without++;
			usleep(100);
			continue;
		}
		assert_int_equal(t->zero++, 0);
		n++;
	}
	assert_int_equal(n, MAX);
	assert_int_equal(atomic_load(&parked_n), MAX);
	assert_null(tux_donors_get(&p));
	assert_false(tux_donors_ready(&p));
	if (went_without)
		assert_true(atomic_load(&more_n) > 0);
	tux_donors_fini(&p);
}

/* Who went without is told. */
static void get__none_now_and_more_later(void **state)
{
	struct tux_donors p;
	unsigned before;

	(void)state;
	assert_int_equal(tux_donors_init(&p, &opts), 0);
	do {
		before = atomic_load(&more_n);
	} while (tux_donors_get(&p));
	if (tux_donors_left(&p))
		while (atomic_load(&more_n) == before)
			sched_yield();
	tux_donors_fini(&p);
}

static void init__no_room(void **state)
{
	struct tux_donors_opts o = opts;
	struct tux_donors p;

	(void)state;
	o.stack_len = (size_t)1 << 60;
	assert_true(tux_donors_init(&p, &o) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(get__until_there_are_no_more),
		cmocka_unit_test(get__none_now_and_more_later),
		cmocka_unit_test(init__no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
