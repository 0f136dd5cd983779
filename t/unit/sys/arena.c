/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/arena.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

enum { SIZE = 20000, HEAD = 512, BLOCKS = 200, THREADS = 4, ROUNDS = 2000 };

static bool head_is_zero(const uint8_t *p)
{
	size_t i;

	for (i = 0; i < HEAD; i++)
		if (p[i])
			return false;
	return true;
}

static void get__gives_distinct_blocks(void **state)
{
	struct tux_arena a;
	uint8_t *p[BLOCKS];
	int i;

	(void)state;
	tux_arena_init(&a, SIZE, HEAD);
	for (i = 0; i < BLOCKS; i++) {
		p[i] = tux_arena_get(&a);
		assert_non_null(p[i]);
		assert_true(head_is_zero(p[i]));
		memset(p[i], i, SIZE);
	}
	for (i = 0; i < BLOCKS; i++) {
		assert_int_equal(p[i][0], i);
		assert_int_equal(p[i][SIZE - 1], i);
	}
	tux_arena_fini(&a);
}

static void put__is_recycled_with_a_clean_head(void **state)
{
	struct tux_arena a;
	uint8_t *p, *q;

	(void)state;
	tux_arena_init(&a, SIZE, HEAD);
	p = tux_arena_get(&a);
	memset(p, 3, SIZE);
	tux_arena_put(&a, p);
	q = tux_arena_get(&a);
	assert_ptr_equal(p, q);
	assert_true(head_is_zero(q));
	tux_arena_fini(&a);
}

static void put__gives_pages_of_many_back(void **state)
{
	struct tux_arena a;
	uint8_t *p[BLOCKS];
	int i, kept = 0;

	(void)state;
	tux_arena_init(&a, SIZE, HEAD);
	for (i = 0; i < BLOCKS; i++) {
		p[i] = tux_arena_get(&a);
		memset(p[i], 1, SIZE);
	}
	for (i = 0; i < BLOCKS; i++)
		tux_arena_put(&a, p[i]);
	for (i = 0; i < BLOCKS; i++)
		kept += p[i][SIZE - 1] == 1;
	assert_in_range(kept, 1, BLOCKS / 2);
	tux_arena_fini(&a);
}

/* Large ones come one by one, and leave nothing behind. */
static void get__of_large_blocks(void **state)
{
	enum { LARGE = 40 << 20 };
	struct tux_arena a;
	uint8_t *p;

	(void)state;
	tux_arena_init(&a, LARGE, 0);
	p = tux_arena_get(&a);
	assert_non_null(p);
	assert_int_equal(a.free_n, 0);
	p[LARGE - 1] = p[LARGE / 2] = 1;
	tux_arena_put(&a, p);
	assert_ptr_equal(tux_arena_get(&a), p);
	assert_int_equal(p[LARGE - 1], 0);
	assert_int_equal(p[LARGE / 2], 0);
	tux_arena_fini(&a);
}

/* A child has nothing there, neither of blocks in use nor of free ones. */
static void get__not_for_a_child(void **state)
{
	struct tux_arena a;
	uint8_t *p, *q;
	unsigned char in;
	int status;
	pid_t pid;

	(void)state;
	tux_arena_init(&a, SIZE, HEAD);
	p = tux_arena_get(&a);
	q = tux_arena_get(&a);
	tux_arena_put(&a, q);
	pid = fork();
	if (!pid)
		_exit(mincore(p, 4096, &in) == 0 || errno != ENOMEM ||
		      mincore(q, 4096, &in) == 0 || errno != ENOMEM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	tux_arena_fini(&a);
}

static void *take_and_give(void *arg)
{
	struct tux_arena *a = arg;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		uint8_t *p = tux_arena_get(a), *q = tux_arena_get(a);

		if (!p || !q || p == q || !head_is_zero(p) || !head_is_zero(q))
			return a;
		memset(p, 1, HEAD);
		memset(q, 2, HEAD);
		if (p[HEAD - 1] != 1 || q[0] != 2)
			return a;
		tux_arena_put(a, p);
		tux_arena_put(a, q);
	}
	return NULL;
}

static void get__by_many_threads(void **state)
{
	struct tux_arena a;
	pthread_t t[THREADS];
	void *failed;
	int i;

	(void)state;
	tux_arena_init(&a, SIZE, HEAD);
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, take_and_give, &a);
	for (i = 0; i < THREADS; i++) {
		pthread_join(t[i], &failed);
		assert_null(failed);
	}
	tux_arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(get__gives_distinct_blocks),
		cmocka_unit_test(put__is_recycled_with_a_clean_head),
		cmocka_unit_test(put__gives_pages_of_many_back),
		cmocka_unit_test(get__not_for_a_child),
		cmocka_unit_test(get__of_large_blocks),
		cmocka_unit_test(get__by_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
