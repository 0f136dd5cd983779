/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/shares.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "../test.h"

static bool woken(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	uint64_t n;

	return poll(&p, 1, 0) == 1 && read(fd, &n, sizeof(n)) == sizeof(n);
}

static void get__needs_an_assignment(void **state)
{
	struct tux_shares s;

	(void)state;
	tux_shares_init(&s);
	assert_int_equal(tux_shares_get(&s, 0), 0);
	assert_true(tux_shares_revoked(&s));
	tux_shares_assign(&s, 2);
	assert_int_equal(tux_shares_n(&s), 2);
	assert_int_equal(tux_shares_get(&s, 1), 2);
	assert_false(tux_shares_revoked(&s));
}

/* A loop beyond those that share learns so, and is not waited for. */
static void get__gives_nothing_to_more_loops(void **state)
{
	struct tux_shares s;

	(void)state;
	tux_shares_init(&s);
	tux_shares_assign(&s, 2);
	assert_int_equal(tux_shares_get(&s, 2), 2);
	assert_int_equal(tux_shares_get(&s, TUX_LINK_LOOPS - 1), 2);
	assert_true(tux_shares_revoked(&s));
}

static void revoke__waits_for_each(void **state)
{
	struct tux_shares s;

	(void)state;
	tux_shares_init(&s);
	tux_shares_assign(&s, 3);
	tux_shares_get(&s, 0);
	tux_shares_get(&s, 2);
	tux_shares_revoke(&s);
	assert_int_equal(tux_shares_n(&s), 0);
	assert_false(tux_shares_revoked(&s));
	assert_int_equal(tux_shares_get(&s, 1), 0);
	tux_shares_put(&s, 2);
	assert_false(tux_shares_revoked(&s));
	tux_shares_put(&s, 0);
	assert_true(tux_shares_revoked(&s));
}

static void wake__reaches_those_that_sleep(void **state)
{
	struct tux_shares s;
	int first = eventfd(0, EFD_NONBLOCK), other = eventfd(0, EFD_NONBLOCK);

	(void)state;
	tux_shares_init(&s);
	atomic_store(&s.at[0].fd, first);
	atomic_store(&s.at[1].fd, other);
	tux_shares_assign(&s, 2);
	assert_true(woken(first));
	assert_true(woken(other));
	tux_shares_get(&s, 1);
	assert_false(woken(first));
	tux_shares_revoke(&s);
	assert_true(woken(first));
	assert_true(woken(other));
	tux_shares_put(&s, 1);
	assert_true(woken(first));
	assert_false(woken(other));
	/* The loop holds none any more. */
	tux_shares_put(&s, 1);
	assert_false(woken(first));
	tux_shares_wake(&s, 1);
	assert_true(woken(first));
	assert_false(woken(other));
	close(first);
	close(other);
}

/* ---- all loops that there may be, each in a thread ---- */

enum { QUEUES = 24, ROUNDS = 300 };

static struct tux_shares shares;
static _Atomic unsigned users[QUEUES];	/* threads that use the queue */
static _Atomic unsigned wrong, used;
static _Atomic bool ends;

/* A turn of loop @i, which knows of @n loops that share. */
static void use_queues(unsigned i, uint32_t n)
{
	uint32_t q;

	if (i >= n)
		return;
	for (q = i; q < QUEUES; q += n)
		wrong += atomic_fetch_add(&users[q], 1) != 0;
	used++;
	for (q = i; q < QUEUES; q += n)
		atomic_fetch_sub(&users[q], 1);
}

static void *run_loop(void *arg)
{
	unsigned i = *(const unsigned *)arg;
	uint32_t n = 0;

	while (!atomic_load(&ends)) {
		if (tux_shares_n(&shares) != n) {
			tux_shares_put(&shares, i);
			n = tux_shares_get(&shares, i);
		}
		use_queues(i, n);
		sched_yield();
	}
	tux_shares_put(&shares, i);
	return NULL;
}

static void assign_anew(uint32_t n)
{
	uint32_t q;

	tux_shares_revoke(&shares);
	while (!tux_shares_revoked(&shares))
		sched_yield();
	for (q = 0; q < QUEUES; q++)
		wrong += atomic_load(&users[q]) != 0;
	tux_shares_assign(&shares, n);
	sched_yield();
}

static void assign__one_loop_at_a_time_has_a_queue(void **state)
{
	pthread_t thread[TUX_LINK_LOOPS];
	unsigned number[TUX_LINK_LOOPS];
	uint64_t seed = 36;
	unsigned i;

	(void)state;
	tux_shares_init(&shares);
	for (i = 0; i < TUX_LINK_LOOPS; i++) {
		number[i] = i;
		assert_int_equal(pthread_create(&thread[i], NULL, run_loop,
						&number[i]), 0);
	}
	for (i = 0; i < ROUNDS; i++)
		assign_anew(1 + test_below(&seed, TUX_LINK_LOOPS));
	atomic_store(&ends, true);
	for (i = 0; i < TUX_LINK_LOOPS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(wrong, 0);
	assert_true(used > 0);
	assert_true(tux_shares_revoked(&shares));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(get__needs_an_assignment),
		cmocka_unit_test(get__gives_nothing_to_more_loops),
		cmocka_unit_test(revoke__waits_for_each),
		cmocka_unit_test(wake__reaches_those_that_sleep),
		cmocka_unit_test(assign__one_loop_at_a_time_has_a_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
