/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "duo.h"

#include "conn/back.h"
#include "conn/conn_in.h"
#include "conn/leave.h"

/* Three bytes have come to b, which has read one, and then another process uses the
 * connection. */
static void share_with_unread(struct duo *d)
{
	char c;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_settle_all(d);
	assert_int_equal(duo_read(&d->b, &c, 1), 1);
	duo_ring(&d->b, TUX_DOORBELL_SHARE);
}

static void assert_plain(struct duo *d)
{
	assert_int_equal(d->a.c->tx.path, TUX_PATH_PLAIN);
	assert_int_equal(d->a.c->rx.path, TUX_PATH_PLAIN);
	assert_int_equal(d->b.c->tx.path, TUX_PATH_PLAIN);
	assert_int_equal(d->b.c->rx.path, TUX_PATH_PLAIN);
	assert_int_equal(tux_duplex_sleep(d->b.dx), 0);
}

static void share__unread_goes_again_over_tcp(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	char buf[8];

	share_with_unread(d);
	assert_true(tux_conn_is_shared(d->b.c));
	assert_int_equal(duo_read(&d->b, buf, 8), -EAGAIN);
	assert_true(duo_out(&d->b, &k) > 0);
	assert_true(duo_rec(&k, TUX_REC_LEAVE)->off == 1);
	assert_int_equal(duo_rec(&k, TUX_REC_LEAVE)->turn, 0);
	duo_in(&d->a, &k);
	assert_true(d->a.c->out.plain);
	assert_true(d->a.c->out.off == 1);
	/* The application waits until all of it is in TCP. */
	assert_int_equal(duo_write(&d->a, "d", 1), -EAGAIN);
	assert_int_equal(duo_tcp_out(&d->a, TUX_FRAME_HDR + TUX_LEAVE_LEN + 1),
			 TUX_FRAME_HDR + TUX_LEAVE_LEN + 1);
	assert_true(tux_conn_tcp_cut(d->a.c));
	duo_settle(d);
	assert_false(tux_conn_tcp_cut(d->a.c));
	assert_int_equal(duo_write(&d->a, "d", 1), 1);
	assert_plain(d);
	assert_int_equal(duo_read(&d->b, buf, 8), 3);
	assert_memory_equal(buf, "bcd", 3);
	assert_int_equal(d->b.c->reason, TUX_REASON_SHARED);
	assert_int_equal(d->a.c->reason, TUX_REASON_PEER_SHARED);
}

/* Packets do not arrive: the frame says it, too. */
static void share__by_the_frame_alone(void **state)
{
	struct duo *d = *state;
	char buf[8];

	share_with_unread(d);
	duo_drop(&d->b);
	/* It waits for the peer, which may have to tell what it has read. */
	assert_int_equal(duo_tcp_out(&d->b, SIZE_MAX), 0);
	duo_pass(d, TUX_MSEC(20));
	duo_drop(&d->b);
	assert_int_equal(duo_tcp_out(&d->b, SIZE_MAX),
			 TUX_FRAME_HDR + TUX_LEAVE_LEN);
	duo_serve(&d->a, SIZE_MAX);
	duo_settle(d);
	assert_plain(d);
	assert_int_equal(duo_read(&d->b, buf, 8), 2);
	assert_memory_equal(buf, "bc", 2);
}

/* The peer has not heard of it for a second: they are read here by then, and what
 * comes again is left out. */
static void share__and_a_late_answer(void **state)
{
	struct duo *d = *state;
	char buf[8];

	share_with_unread(d);
	duo_drop(&d->b);
	duo_pass(d, TUX_SEC(1));
	assert_int_equal(duo_read(&d->b, buf, 1), 1);
	assert_memory_equal(buf, "b", 1);
	duo_settle(d);
	assert_int_equal(duo_write(&d->a, "d", 1), 1);
	assert_int_equal(duo_read(&d->b, buf, 8), 1);
	assert_memory_equal(buf, "c", 1);
	assert_int_equal(duo_read(&d->b, buf, 8), 1);
	assert_memory_equal(buf, "d", 1);
	assert_plain(d);
}

/* The peer needed the memory of the bytes: they are read from the ring. */
static void share__what_the_peer_lost(void **state)
{
	struct duo *d = *state;
	char buf[8];

	share_with_unread(d);
	d->a.dx->txp.origin = 2;
	duo_settle(d);
	assert_int_equal(tux_duplex_sleep(d->b.dx), -EBUSY);
	assert_int_equal(duo_read(&d->b, buf, 8), 2);
	assert_memory_equal(buf, "bc", 2);
	assert_plain(d);
}

/* After a second, both directions may move again. */
static void alone__moves_again(void **state)
{
	struct duo *d = *state;

	share_with_unread(d);
	duo_settle(d);
	assert_plain(d);
	assert_true(d->a.c->tx.announce_at >= d->now + TUX_MSEC(900));
	duo_pass(d, TUX_SEC(2));
	duo_settle(d);
	/* It is pinned, so the peer's N is not answered, and there is none here. */
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ANNOUNCED);
	assert_int_equal(d->b.dx->tx.state, TUX_TX_PLAIN);
	assert_true(atomic_load(&d->b.dx->called));
	assert_true(tux_duplex_wake(d->b.dx, NULL, NULL));
	duo_ring(&d->b, TUX_DOORBELL_WOKE);
	assert_false(tux_conn_is_shared(d->b.c));
	duo_settle(d);
	assert_int_equal(d->b.c->tx.path, TUX_PATH_TUX);
	assert_int_equal(d->b.c->turn_why, TUX_REASON_NONE);
}

/* It is about an earlier turn, or comes when plain TCP is wanted for good. */
static void asked__too_late(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_leave_asked(c, 0, 1);
	assert_false(c->tx.asked);
	c->tx.raw_wanted = true;
	tux_leave_asked(c, 0, 0);
	assert_false(c->tx.asked);
	c->tx.raw_wanted = false;
	tux_leave_asked(c, 0, 0);
	assert_true(c->tx.asked);
}

static void asked__behind_the_end(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_true(tux_duplex_shut(d->a.dx));
	duo_ring(&d->a, 0);
	assert_true(c->tx.buf.end != UINT64_MAX);
	tux_leave_asked(c, 0, 0);
	duo_derive(&d->a, 0);
	assert_false(c->tx.asked);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
}

/* An N is announced: it is taken back, and the peer is told before the other process
 * may write. */
static void share__an_n_is_announced(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	c->tx.announce_at = d->now;
	duo_derive(&d->b, TUX_DIRTY_ANNOUNCE);
	assert_int_equal(d->b.dx->tx.state, TUX_TX_ANNOUNCED);
	duo_ring(&d->b, TUX_DOORBELL_SHARE);
	assert_int_equal(d->b.dx->tx.state, TUX_TX_PLAIN);
	assert_int_equal(tux_duplex_sleep(d->b.dx), -EAGAIN);
	duo_settle_all(d);
	assert_plain(d);
	duo_pass(d, TUX_SEC(10));
	assert_int_equal(d->b.dx->tx.state, TUX_TX_PLAIN);
}

/* A thread of the application is in a call: it is asked later. */
static void share__the_latch_is_held(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	assert_true(tux_latch_try(&d->b.dx->rx.latch));
	share_with_unread(d);
	assert_int_equal(c->todo & TUX_DO_LEAVE, 0);
	assert_true(c->retry_at == d->now + TUX_USEC(100));
	tux_latch_drop(&d->b.dx->rx.latch);
	duo_pass(d, TUX_USEC(100));
	assert_int_equal(c->todo & TUX_DO_LEAVE, TUX_DO_LEAVE);
}

static void share__for_good(void **state)
{
	struct duo *d = *state;

	d->b.c->peer_leaves = false;
	duo_ring(&d->b, TUX_DOORBELL_SHARE);
	assert_false(tux_conn_is_shared(d->b.c));
	assert_true(d->b.c->tx.raw_wanted);
	assert_int_equal(d->b.c->tx.raw_why, TUX_REASON_SHARED);
}

static void share__with_messages(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->b, TUX_DOORBELL_SHARE);
	assert_true(d->b.c->tx.raw_wanted);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(share__unread_goes_again_over_tcp, duo_setup_switched),
		T(share__by_the_frame_alone, duo_setup_switched),
		T(share__and_a_late_answer, duo_setup_switched),
		T(share__what_the_peer_lost, duo_setup_switched),
		T(alone__moves_again, duo_setup_switched),
		T(asked__too_late, duo_setup_switched),
		T(asked__behind_the_end, duo_setup_switched),
		T(share__an_n_is_announced, duo_setup_proved),
		T(share__the_latch_is_held, duo_setup_switched),
		T(share__for_good, duo_setup_switched),
		T(share__with_messages, duo_setup_messages),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
