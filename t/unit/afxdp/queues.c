/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which queues a loop has.  What goes through them needs an interface, and is tested
 * live.
 */
#include "afxdp/queues.h"

#include "../test.h"

static struct tux_nic *nic_with(uint32_t queues, uint32_t send)
{
	struct tux_nic *n = calloc(1, sizeof(*n));
	uint32_t i;

	assert_non_null(n);
	tux_shares_init(&n->shares);
	n->n = queues;
	n->tx_n = send;
	for (i = 0; i < TUX_NIC_QUEUES; i++)
		n->xsk[i].fd = 1000 + (int)i;
	return n;
}

/* The numbers of the queues that @q has, a bit each. */
static uint64_t queues_of(const struct tux_queues *q)
{
	uint64_t bits = 0;
	uint32_t i;

	for (i = 0; i < q->n; i++)
		bits |= UINT64_C(1) << (q->loop + i * q->shares);
	return bits;
}

static uint64_t first(uint32_t n)
{
	return n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* Each queue is that of one of the loops which share, and each of those has one. */
static void check_division(struct tux_nic *n, struct tux_queues *q,
			   uint32_t shares)
{
	uint64_t all = 0;
	unsigned i;

	tux_shares_assign(&n->shares, shares);
	for (i = 0; i < TUX_LINK_LOOPS; i++) {
		assert_int_equal(tux_queues_look(&q[i]), i < shares);
		assert_int_equal(q[i].n > 0, i < shares);
		assert_int_equal(all & queues_of(&q[i]), 0);
		all |= queues_of(&q[i]);
		assert_false(tux_queues_look(&q[i]));
	}
	assert_int_equal(all, first(n->n));
	tux_shares_revoke(&n->shares);
	for (i = 0; i < TUX_LINK_LOOPS; i++) {
		assert_false(tux_shares_revoked(&n->shares) && i < shares);
		assert_int_equal(tux_queues_look(&q[i]), i < shares);
		assert_int_equal(q[i].n, 0);
	}
	assert_true(tux_shares_revoked(&n->shares));
}

static void look__divides_all_queues(void **state)
{
	struct tux_queues q[TUX_LINK_LOOPS];
	uint32_t queues, shares;
	unsigned i;

	(void)state;
	for (queues = 1; queues <= TUX_NIC_QUEUES; queues++) {
		struct tux_nic *n = nic_with(queues, queues);

		for (i = 0; i < TUX_LINK_LOOPS; i++)
			tux_queues_init(&q[i], n, i, -1, 0);
		for (shares = 1; shares <= queues && shares <= TUX_LINK_LOOPS;
		     shares++)
			check_division(n, q, shares);
		free(n);
	}
}

static void fds__are_those_of_its_queues(void **state)
{
	struct tux_nic *n = nic_with(7, 7);
	struct tux_queues q;
	int fd[TUX_LINK_FDS];

	(void)state;
	tux_queues_init(&q, n, 1, -1, 0);
	assert_int_equal(tux_queues_fds(&q, fd), 0);
	tux_shares_assign(&n->shares, 3);
	assert_true(tux_queues_look(&q));
	assert_int_equal(tux_queues_fds(&q, fd), 2);
	assert_int_equal(fd[0], 1001);
	assert_int_equal(fd[1], 1004);
	free(n);
}

/* A flow leaves by the queue that it is heard from, if the loop has it and it can
 * send. */
static void near__is_a_queue_of_the_loop(void **state)
{
	struct tux_nic *n = nic_with(8, 6);
	struct tux_queues q;

	(void)state;
	tux_queues_init(&q, n, 1, -1, 0);
	tux_shares_assign(&n->shares, 3);
	assert_true(tux_queues_look(&q));
	assert_int_equal(tux_queues_near(&q, 4), 4);
	assert_int_equal(tux_queues_near(&q, 1), 1);
	assert_int_equal(tux_queues_near(&q, 0), 1);
	assert_int_equal(tux_queues_near(&q, 7), 1);
	assert_int_equal(tux_queues_near(&q, UINT16_MAX), 1);
	free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(look__divides_all_queues),
		cmocka_unit_test(fds__are_those_of_its_queues),
		cmocka_unit_test(near__is_a_queue_of_the_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
