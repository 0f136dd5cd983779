/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way back to TCP, again to Tux, and plain TCP for good.
 */
#include <errno.h>

#include "duo.h"

#include "conn/back.h"
#include "conn/conn_ack.h"
#include "conn/conn_life.h"

/* ---- back ---- */

static void back__from_the_last_byte_that_was_taken(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_int_equal(duo_write(&d->a, "abcdef", 6), 6);
	duo_carry(&d->a);
	duo_pass(d, TUX_MSEC(1));
	duo_carry(&d->b);
	assert_int_equal(duo_write(&d->a, "ghi", 3), 3);
	duo_drop(&d->a);
	tux_sendbuf_lost(&c->tx.buf, 6, 1, false);
	d->a.tcp_n = 0;
	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	assert_int_equal(c->tx.path, TUX_PATH_FRAMES);
	assert_true(c->out.off == 6);
	assert_int_equal(c->tx.buf.lost.n, 0);
	assert_true(tux_sentq_empty(&c->sentq));
	assert_int_equal(c->pair->in_flight, 0);
	assert_true(tux_list_empty(&c->use));
	assert_int_equal(c->stats.backs, 1);
	assert_int_equal(c->reason, TUX_REASON_STALLED);
	assert_int_equal(d->a.tcp_n, 1);
	assert_true(d->log_a.last[TUX_TRACE_BACK].n[0] == 6);
	/* Once is enough. */
	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	assert_int_equal(c->stats.backs, 1);
}

static void back__not_before_the_switch(void **state)
{
	struct duo *d = *state;

	tux_back(d->a.c, d->now);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.c->tx.path, TUX_PATH_PLAIN);
	assert_int_equal(d->a.c->stats.backs, 0);
}

/* What was said beside bytes is said once more; questions are not. */
static void back__what_is_said_again(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_conn_do(c, TUX_DO_PREPARED | TUX_DO_PING);
	duo_drop(&d->a);
	tux_conn_do(c, TUX_DO_RAW);
	duo_drop(&d->a);
	tux_conn_do(c, TUX_DO_PING);
	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	assert_int_equal(c->todo, TUX_DO_PREPARED | TUX_DO_RAW);
}

/* A message was lost, and again; the peer heard that nobody waits for the first
 * number any more, but its answer is late.  Then that number proves nothing. */
static void back__what_was_lost_stays_lost(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_sent *s;

	duo_send(&d->a, 100, 0, 7);
	duo_drop(&d->a);
	s = tux_sentq_oldest(&c->sentq);
	tux_conn_again(c, s);
	tux_sentq_lose(&c->sentq, s);
	duo_drop(&d->a);		/* the message, once more */
	tux_conn_do(c, TUX_DO_PING);
	duo_carry(&d->a);		/* this tells the floor */
	duo_drop(&d->b);
	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	tux_conn_do(d->b.c, TUX_DO_PING);
	duo_carry(&d->b);
	assert_int_equal(c->stats.spurious, 0);
	assert_int_equal(c->stats.msgs_tx, 0);
	assert_true(c->msg->tx[0].first < c->msg->tx[0].next);
}

/* One second, and twice as long each time; a path that held for a minute has
 * earned a quick second chance. */
static void back__how_long(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	static const uint64_t gap[] = { 1, 2, 4, 8, 16, 32, 60, 60 };
	unsigned i;

	d->now += TUX_SEC(100);
	for (i = 0; i < N_OF(gap); i++) {
		c->tx.back_at = d->now;
		d->now += TUX_SEC(60);
		tux_back(c, d->now);
		duo_derive(&d->a, 0);
		assert_true(c->tx.probe_at == d->now + TUX_SEC(gap[i]));
		c->out.sw = true;
		duo_tcp_out(&d->a, SIZE_MAX);
		assert_int_equal(c->tx.path, TUX_PATH_TUX);
	}
	d->now += TUX_SEC(60) + 1;
	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	assert_true(c->tx.probe_at == d->now + TUX_SEC(1));
	assert_int_equal(c->tx.away.len, TUX_SEC(1));
}

/* TCP has the FIN already, and now all that was before it. */
static void back__fin_is_in_tcp(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	assert_int_equal(duo_tcp_out(&d->a, SIZE_MAX), TUX_FRAME_HDR);
	assert_int_equal(d->a.shut_n, 0);
	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	assert_true(tux_sendbuf_done(&c->tx.buf));
	assert_true(c->tx.buf.got == c->tx.buf.end + 1);
	assert_int_equal(d->a.shut_n, 1);
}

static void early__others_have_found_out(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_back_early(c, d->now);
	duo_derive(&d->a, 0);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	c->pair->down = true;
	tux_conn_do(c, TUX_DO_PING);
	duo_drop(&d->a);
	tux_back_early(c, d->now);	/* it has asked itself */
	duo_derive(&d->a, 0);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	tux_conn_lose_all(c, d->now);
	tux_back_early(c, d->now);
	duo_derive(&d->a, 0);
	assert_int_equal(c->tx.path, TUX_PATH_FRAMES);
}

static void stall__is_told_from_outside(void **state)
{
	struct duo *d = *state;

	d->a.c->peer_plain = false;	/* or it would be plain by now */
	tux_conn_stall(d->a.c, d->now);
	assert_int_equal(d->a.c->tx.path, TUX_PATH_FRAMES);
	assert_true(tux_core_deadline(d->a.core) == d->now + TUX_SEC(1));
}

/* a has written "abc", and b has it. */
static void abc(struct duo *d)
{
	char buf[8];

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_settle_all(d);
	assert_int_equal(duo_read(&d->b, buf, 8), 3);
}

/* What b sends would be lost, and b's own timers would take a second. */
static void stall__the_peer_follows(void **state)
{
	struct duo *d = *state;
	char buf[8];

	abc(d);
	tux_conn_stall(d->a.c, d->now);
	assert_true(d->a.c->out.back);
	duo_settle(d);
	assert_false(d->a.c->out.back);
	assert_int_equal(d->a.c->stats.frame_tx, 1);
	assert_int_equal(d->b.c->stats.frame_rx, 1);
	assert_int_equal(d->b.c->stats.backs, 1);
	assert_int_equal(d->b.c->tx.path, TUX_PATH_PLAIN);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
	assert_int_equal(duo_read(&d->b, buf, 8), -EAGAIN);
}

/* The link says so once more, while TCP has not taken the frame PLAIN.  The next
 * turn is not to end as soon as it has begun. */
static void stall__again_before_it_is_plain(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	abc(d);
	tux_conn_stall(c, d->now);
	assert_true(c->out.plain);
	tux_conn_stall(c, d->now);
	assert_true(c->tx.announce_at == d->now + TUX_SEC(1));
	duo_settle(d);
	assert_int_equal(c->tx.path, TUX_PATH_PLAIN);
	assert_false(c->tx.leaving);
	assert_true(c->tx.stalled);
}

/* All that both may know of the direction is its beginning. */
static void stall__no_byte_to_tell_with(void **state)
{
	struct duo *d = *state;

	tux_conn_stall(d->a.c, d->now);
	assert_false(d->a.c->out.back);
	duo_settle(d);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
}

/* Behind the end, TCP takes nothing more. */
static void stall__not_behind_the_end(void **state)
{
	struct duo *d = *state;

	abc(d);
	d->a.c->tx.done = true;
	tux_conn_stall(d->a.c, d->now);
	assert_false(d->a.c->out.back);
}

/* The peer's timers have said so: packets may still arrive there. */
static void follow__not_behind_new_bytes(void **state)
{
	struct duo *d = *state;

	abc(d);
	duo_frame_in(&d->b, TUX_FRAME_DATA, 2, "cd", 2);
	assert_int_equal(d->b.c->rx.path, TUX_PATH_FRAMES);
	assert_int_equal(d->b.c->tx.path, TUX_PATH_TUX);
	assert_int_equal(d->b.c->stats.backs, 0);
}

/* ---- again ---- */

static void unstall__tries_soon(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_conn_stall(c, d->now);
	c->tx.away.len = TUX_SEC(60);
	c->tx.probe_at = d->now + TUX_SEC(60);
	tux_conn_unstall(c, d->now);
	assert_true(c->tx.probe_at == d->now + TUX_MSEC(20));
	assert_int_equal(c->tx.away.len, 0);
	c->tx.probe_at = d->now + 5;
	tux_conn_unstall(c, d->now);
	assert_true(c->tx.probe_at == d->now + 5);
}

static void unstall__not_what_has_an_end(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_conn_unstall(c, d->now);
	assert_true(c->tx.probe_at == TUX_NEVER);
	tux_conn_stall(c, d->now);
	c->tx.probe_at = TUX_NEVER;
	c->tx.done = true;
	tux_conn_unstall(c, d->now);
	assert_true(c->tx.probe_at == TUX_NEVER);
	c->tx.done = false;
	c->tx.raw_wanted = true;
	tux_conn_unstall(c, d->now);
	assert_true(c->tx.probe_at == TUX_NEVER);
	c->tx.raw_wanted = false;
	tux_conn_unstall(c, d->now);
	assert_true(c->tx.probe_at != TUX_NEVER);
}

static void unstall__before_the_switch(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_conn_unstall(c, d->now);
	assert_true(c->tx.announce_at == TUX_NEVER);
	assert_true(c->tx.away_at == TUX_NEVER);
	c->tx.announce_at = c->tx.away_at = d->now + TUX_SEC(9);
	tux_conn_unstall(c, d->now);
	assert_true(c->tx.announce_at == d->now + TUX_MSEC(20));
	assert_true(c->tx.away_at == d->now + TUX_MSEC(20));
}

static void alive__switches_again(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	char buf[8];

	assert_int_equal(duo_write(&d->a, "ab", 2), 2);
	duo_drop(&d->a);
	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	d->a.tcp_n = 0;
	tux_back_alive(c);
	duo_derive(&d->a, 0);
	assert_true(c->out.sw);
	assert_true(c->tx.probe_at == TUX_NEVER);
	assert_int_equal(d->a.tcp_n, 1);
	tux_back_alive(c);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.tcp_n, 1);
	d->now += 7;
	duo_settle(d);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	assert_int_equal(c->reason, TUX_REASON_NONE);
	assert_true(c->tx.back_at == d->now);
	assert_true(c->tx.buf.next == 2);
	assert_false(tux_list_empty(&c->use));
	assert_true(d->log_a.last[TUX_TRACE_AGAIN].n[0] == 2);
	assert_int_equal(duo_write(&d->a, "cd", 2), 2);
	duo_carry(&d->a);
	assert_int_equal(duo_read(&d->b, buf, 8), 4);
	assert_memory_equal(buf, "abcd", 4);
	assert_int_equal(c->stats.frame_tx, 2);
}

static void alive__too_late(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	c->tx.raw_wanted = true;
	tux_back_alive(c);
	c->tx.raw_wanted = false;
	c->tx.done = true;
	tux_back_alive(c);
	c->tx.done = false;
	c->life = TUX_LIFE_DEAD;
	tux_back_alive(c);
	c->life = TUX_LIFE_PROVED;
	assert_false(c->out.sw);
	tux_back_alive(c);
	assert_true(c->out.sw);
}

/* Behind FIN there is no byte to go on from. */
static void again__behind_fin(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	c->tx.buf.end = 0;
	c->tx.buf.got = 1;
	tux_back_to_tux(c, d->now);
	duo_derive(&d->a, 0);
	assert_true(c->tx.buf.next == 1);
	assert_int_equal(duo_drop(&d->a), 0);
}

/* SWITCH had begun when the application asked for plain TCP. */
static void again__not_when_raw_is_wanted(void **state)
{
	struct duo *d = *state;

	tux_back(d->a.c, d->now);
	duo_derive(&d->a, 0);
	d->a.c->tx.raw_wanted = true;
	tux_back_to_tux(d->a.c, d->now);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.c->tx.path, TUX_PATH_FRAMES);
}

/* ---- plain TCP for good ---- */

static void raw__asks_and_goes_back(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	tux_back_raw(c, TUX_REASON_PINNED);
	duo_derive(&d->a, 0);
	assert_int_equal(c->todo & TUX_DO_RAW, TUX_DO_RAW);
	assert_int_equal(c->tx.path, TUX_PATH_FRAMES);
	assert_int_equal(c->reason, TUX_REASON_PINNED);
	tux_back_raw_heard(c, UINT64_MAX);
	duo_derive(&d->a, 0);
	assert_false(c->out.raw);	/* bytes come first */
	assert_true(duo_tcp_out(&d->a, SIZE_MAX) > 0);
	assert_true(c->out.raw);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_RAW);
	assert_int_equal(atomic_load(&d->a.dx->tx.hold), 1);
	assert_true(c->tx.probe_at == TUX_NEVER);
	/* Asked once. */
	duo_drop(&d->a);
	tux_back_raw(c, TUX_REASON_PEER_RAW);
	duo_derive(&d->a, 0);
	assert_int_equal(c->todo & TUX_DO_RAW, 0);
	assert_int_equal(c->reason, TUX_REASON_PINNED);
}

/* The application has shut down: FIN is the end, and no byte can come behind. */
static void raw__not_behind_a_shutdown(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_back(c, d->now);
	c->tx.raw_wanted = c->tx.raw_heard = true;
	atomic_store(&d->a.dx->tx.shut, 1);
	tux_back_step(c, d->now);
	assert_false(c->out.raw);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_SWITCHED);
	atomic_store(&d->a.dx->tx.shut, 0);
	tux_back_step(c, d->now);
	assert_true(c->out.raw);
}

static void raw__each_that_is_waited_for(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	unsigned i;

	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	for (i = 0; i < 7; i++) {
		c->tx.raw_wanted = i != 0;
		c->tx.raw_heard = i != 6;
		c->out.busy = i == 1;
		c->out.marker = i == 2;
		d->a.dx->txp.head = i == 3;
		atomic_store(&d->a.dx->tx.shut, i == 4);
		if (i == 5)
			assert_true(tux_latch_try(&d->a.dx->tx.latch));
		duo_derive(&d->a, TUX_DIRTY_PATH);
		if (i == 5)
			tux_latch_drop(&d->a.dx->tx.latch);
		assert_false(c->out.raw);
		assert_int_equal(c->retry_at != TUX_NEVER, i >= 5);
	}
	c->tx.raw_heard = true;
	d->a.tcp_n = 0;
	duo_derive(&d->a, TUX_DIRTY_RAW);
	assert_true(c->out.raw);
	assert_int_equal(d->a.tcp_n, 1);
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	assert_int_equal(d->a.tcp_n, 1);
}

static void raw__switch_is_taken_back(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_back(c, d->now);
	duo_derive(&d->a, 0);
	c->out.sw = true;
	tux_back_raw(c, TUX_REASON_PINNED);
	duo_derive(&d->a, 0);
	assert_false(c->out.sw);
}

/* Not switched yet: it never will be, in either direction. */
static void raw__while_plain(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->tx.announce_at = d->now;
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ANNOUNCED);
	tux_back_raw(c, TUX_REASON_PINNED);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.dx->tx.pinned, 1);
	assert_int_equal(d->a.dx->rx.pinned, 1);
	assert_true(c->retry_at == TUX_NEVER);
	/* A generation that the peer may be armed for is taken back. */
	assert_int_equal(d->a.dx->tx.state, TUX_TX_PLAIN);
	assert_true(c->tx.gen_at == TUX_NOWHERE ||
		    c->tx.announce_at != TUX_NEVER);
	assert_int_equal(c->todo & TUX_DO_RAW, TUX_DO_RAW);
	duo_settle(d);
	assert_int_equal(d->b.c->reason, TUX_REASON_PEER_RAW);
	assert_int_equal(d->b.dx->tx.pinned, 1);
}

/* The peer may be armed. */
static void announce(struct duo *d)
{
	d->a.c->tx.announce_at = d->now;
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	assert_int_equal(d->a.dx->tx.doubt, 1);
}

/* Plain TCP is wanted.  Nothing can be announced, so no timer may be due for it: it would
 * be due again at once. */
static void want_raw_silently(struct duo *d)
{
	struct tux_conn *c = d->a.c;

	tux_back_raw(c, TUX_REASON_PINNED);
	duo_derive(&d->a, 0);
	d->now += TUX_SEC(1);
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	tux_back_pin(c, d->now);
	assert_true(c->tx.announce_at == TUX_NEVER);
}

/* The first packet of the peer makes it due. */
static void raw__while_the_peer_is_not_heard(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	announce(d);
	c->trusted = false;
	want_raw_silently(d);
	tux_back_heard(c, d->now);
	assert_true(c->tx.announce_at == d->now);
}

static void raw__while_plain_and_shut(void **state)
{
	struct duo *d = *state;

	announce(d);
	atomic_store(&d->a.dx->tx.shut, 1);
	want_raw_silently(d);
}

/* A thread is inside: asked again. */
static void raw__latches_are_held(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_duplex *dx = d->a.dx;

	assert_true(tux_latch_try(&dx->tx.latch));
	tux_back_raw(c, TUX_REASON_PINNED);
	duo_derive(&d->a, 0);
	assert_int_equal(dx->tx.pinned, 0);
	assert_int_equal(dx->rx.pinned, 1);
	assert_true(c->retry_at == d->now + TUX_USEC(100));
	dx->rx.pinned = 0;
	assert_true(tux_latch_try(&dx->rx.latch));
	tux_latch_drop(&dx->tx.latch);
	duo_pass(d, TUX_USEC(100));
	assert_int_equal(dx->tx.pinned, 1);
	assert_int_equal(dx->rx.pinned, 0);
	assert_true(c->retry_at == d->now + TUX_USEC(100));
	tux_latch_drop(&dx->rx.latch);
	duo_pass(d, TUX_USEC(100));
	assert_int_equal(dx->rx.pinned, 1);
	assert_true(c->retry_at == TUX_NEVER);
}

/* There is nobody to ask yet; there will be. */
static void raw__before_the_path_is_proved(void **state)
{
	struct duo *d = *state;

	tux_back_raw(d->a.c, TUX_REASON_PINNED);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.c->todo & TUX_DO_RAW, 0);
	assert_int_equal(d->a.dx->tx.pinned, 1);
	duo_settle(d);
	assert_int_equal(d->b.c->reason, TUX_REASON_PEER_RAW);
	assert_int_equal(d->a.c->reason, TUX_REASON_PINNED);
}

/* ---- what was not read goes again ---- */

/* Three bytes have come to b, which has read one and asks for plain TCP. */
static void ask_with_unread(struct duo *d)
{
	char c;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_settle_all(d);
	assert_int_equal(duo_read(&d->b, &c, 1), 1);
	tux_back_raw(d->b.c, TUX_REASON_SHARED);
	duo_derive(&d->b, 0);
}

static void unread__goes_again_over_tcp(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	char buf[8];

	ask_with_unread(d);
	assert_int_equal(duo_read(&d->b, buf, 8), -EAGAIN);
	assert_false(tux_duplex_readable(d->b.dx));
	assert_true(duo_out(&d->b, &k) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_RAW));
	assert_true(duo_rec(&k, TUX_REC_RAW)->off == 1);
	duo_in(&d->a, &k);
	assert_true(d->a.c->out.raw);
	assert_true(d->a.c->out.off == 1);
	/* The application waits until all of it is in TCP. */
	assert_int_equal(duo_write(&d->a, "d", 1), -EAGAIN);
	assert_false(tux_conn_tcp_cut(d->a.c));
	assert_int_equal(duo_tcp_out(&d->a, TUX_FRAME_HDR + TUX_RAW_LEN + 1),
			 TUX_FRAME_HDR + TUX_RAW_LEN + 1);
	assert_true(tux_conn_tcp_cut(d->a.c));
	assert_int_equal(duo_write(&d->a, "d", 1), -EAGAIN);
	duo_settle(d);
	assert_false(tux_conn_tcp_cut(d->a.c));
	assert_int_equal(duo_write(&d->a, "d", 1), 1);
	assert_true(tux_duplex_rx_is_raw(d->b.dx));
	assert_true(tux_duplex_tx_is_raw(d->a.dx));
	assert_int_equal(duo_read(&d->b, buf, 8), 3);
	assert_memory_equal(buf, "bcd", 3);
}

/* The record is lost, or was not sent: the frame says it, too. */
static void unread__by_the_frame_alone(void **state)
{
	struct duo *d = *state;
	char buf[8];

	ask_with_unread(d);
	duo_drop(&d->b);
	assert_int_equal(duo_tcp_out(&d->b, SIZE_MAX), 0);
	duo_pass(d, TUX_MSEC(20));
	duo_drop(&d->b);
	assert_true(duo_tcp_out(&d->b, SIZE_MAX) > 0);
	duo_serve(&d->a, SIZE_MAX);
	assert_int_equal(d->a.c->tx.path, TUX_PATH_RAW);
	duo_settle(d);
	assert_true(tux_duplex_rx_is_raw(d->b.dx));
	assert_int_equal(duo_read(&d->b, buf, 8), 2);
	assert_memory_equal(buf, "bc", 2);
}

/* What comes from Tux meanwhile goes again, too. */
static void unread__with_what_was_in_flight(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	char buf[8];

	ask_with_unread(d);
	assert_int_equal(duo_write(&d->a, "de", 2), 2);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(duo_write(&d->a, "f", 1), 1);
	duo_carry(&d->b);
	duo_tcp_out(&d->a, SIZE_MAX);
	duo_in(&d->b, &k);
	duo_settle(d);
	assert_true(tux_duplex_rx_is_raw(d->b.dx));
	assert_int_equal(duo_read(&d->b, buf, 8), 5);
	assert_memory_equal(buf, "bcdef", 5);
}

/* The peer does not hear of it for a second: then they are read here, and what comes
 * again later is left out. */
static void unread__and_a_silent_path(void **state)
{
	struct duo *d = *state;
	char buf[8];

	ask_with_unread(d);
	duo_drop(&d->b);
	duo_pass(d, TUX_SEC(1) - 1);
	assert_int_equal(duo_read(&d->b, buf, 8), -EAGAIN);
	duo_pass(d, 1);
	assert_int_equal(duo_read(&d->b, buf, 1), 1);
	assert_memory_equal(buf, "b", 1);
	duo_settle(d);
	assert_true(d->a.c->tx.path == TUX_PATH_RAW);
	assert_int_equal(duo_write(&d->a, "d", 1), 1);
	assert_int_equal(duo_read(&d->b, buf, 8), 1);
	assert_memory_equal(buf, "c", 1);
	assert_int_equal(duo_read(&d->b, buf, 8), 1);
	assert_memory_equal(buf, "d", 1);
}

/* A peer of before: nothing stops, and what was not read is read here. */
static void unread__and_an_older_peer(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	char buf[8];

	d->b.c->peer_again = false;
	ask_with_unread(d);
	assert_false(d->b.dx->rx.stopped);
	assert_true(duo_out(&d->b, &k) > 0);
	assert_int_equal(duo_rec(&k, TUX_REC_RAW)->len, 0);
	duo_in(&d->a, &k);
	duo_settle(d);
	assert_int_equal(duo_read(&d->b, buf, 8), 2);
	assert_true(tux_duplex_rx_is_raw(d->b.dx));
}

/* The marker comes when plain TCP is wanted already: reads stop then. */
static void unread__behind_a_late_marker(void **state)
{
	struct duo *d = *state;
	char buf[8];

	d->a.c->tx.announce_at = d->now;
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	duo_carry(&d->a);
	duo_carry(&d->b);
	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_SWITCHED);
	tux_back_raw(d->b.c, TUX_REASON_SHARED);
	duo_derive(&d->b, 0);
	assert_int_equal(duo_read(&d->b, buf, 8), -EAGAIN);
	duo_pass(d, TUX_USEC(100));
	duo_settle_all(d);
	assert_true(tux_duplex_rx_is_raw(d->b.dx));
	assert_int_equal(duo_read(&d->b, buf, 8), 3);
	assert_memory_equal(buf, "abc", 3);
}

/* While the loop leaves out what comes again, packets bring nothing: TCP has that,
 * too. */
static void unread__and_late_packets(void **state)
{
	struct duo *d = *state;

	d->b.c->in.again = 1;
	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	assert_true(duo_carry(&d->a) > 0);
	assert_int_equal(tux_duplex_readable(d->b.dx), 0);
	d->b.c->in.again = 0;
}

/* A DATA frame waits for room in the ring, so reads must not stop; when it has room,
 * they do, whatever was the cause. */
static void unread__when_the_frame_fits(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	c->in.off = 0;
	c->in.left = DUO_RING + 1;
	tux_back_raw(c, TUX_REASON_SHARED);
	duo_derive(&d->b, 0);
	assert_false(d->b.dx->rx.stopped);
	assert_int_equal(c->todo & TUX_DO_RAW, TUX_DO_RAW);
	duo_drop(&d->b);
	c->in.left = 0;
	duo_derive(&d->b, TUX_DIRTY_READY);
	assert_true(d->b.dx->rx.stopped);
	assert_int_equal(c->todo & TUX_DO_RAW, TUX_DO_RAW);
}

/* The peer needed the memory of the bytes: they are read from the ring. */
static void unread__that_the_peer_lost(void **state)
{
	struct duo *d = *state;
	char buf[8];

	ask_with_unread(d);
	d->a.dx->txp.origin = 2;
	duo_settle(d);
	assert_false(tux_duplex_rx_is_raw(d->b.dx));
	assert_int_equal(duo_read(&d->b, buf, 8), 2);
	assert_memory_equal(buf, "bc", 2);
	assert_true(tux_duplex_rx_is_raw(d->b.dx));
}

/* The peer has ended its direction, which does not become plain any more. */
static void unread__and_the_end(void **state)
{
	struct duo *d = *state;
	char buf[8];

	ask_with_unread(d);
	assert_true(tux_duplex_shut(d->a.dx));
	duo_ring(&d->a, 0);
	duo_settle_all(d);
	assert_int_equal(duo_read(&d->b, buf, 8), 2);
	assert_int_equal(duo_read(&d->b, buf, 8), 0);
}

/* A thread is in a call: until it has left, nothing says what was read, and this
 * end writes no RAW frame either. */
static void unread__the_latch_is_held(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	assert_true(tux_latch_try(&d->b.dx->rx.latch));
	ask_with_unread(d);
	c->tx.raw_heard = true;
	duo_derive(&d->b, TUX_DIRTY_PATH);
	assert_false(d->b.dx->rx.stopped);
	assert_int_equal(c->todo & TUX_DO_RAW, 0);
	assert_false(c->out.raw);
	assert_true(c->retry_at == d->now + TUX_USEC(100));
	tux_latch_drop(&d->b.dx->rx.latch);
	duo_pass(d, TUX_USEC(100));
	assert_true(d->b.dx->rx.stopped);
	assert_int_equal(c->todo & TUX_DO_RAW, TUX_DO_RAW);
	assert_true(c->out.raw);
}

/* Both ends ask: a direction that is plain already does not begin again, and what was
 * not read of it is read from the ring. */
static void unread__of_both(void **state)
{
	struct duo *d = *state;
	char buf[8];

	assert_int_equal(duo_write(&d->b, "xyz", 3), 3);
	duo_settle_all(d);
	ask_with_unread(d);
	duo_carry(&d->b);
	tux_back_raw(d->a.c, TUX_REASON_SHARED);
	duo_derive(&d->a, 0);
	duo_settle_all(d);
	assert_true(tux_duplex_rx_is_raw(d->b.dx));
	assert_int_equal(duo_read(&d->a, buf, 8), 3);
	assert_memory_equal(buf, "xyz", 3);
	assert_true(tux_duplex_rx_is_raw(d->a.dx));
	assert_int_equal(duo_read(&d->b, buf, 8), 2);
	assert_memory_equal(buf, "bc", 2);
}

/* The connection breaks meanwhile: what was there is read. */
static void unread__and_death(void **state)
{
	struct duo *d = *state;
	char buf[8];

	ask_with_unread(d);
	tux_conn_die(d->b.c, ECONNRESET, TUX_REASON_NONE);
	duo_derive(&d->b, 0);
	assert_int_equal(duo_read(&d->b, buf, 8), 2);
	assert_int_equal(duo_read(&d->b, buf, 8), -ECONNRESET);
}

/* What it died of is the better answer. */
static void raw__of_a_dead_one(void **state)
{
	struct duo *d = *state;

	tux_conn_die(d->a.c, EPROTO, TUX_REASON_PROTOCOL);
	duo_derive(&d->a, 0);
	tux_back_raw(d->a.c, TUX_REASON_PINNED);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.c->reason, TUX_REASON_PROTOCOL);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(back__from_the_last_byte_that_was_taken,
		  duo_setup_switched),
		T(back__not_before_the_switch, duo_setup_proved),
		T(back__what_is_said_again, duo_setup_switched),
		T(back__how_long, duo_setup_switched),
		T(back__fin_is_in_tcp, duo_setup_switched),
		T(back__what_was_lost_stays_lost, duo_setup_messages),
		T(early__others_have_found_out, duo_setup_switched),
		T(stall__is_told_from_outside, duo_setup_switched),
		T(stall__the_peer_follows, duo_setup_switched),
		T(stall__again_before_it_is_plain, duo_setup_switched),
		T(stall__no_byte_to_tell_with, duo_setup_switched),
		T(stall__not_behind_the_end, duo_setup_switched),
		T(follow__not_behind_new_bytes, duo_setup_switched),
		T(unstall__tries_soon, duo_setup_switched),
		T(unstall__not_what_has_an_end, duo_setup_switched),
		T(unstall__before_the_switch, duo_setup_proved),
		T(alive__switches_again, duo_setup_switched),
		T(alive__too_late, duo_setup_switched),
		T(again__behind_fin, duo_setup_switched),
		T(again__not_when_raw_is_wanted, duo_setup_switched),
		T(raw__asks_and_goes_back, duo_setup_switched),
		T(raw__not_behind_a_shutdown, duo_setup_switched),
		T(raw__each_that_is_waited_for, duo_setup_switched),
		T(raw__switch_is_taken_back, duo_setup_switched),
		T(raw__while_plain, duo_setup_proved),
		T(raw__while_the_peer_is_not_heard, duo_setup_proved),
		T(raw__while_plain_and_shut, duo_setup_proved),
		T(raw__latches_are_held, duo_setup_proved),
		T(raw__before_the_path_is_proved, duo_setup),
		T(raw__of_a_dead_one, duo_setup_switched),
		T(unread__goes_again_over_tcp, duo_setup_switched),
		T(unread__by_the_frame_alone, duo_setup_switched),
		T(unread__with_what_was_in_flight, duo_setup_switched),
		T(unread__that_the_peer_lost, duo_setup_switched),
		T(unread__and_a_silent_path, duo_setup_switched),
		T(unread__and_an_older_peer, duo_setup_switched),
		T(unread__behind_a_late_marker, duo_setup_proved),
		T(unread__and_late_packets, duo_setup_switched),
		T(unread__when_the_frame_fits, duo_setup_switched),
		T(unread__and_the_end, duo_setup_switched),
		T(unread__the_latch_is_held, duo_setup_switched),
		T(unread__of_both, duo_setup_switched),
		T(unread__and_death, duo_setup_switched),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
