/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rings, with the kernel's side played here: what is submitted arrives once
 * and in order, a full ring has no room, and indices may wrap.
 */
#include "link/xsk.h"

#include <errno.h>
#include <pthread.h>

#include "../test.h"

enum { SIZE = 8, ROUNDS = 200000 };

struct fake {
	struct tux_xsk_ring r;
	uint32_t prod, cons, flags;
	uint64_t slot[SIZE];
};

static void init(struct fake *f, uint32_t at)
{
	*f = (struct fake){ .prod = at, .cons = at };
	f->r = (struct tux_xsk_ring){
		.prod = &f->prod, .cons = &f->cons, .flags = &f->flags,
		.slot = f->slot, .size = SIZE, .ours = at, .theirs = at,
	};
}

static void room__ends_when_the_ring_is_full(void **state)
{
	struct fake f;
	unsigned i;

	(void)state;
	init(&f, UINT32_MAX - 3);	/* they wrap on the way */
	for (i = 0; i < SIZE; i++) {
		assert_true(tux_xsk_room(&f.r, 1));
		*tux_xsk_addr(&f.r, f.r.ours++) = i;
	}
	assert_false(tux_xsk_room(&f.r, 1));
	assert_int_equal(f.prod, UINT32_MAX - 3);
	tux_xsk_submit(&f.r);
	assert_int_equal(f.prod, 4);
	assert_int_equal(tux_xsk_pending(&f.r), SIZE);
	f.cons += 3;
	assert_int_equal(tux_xsk_pending(&f.r), SIZE - 3);
	assert_true(tux_xsk_room(&f.r, 3));
	assert_false(tux_xsk_room(&f.r, 4));
}

static void peek__gives_what_is_there(void **state)
{
	struct fake f;

	(void)state;
	init(&f, UINT32_MAX);
	assert_int_equal(tux_xsk_peek(&f.r, 4), 0);
	f.prod += 6;
	assert_int_equal(tux_xsk_peek(&f.r, 4), 4);
	tux_xsk_release(&f.r, 4);
	assert_int_equal(f.cons, 3);
	assert_int_equal(tux_xsk_peek(&f.r, 4), 2);
	tux_xsk_release(&f.r, 2);
	assert_int_equal(tux_xsk_peek(&f.r, 4), 0);
}

static void sleeps__is_the_kernels_flag(void **state)
{
	struct fake f;

	(void)state;
	init(&f, 0);
	assert_false(tux_xsk_sleeps(&f.r));
	f.flags = XDP_RING_NEED_WAKEUP;
	assert_true(tux_xsk_sleeps(&f.r));
}

/* The other side, as a thread: a producer for a consumer. */
static void *kernel(void *arg)
{
	struct fake *f = arg;
	uint32_t p = f->prod;
	uint64_t i;

	for (i = 0; i < ROUNDS; i++) {
		while (p - __atomic_load_n(&f->cons, __ATOMIC_ACQUIRE) == SIZE)
			;
		f->slot[p++ % SIZE] = i;
		__atomic_store_n(&f->prod, p, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void two_threads__agree(void **state)
{
	static struct fake f;
	uint64_t next = 0;
	pthread_t t;

	(void)state;
	init(&f, 0);
	assert_int_equal(pthread_create(&t, NULL, kernel, &f), 0);
	while (next < ROUNDS) {
		uint32_t i, n = tux_xsk_peek(&f.r, 5);

		for (i = 0; i < n; i++)
			assert_int_equal(*tux_xsk_addr(&f.r, f.r.ours + i),
					 next++);
		tux_xsk_release(&f.r, n);
	}
	pthread_join(t, NULL);
}

static void open__leaves_nothing_behind_when_it_fails(void **state)
{
	struct tux_xsk x;

	(void)state;
	/* No interface has this number; or there is no privilege. */
	assert_true(tux_xsk_open(&x, 0x7ffffff0, 0, 64, XDP_COPY) < 0);
	assert_int_equal(x.fd, -1);
	assert_null(x.umem.mem);
	assert_null(x.rx.map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room__ends_when_the_ring_is_full),
		cmocka_unit_test(peek__gives_what_is_there),
		cmocka_unit_test(sleeps__is_the_kernels_flag),
		cmocka_unit_test(two_threads__agree),
		cmocka_unit_test(open__leaves_nothing_behind_when_it_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
