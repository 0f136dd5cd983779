/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What follows from the state of a connection: each derived thing, once.
 */
#include "conn/settle.h"
#include "conn/state.h"

#include <errno.h>

#include "duo.h"

#include "conn/back.h"
#include "conn/conn_life.h"

/* What the loop is asked for, for @e's connection alone, since it was last
 * asked; 0: nothing. */
static uint32_t asked(struct duo_end *e)
{
	uint32_t effects = 0, none;
	struct tux_conn *c = tux_core_effects(e->core, &effects);

	if (!c)
		return 0;
	assert_ptr_equal(c, e->c);
	assert_null(tux_core_effects(e->core, &none));
	return effects;
}

/* As duo_derive(), but the effects are returned. */
static uint32_t derive(struct duo_end *e, uint32_t dirty)
{
	tux_conn_mark(e->c, dirty);
	tux_conn_settle(e->c, *e->now);
	assert_int_equal(e->c->dirty, 0);
	return asked(e);
}

/* ---- when ---- */

/* What a change of the paths or of the reason asks the loop for. */
#define NEWS	(TUX_EFFECT_PATH | TUX_EFFECT_READY)

/* Nothing is marked: nothing is looked at, not even what would be news. */
static void settle__nothing_without_a_mark(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->tx.stalled = c->tx.shut_due = c->closed = c->aborted = true;
	atomic_store(&d->a.dx->tx.state, TUX_TX_ACKED);
	assert_int_equal(derive(&d->a, 0), 0);
	assert_int_equal(c->reason, TUX_REASON_NONE);
	assert_int_equal(c->life, TUX_LIFE_PROVED);
	assert_true(c->tx.shut_due);
	atomic_store(&d->a.dx->tx.state, TUX_TX_PLAIN);
	c->closed = c->aborted = false;
	assert_int_equal(derive(&d->a, TUX_DIRTY_PATH),
			 NEWS | TUX_EFFECT_SHUT);
	assert_int_equal(c->reason, TUX_REASON_STALLED);
}

/* A mark without news asks the loop for nothing, whatever was marked. */
static void settle__nothing_without_news(void **state)
{
	struct duo *d = *state;
	uint32_t bit;

	for (bit = TUX_DIRTY_LIFE; bit <= TUX_DIRTY_FLIGHT; bit <<= 1) {
		if (bit == TUX_DIRTY_RAW || bit == TUX_DIRTY_READY)
			continue;	/* these are news themselves */
		assert_int_equal(derive(&d->a, bit), 0);
	}
}

/* The deadline is looked at when the loop asks for it, though nothing was
 * marked: an acknowledgment that is due, say. */
static void settle__the_timer_is_looked_at(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_core_deadline(d->a.core);
	assert_true(tux_list_empty(&c->untimed));
	c->ackq.due_at = d->now + 5;
	assert_int_equal(derive(&d->a, 0), 0);
	assert_false(tux_list_empty(&c->untimed));
	assert_true(tux_core_deadline(d->a.core) == d->now + 5);
}

/* The latch of the send direction may be held: what was marked waits. */
static void settle__not_between_tcp_out_and_tcp_sent(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint8_t buf[16];

	c->tx.announce_at = d->now;
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	tux_duplex_prepared(d->a.dx, c->tx.gen);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ACKED);
	tux_conn_mark(c, TUX_DIRTY_READY);
	assert_int_equal(tux_conn_tcp_out(c, buf, 16, d->now), 16);
	assert_false(tux_latch_try(&d->a.dx->tx.latch));
	assert_true(c->dirty & TUX_DIRTY_READY);
	assert_int_equal(asked(&d->a), 0);
	tux_conn_tcp_sent(c, 16, d->now);
	assert_int_equal(c->dirty, 0);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	assert_true(asked(&d->a) & TUX_EFFECT_READY);
}

/* Several changes of one input are one effect of each kind. */
static void effects__of_one_input_are_one(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_drop(&d->a);
	tux_conn_mark(c, TUX_DIRTY_READY);
	tux_back(c, d->now);		/* the reason, and bytes for TCP */
	tux_back_raw(c, TUX_REASON_PINNED);
	tux_conn_mark(c, TUX_DIRTY_READY);
	assert_int_equal(derive(&d->a, 0), NEWS | TUX_EFFECT_TCP);
	assert_int_equal(asked(&d->a), 0);
}

/* Those that the loop has not asked for yet are joined by the next input's. */
static void effects__wait_for_the_loop(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_conn_mark(c, TUX_DIRTY_READY);
	tux_conn_settle(c, d->now);
	tux_conn_rung(c, TUX_DOORBELL_ABORT, d->now);
	assert_int_equal(asked(&d->a), TUX_EFFECT_READY | TUX_EFFECT_TCP |
			 TUX_EFFECT_GONE | TUX_EFFECT_RESET);
}

/* ---- the reason ---- */

static enum tux_reason reason(struct duo_end *e)
{
	duo_derive(e, TUX_DIRTY_PATH);
	return tux_conn_reason(e->c);
}

/* From the weakest to the strongest. */
static void reason__precedence(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_int_equal(reason(&d->a), TUX_REASON_NONE);
	c->tx.stalled = true;
	assert_int_equal(reason(&d->a), TUX_REASON_STALLED);
	c->tx.raw_why = TUX_REASON_PEER_RAW;
	assert_int_equal(reason(&d->a), TUX_REASON_STALLED);
	c->tx.raw_wanted = c->tx.raw_told = true;
	assert_int_equal(reason(&d->a), TUX_REASON_PEER_RAW);
	c->life = TUX_LIFE_OPENING;
	c->open.why = TUX_REASON_PEER_SILENT;
	assert_int_equal(reason(&d->a), TUX_REASON_PEER_SILENT);
	c->life = TUX_LIFE_PROVED;
	/* What it has died of is the last word. */
	tux_conn_die(c, ECONNRESET, TUX_REASON_PROTOCOL);
	assert_int_equal(reason(&d->a), TUX_REASON_PROTOCOL);
	c->tx.stalled = c->tx.raw_wanted = false;
	assert_int_equal(reason(&d->a), TUX_REASON_PROTOCOL);
}

/* Either direction on the way back is enough, and ends when both are on Tux. */
static void reason__of_either_direction(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->rx.path = TUX_PATH_FRAMES;
	assert_int_equal(reason(&d->a), TUX_REASON_STALLED);
	c->tx.path = TUX_PATH_FRAMES;
	assert_int_equal(reason(&d->a), TUX_REASON_STALLED);
	c->rx.path = TUX_PATH_TUX;
	assert_int_equal(reason(&d->a), TUX_REASON_STALLED);
	c->tx.path = TUX_PATH_TUX;
	assert_int_equal(reason(&d->a), TUX_REASON_NONE);
}

/* While the frame that ends a turn is under way, frames carry the direction,
 * though it left because TCP is faster.  So no path has stopped working, unless
 * one had before. */
static void reason__of_a_return(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->tx.path = TUX_PATH_FRAMES;
	c->out.plain = true;
	assert_int_equal(reason(&d->a), TUX_REASON_BULK);
	c->tx.stalled = true;
	assert_int_equal(reason(&d->a), TUX_REASON_STALLED);
	c->tx.stalled = false;
	c->rx.path = TUX_PATH_FRAMES;
	assert_int_equal(reason(&d->a), TUX_REASON_STALLED);
}

/* A death without a reason of its own leaves the one there was. */
static void reason__of_a_death_without(void **state)
{
	struct duo *d = *state;

	tux_conn_stall(d->a.c, d->now);
	tux_conn_die(d->a.c, ECONNRESET, TUX_REASON_NONE);
	assert_int_equal(reason(&d->a), TUX_REASON_STALLED);
	/* Nor does a late wish for plain TCP change it. */
	duo_ring(&d->a, TUX_DOORBELL_RAW);
	assert_int_equal(reason(&d->a), TUX_REASON_STALLED);
}

/* "It was closed first" is the reason of a connection that never moved, and
 * that has no better one, not even one of the same input. */
static void reason__of_a_closed_one(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.c->reason, TUX_REASON_CLOSED);
	duo_ring(&d->b, TUX_DOORBELL_RAW | TUX_DOORBELL_CLOSE);
	assert_int_equal(d->b.gone_n, 1);
	assert_int_equal(d->b.c->reason, TUX_REASON_PINNED);
}

static void reason__of_a_closed_one_on_tux(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.c->reason, TUX_REASON_NONE);
}

/* The reason, each direction that moves, and the return of both are news, once. */
static void reason__told_when_it_changes(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_int_equal(derive(&d->a, TUX_DIRTY_PATH), 0);
	c->tx.raw_wanted = c->tx.raw_told = true;
	c->tx.raw_why = TUX_REASON_PINNED;
	assert_int_equal(derive(&d->a, TUX_DIRTY_PATH), NEWS);
	assert_int_equal(tux_conn_reason(c), TUX_REASON_PINNED);
	assert_int_equal(derive(&d->a, TUX_DIRTY_PATH), 0);
	c->rx.path = TUX_PATH_TUX;
	c->rx.tcp_wanted = true;
	assert_int_equal(derive(&d->a, TUX_DIRTY_PATH), NEWS);
	c->tx.path = TUX_PATH_TUX;
	c->tx.buf.end = UINT64_MAX;
	assert_int_equal(derive(&d->a, TUX_DIRTY_PATH), NEWS);
	assert_int_equal(derive(&d->a, TUX_DIRTY_PATH), 0);
	c->rx.path = TUX_PATH_PLAIN;
	c->rx.tcp_wanted = false;
	assert_int_equal(derive(&d->a, TUX_DIRTY_PATH), NEWS);
	c->tx.path = TUX_PATH_PLAIN;
	assert_int_equal(derive(&d->a, TUX_DIRTY_PATH), NEWS);
	assert_int_equal(derive(&d->a, TUX_DIRTY_PATH), 0);
}

/* ---- the descriptor ---- */

static void own__asked_once(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_conn_set_life(c, TUX_LIFE_OWNING);
	assert_int_equal(derive(&d->a, 0), TUX_EFFECT_OWN);
	assert_int_equal(derive(&d->a, TUX_DIRTY_LIFE | TUX_DIRTY_ARM), 0);
	c->life = TUX_LIFE_OPENING;
}

/* ---- what TCP is to carry ---- */

/* The loop reads TCP as long as bytes are wanted, and hears when that ends. */
static void tcp__what_is_wanted(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	struct tux_frame f = { .type = TUX_FRAME_DATA, .len = DUO_RING + 1 };
	static const uint8_t bytes[DUO_RING];
	uint8_t hdr[TUX_FRAME_HDR];
	char got;

	tux_frame_encode(&f, hdr);
	tux_conn_tcp_in(c, hdr, sizeof(hdr), d->now);
	assert_false(asked(&d->b) & TUX_EFFECT_TCP);
	tux_conn_tcp_in(c, bytes, sizeof(bytes), d->now);
	assert_int_equal(tux_conn_tcp_want(c), 0);
	assert_true(asked(&d->b) & TUX_EFFECT_TCP);
	assert_int_equal(derive(&d->b, TUX_DIRTY_TCP), 0);
	d->b.tcp_n = 0;
	assert_int_equal(duo_read(&d->b, &got, 1), 1);
	assert_int_equal(tux_conn_tcp_want(c), 1);
	assert_int_equal(d->b.tcp_n, 1);
}

/* A frame is due: the loop is told after what the application did, but not
 * after TCP has taken bytes, since the loop writes on by itself. */
static void tcp__what_is_due(void **state)
{
	struct duo *d = *state;

	tux_conn_stall(d->a.c, d->now);
	asked(&d->a);
	d->a.c->out.fin = true;
	assert_int_equal(derive(&d->a, TUX_DIRTY_TCP), 0);
	assert_int_equal(derive(&d->a, TUX_DIRTY_APP_TX), TUX_EFFECT_TCP);
}

/* ---- death ---- */

/* Nothing is told before the settle step; then everything, and once. */
static void death__told_once(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_duplex *dx = d->a.dx;

	tux_conn_die(c, EPROTO, TUX_REASON_PROTOCOL);
	assert_int_equal(atomic_load(&dx->err), 0);
	assert_int_equal(asked(&d->a), 0);
	assert_int_equal(derive(&d->a, 0), NEWS | TUX_EFFECT_TCP);
	assert_int_equal(atomic_load(&dx->err), EPROTO);
	assert_int_equal(atomic_load(&dx->rx.eof), 1);
	assert_int_equal(atomic_load(&dx->tx.shut), 1);
	/* The application has taken the error. */
	atomic_store(&dx->err, 0);
	assert_int_equal(derive(&d->a, TUX_DIRTY_LIFE), 0);
	assert_int_equal(atomic_load(&dx->err), 0);
}

/* The application knows what TCP has said; what the loop got from it then is another. */
static void death__not_over_an_error(void **state)
{
	struct duo *d = *state;

	atomic_store(&d->a.dx->err, ECONNRESET);
	tux_conn_die(d->a.c, EPIPE, TUX_REASON_CLOSED);
	derive(&d->a, 0);
	assert_int_equal(atomic_load(&d->a.dx->err), ECONNRESET);
	atomic_store(&d->b.dx->failed, 1);
	tux_conn_die(d->b.c, EPIPE, TUX_REASON_CLOSED);
	derive(&d->b, 0);
	assert_int_equal(atomic_load(&d->b.dx->err), 0);
	assert_int_equal(atomic_load(&d->b.dx->rx.eof), 1);
}

/* Its packets are in flight no more: the next connection of the pair sends. */
static void death__others_of_the_pair_send(void **state)
{
	struct duo *d = *state;
	struct duo_end a, b;
	struct duo_pkt k;

	duo_other(d, &a, &b);
	duo_fill(&d->a, a.c);
	tux_conn_tcp_end(d->a.c, EIO, d->now);
	assert_int_equal(d->a.c->life, TUX_LIFE_DEAD);
	assert_true(tux_list_empty(&a.c->waitq));
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(k.h.id, b.c->id);
	duo_other_close(&a, &b);
}

/* ---- gone ---- */

/* @e's connection is closed, and nothing is left to wait for. */
static void end_all(struct duo_end *e)
{
	e->c->closed = e->c->tx.done = e->c->rx.tcp_ended = true;
	duo_derive(e, TUX_DIRTY_LIFE);
}

static void gone__once(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->linger_at = 5;
	end_all(&d->a);
	assert_int_equal(d->a.gone_n, 1);
	assert_false(d->a.gone_reset);
	assert_int_equal(c->life, TUX_LIFE_GONE);
	assert_true(c->linger_at == TUX_NEVER);
	end_all(&d->a);
	assert_int_equal(d->a.gone_n, 1);
	/* Nor does it listen to its doorbell any more. */
	duo_ring(&d->a, TUX_DOORBELL_ABORT);
	assert_int_equal(d->a.gone_n, 1);
	assert_false(c->aborted);
}

/* An end of file behind half of a marker would make it data. */
static void gone__within_a_marker(void **state)
{
	struct duo *d = *state;

	d->a.dx->tx.marker_left = 3;
	end_all(&d->a);
	assert_int_equal(d->a.gone_n, 1);
	assert_true(d->a.gone_reset);
}

/* ---- the end of file ---- */

static void eof__when_all_is_here(void **state)
{
	struct duo *d = *state;

	d->a.c->rx.buf.end = 0;
	assert_int_equal(derive(&d->a, TUX_DIRTY_APP_RX), 0);
	assert_int_equal(atomic_load(&d->a.dx->rx.eof), 0);
	derive(&d->a, TUX_DIRTY_CAME);
	assert_int_equal(atomic_load(&d->a.dx->rx.eof), 1);
	atomic_store(&d->a.dx->rx.eof, 0);
	derive(&d->a, TUX_DIRTY_TCP);
	assert_int_equal(atomic_load(&d->a.dx->rx.eof), 1);
}

/* ---- the end ---- */

/* A shuts: its FIN goes both ways, and TCP's own comes when all is taken. */
static void end__of_one_direction(void **state)
{
	struct duo *d = *state;
	char buf[4];

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	assert_int_equal(d->a.shut_n, 0);
	duo_settle_all(d);
	assert_int_equal(d->a.shut_n, 1);
	assert_true(d->a.c->tx.done);
	assert_int_equal(duo_read(&d->b, buf, 4), 3);
	assert_int_equal(duo_read(&d->b, buf, 4), 0);
	assert_int_equal(d->b.shut_n, 0);
	/* The other direction goes on. */
	assert_int_equal(duo_write(&d->b, "xyz", 3), 3);
	duo_settle_all(d);
	assert_int_equal(duo_read(&d->a, buf, 4), 3);
	assert_int_equal(d->a.shut_n, 1);
}

/* Both have closed: gone when TCP's end has come, too. */
static void end__of_both(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	duo_settle_all(d);
	assert_int_equal(d->a.shut_n, 1);
	assert_int_equal(d->b.shut_n, 1);
	assert_int_equal(d->a.gone_n, 0);
	assert_true(d->a.c->linger_at != TUX_NEVER);
	tux_conn_tcp_end(d->a.c, 0, d->now);
	duo_effects(&d->a);
	assert_int_equal(d->a.gone_n, 1);
	assert_false(d->a.gone_reset);
}

/* What is still in TCP's marker, or the FIN that TCP is to carry, or a frame that
 * has begun: it is not done. */
static void end__each_that_is_waited_for(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	duo_carry(&d->a);
	c->tx.buf.got = c->tx.buf.end + 1;
	assert_true(c->out.fin);
	duo_derive(&d->a, TUX_DIRTY_LIFE);
	assert_int_equal(d->a.shut_n, 0);
	c->out.fin = false;
	c->out.marker = true;
	duo_derive(&d->a, TUX_DIRTY_LIFE);
	assert_int_equal(d->a.shut_n, 0);
	c->out.marker = false;
	c->out.busy = true;
	duo_derive(&d->a, TUX_DIRTY_LIFE);
	assert_int_equal(d->a.shut_n, 0);
	c->out.busy = false;
	c->out.sw = true;
	duo_derive(&d->a, TUX_DIRTY_LIFE);
	assert_int_equal(d->a.shut_n, 1);
	assert_false(c->out.sw);
	assert_true(tux_list_empty(&c->use));
}

/* Room for the peer's messages may have to be told in frames: not before the
 * peer has said all, or nobody reads here. */
static void end__with_messages(void **state)
{
	struct duo *d = *state;

	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	duo_settle_all(d);
	assert_true(tux_sendbuf_done(&d->a.c->tx.buf));
	assert_int_equal(d->a.shut_n, 0);
	tux_duplex_shut(d->b.dx);
	duo_ring(&d->b, 0);
	duo_settle_all(d);
	assert_int_equal(d->a.shut_n, 1);
	assert_int_equal(d->b.shut_n, 1);
}

static void end__with_messages_closed(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	duo_settle_all(d);
	assert_int_equal(d->a.shut_n, 1);
	assert_int_equal(d->b.shut_n, 0);
}

/* The application has put the marker into TCP itself, and the loop has not seen it
 * yet: what it wrote behind that is in the ring. */
static void end__not_seen_that_it_has_moved(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->closed = true;
	atomic_store(&d->a.dx->tx.state, TUX_TX_SWITCHED);
	duo_derive(&d->a, TUX_DIRTY_LIFE);
	assert_int_equal(d->a.shut_n, 0);
	atomic_store(&d->a.dx->tx.state, TUX_TX_PLAIN);
	duo_derive(&d->a, TUX_DIRTY_LIFE);
	assert_int_equal(d->a.shut_n, 1);
}

/* The last message is settled, and the application had shut. */
static void drained__fin_waits_for_messages(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->pair->cc.w.cwnd = 0;
	duo_send(&d->a, 100, 0, 'm');
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	assert_true(c->tx.buf.end == UINT64_MAX);
	c->pair->cc.w.cwnd = 14600;
	duo_settle(d);
	assert_true(c->tx.buf.end == UINT64_MAX);
	duo_settle_all(d);
	assert_true(c->tx.buf.end == 0);
}

/* ---- a closed end reads no more ---- */

static void sink__bytes_are_passed_over(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_write(&d->a, "x", 1), 1);
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(duo_write(&d->b, "abc", 3), 3);
	duo_carry(&d->b);
	assert_int_equal(tux_pipe_len(&d->a.dx->rxp), 0);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
	/* All of ours has been taken: nobody needs what the peer says. */
	duo_settle_all(d);
	assert_true(d->a.c->tx.done);
	assert_int_equal(duo_write(&d->b, "def", 3), 3);
	duo_carry(&d->b);
	assert_int_equal(d->a.c->life, TUX_LIFE_DEAD);
	assert_int_equal(d->a.c->reason, TUX_REASON_DATA_AFTER_CLOSE);
	duo_carry(&d->a);
	assert_int_equal(d->a.gone_n, 1);
	assert_true(d->b.c->reset_at != TUX_NEVER);
}

static void sink__not_before(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_write(&d->b, "abc", 3), 3);
	duo_carry(&d->b);
	duo_derive(&d->a, TUX_DIRTY_CAME);
	assert_int_equal(tux_pipe_len(&d->a.dx->rxp), 3);
	/* What had come before it was closed is no offence. */
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	duo_settle_all(d);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
	assert_int_equal(tux_pipe_len(&d->a.dx->rxp), 0);
}

/* One packet acknowledges the FIN of an end that has closed, and has data. */
static void sink__data_with_the_ack_of_our_fin(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	duo_tcp_out(&d->a, SIZE_MAX);
	duo_carry(&d->a);
	assert_int_equal(duo_write(&d->b, "late", 4), 4);
	duo_ring(&d->b, TUX_DOORBELL_TX);
	assert_int_equal(duo_carry(&d->b), 1);
	assert_int_equal(d->a.c->life, TUX_LIFE_DEAD);
	assert_int_equal(d->a.c->dead_why, TUX_REASON_DATA_AFTER_CLOSE);
	assert_true(d->a.c->todo & TUX_DO_RESET);
}

/* ---- a connection in full flow ---- */

/* Does the settle step look at more than READY?  It forgets `alive` then. */
static bool looks(struct duo_end *e, uint32_t dirty)
{
	e->c->tx.alive = true;
	duo_derive(e, dirty);
	return !e->c->tx.alive;
}

static void full_flow__each_condition(void **state)
{
	struct duo *d = *state;
	struct duo_end *e = &d->a;
	struct tux_conn *c = e->c;
	const uint32_t usual = TUX_DIRTY_ACKED | TUX_DIRTY_READY;

	assert_false(looks(e, usual));
	assert_true(looks(e, usual | TUX_DIRTY_PATH));
	c->in.starved = true;
	assert_true(looks(e, usual));
	c->in.starved = false;
	c->tx.raw_wanted = true;
	assert_true(looks(e, usual));
	c->tx.raw_wanted = false;
	c->rx.buf.end = tux_pipe_head(&e->dx->rxp) + 1;
	assert_true(looks(e, usual));
	c->rx.buf.end = UINT64_MAX;
	c->tx.buf.end = tux_pipe_head(&e->dx->txp) + 1;
	assert_true(looks(e, usual));
	c->tx.buf.end = UINT64_MAX;
	c->rx.path = TUX_PATH_FRAMES;
	assert_true(looks(e, usual));
	c->rx.path = TUX_PATH_TUX;
	c->tx.path = TUX_PATH_FRAMES;
	assert_true(looks(e, usual));
	c->tx.path = TUX_PATH_TUX;
	assert_false(looks(e, usual));
	c->closed = true;
	assert_true(looks(e, usual));
	c->closed = false;
	atomic_store(&e->dx->tx.shut, 1);
	assert_true(looks(e, usual));
	c->life = TUX_LIFE_DEAD;
	duo_derive(e, usual);
	assert_true(c->dead_told);
}

/* The peer has everything.  ROOM for its messages may have to go in frames, as
 * long as some may come. */
static void done__not_before_the_peers_messages(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	atomic_store(&d->a.dx->tx.shut, 1);
	duo_ring(&d->a, TUX_DOORBELL_TX);
	duo_settle(d);
	duo_pass(d, TUX_MSEC(5));
	duo_settle(d);
	assert_true(tux_sendbuf_done(&c->tx.buf));
	assert_false(c->tx.done);
	c->rx.tcp_ended = true;
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	assert_true(c->tx.done);
	c->tx.done = c->rx.tcp_ended = false;
	c->peer_messages = false;
	duo_derive(&d->a, TUX_DIRTY_ACKED);
	assert_true(c->tx.done);
}

/* Closed while a message waited for the path, which is not to be had: nothing
 * is left to wait for. */
static void close__message_waits_and_owning_fails(void **state)
{
	struct duo *d = *state;

	d->a.own_late = true;
	duo_send(&d->a, 100, 0, 'x');
	duo_settle(d);
	assert_int_equal(d->a.c->life, TUX_LIFE_OWNING);
	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	assert_int_equal(d->a.gone_n, 0);
	tux_conn_owned(d->a.c, -EBADF, d->now);
	duo_effects(&d->a);
	assert_int_equal(d->a.c->life, TUX_LIFE_GONE);
	assert_int_equal(d->a.gone_n, 1);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(full_flow__each_condition, duo_setup_switched),
		T(done__not_before_the_peers_messages, duo_setup_messages),
		T(settle__nothing_without_a_mark, duo_setup_proved),
		T(settle__nothing_without_news, duo_setup_proved),
		T(settle__nothing_without_news, duo_setup_switched),
		T(settle__the_timer_is_looked_at, duo_setup_switched),
		T(settle__not_between_tcp_out_and_tcp_sent, duo_setup_proved),
		T(effects__of_one_input_are_one, duo_setup_switched),
		T(effects__wait_for_the_loop, duo_setup_switched),
		T(reason__precedence, duo_setup_proved),
		T(reason__of_either_direction, duo_setup_switched),
		T(reason__of_a_return, duo_setup_switched),
		T(reason__of_a_death_without, duo_setup_switched),
		T(reason__of_a_closed_one, duo_setup_proved),
		T(reason__of_a_closed_one_on_tux, duo_setup_switched),
		T(reason__told_when_it_changes, duo_setup_proved),
		T(own__asked_once, duo_setup),
		T(tcp__what_is_wanted, duo_setup_switched),
		T(tcp__what_is_due, duo_setup_switched),
		T(death__told_once, duo_setup_switched),
		T(death__not_over_an_error, duo_setup_switched),
		T(death__others_of_the_pair_send, duo_setup_proved),
		T(gone__once, duo_setup_switched),
		T(gone__within_a_marker, duo_setup_switched),
		T(eof__when_all_is_here, duo_setup_switched),
		T(end__of_one_direction, duo_setup_switched),
		T(end__of_both, duo_setup_switched),
		T(end__each_that_is_waited_for, duo_setup_switched),
		T(end__with_messages, duo_setup_messages),
		T(end__with_messages_closed, duo_setup_messages),
		T(end__not_seen_that_it_has_moved, duo_setup_proved),
		T(drained__fin_waits_for_messages, duo_setup_messages),
		T(close__message_waits_and_owning_fails,
		  duo_setup_open_messages),
		T(sink__bytes_are_passed_over, duo_setup_switched),
		T(sink__data_with_the_ack_of_our_fin, duo_setup_switched),
		T(sink__not_before, duo_setup_switched),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
