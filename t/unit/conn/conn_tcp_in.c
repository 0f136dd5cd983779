/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What comes from TCP: frames, and its end; a direction that is plain again.
 */
#include <errno.h>

#include "duo.h"

#include "conn/back.h"
#include "conn/conn_life.h"
#include "conn/upgrade.h"

/* ---- plain again ---- */

static void leave(struct duo_end *e, tux_time until)
{
	tux_back_leave(e->c, until);
	duo_derive(e, 0);
}

/* What is in flight arrives first; meanwhile the application cannot write. */
static void plain__drains_first(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_frame f;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	leave(&d->a, d->now + TUX_SEC(1));
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	assert_int_equal(duo_write(&d->a, "x", 1), -EAGAIN);
	assert_false(tux_duplex_poll(d->a.dx) & TUX_CAN_WRITE);
	assert_int_equal(duo_frame_out(&d->a, &f), 0);
	duo_carry(&d->a);
	duo_carry(&d->b);
	duo_pass(d, TUX_MSEC(1));
	duo_carry(&d->b);
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR);
	assert_int_equal(f.type, TUX_FRAME_PLAIN);
	assert_int_equal(f.off, 3);
	assert_int_equal(c->tx.path, TUX_PATH_PLAIN);
	assert_int_equal(c->stats.frame_tx, 0);
	assert_int_equal(c->stats.backs, 0);
	assert_int_equal(atomic_load(&d->a.dx->tx.turn), 1);
	assert_true(d->a.dx->tx.off == 3);
	assert_true(c->tx.announce_at == d->now - TUX_MSEC(1) + TUX_SEC(1));
	assert_int_equal(duo_write(&d->a, "x", 1), 1);
	assert_int_equal(d->b.in.p[d->b.in.len - 1], 'x');
}

/* The reader empties the ring, and then finds the rest in TCP. */
static void plain__ring_comes_before_tcp(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	char buf[8];

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_settle_all(d);
	leave(&d->a, TUX_NEVER);
	duo_settle_all(d);
	assert_int_equal(c->rx.path, TUX_PATH_PLAIN);
	assert_int_equal(atomic_load(&d->b.dx->rx.turn), 1);
	assert_int_equal(c->reason, TUX_REASON_BULK);
	assert_int_equal(duo_write(&d->a, "de", 2), 2);
	assert_int_equal(tux_conn_tcp_want(c), 0);
	assert_int_equal(tux_duplex_poll(d->b.dx) &
			 (TUX_CAN_READ | TUX_RX_ON_RING), TUX_CAN_READ);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 3);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 2);
	assert_memory_equal(buf, "de", 2);
}

/* The other direction stays on Tux, and this one may move once more. */
static void plain__moves_again(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	char buf[8];

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_settle_all(d);
	leave(&d->a, d->now + TUX_SEC(1));
	duo_settle_all(d);
	assert_int_equal(d->b.c->tx.path, TUX_PATH_TUX);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 3);
	assert_int_equal(duo_write(&d->a, "de", 2), 2);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 2);
	duo_pass(d, TUX_SEC(1));
	duo_settle_all(d);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	assert_int_equal(d->b.c->rx.path, TUX_PATH_TUX);
	assert_int_equal(c->stats.tcp_tx, 2);
	assert_int_equal(d->b.c->stats.tcp_rx, 2);
	assert_int_equal(duo_write(&d->a, "fg", 2), 2);
	duo_settle_all(d);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 2);
	assert_memory_equal(buf, "fg", 2);
	assert_int_equal(c->reason, TUX_REASON_NONE);
}

/* Not before the ring has been read. */
static void plain__a_full_ring_is_not_armed(void **state)
{
	struct duo *d = *state;
	char buf[8];

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_settle_all(d);
	leave(&d->a, d->now);
	duo_settle_all(d);
	assert_int_equal(d->b.c->rx.path, TUX_PATH_PLAIN);
	assert_int_not_equal(d->b.c->rx.arm_gen, 0);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ANNOUNCED);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 3);
	duo_ring(&d->b, 0);
	duo_settle_all(d);
	assert_int_equal(d->a.c->tx.path, TUX_PATH_TUX);
	assert_int_equal(d->b.c->rx.path, TUX_PATH_TUX);
}

/* Shut down while it drains: FIN says it, over Tux. */
static void plain__not_behind_a_shutdown(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	leave(&d->a, TUX_NEVER);
	assert_true(tux_duplex_shut(d->a.dx));
	duo_ring(&d->a, 0);
	assert_false(c->tx.leaving);
	assert_int_equal(atomic_load(&d->a.dx->tx.hold), 0);
	duo_settle_all(d);
	assert_true(atomic_load(&d->b.dx->rx.eof));
	assert_false(c->out.plain);
}

/* Plain TCP for good is wanted while the frame waits. */
static void plain__becomes_raw(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_frame f;

	leave(&d->a, TUX_NEVER);
	assert_true(c->out.plain);
	tux_back_raw(c, TUX_REASON_PINNED);
	duo_derive(&d->a, 0);
	assert_false(c->out.plain);
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR + TUX_RAW_LEN);
	assert_int_equal(f.type, TUX_FRAME_RAW);
	assert_int_equal(c->tx.path, TUX_PATH_RAW);
}

/* An older peer, and an end that takes messages, stay. */
static void plain__only_if_the_peer_knows_it(void **state)
{
	struct duo *d = *state;

	d->a.c->peer_plain = false;
	leave(&d->a, TUX_NEVER);
	assert_false(d->a.c->tx.leaving);
	assert_int_equal(d->a.c->tx.path, TUX_PATH_TUX);
}

static void plain__not_with_messages(void **state)
{
	struct duo *d = *state;

	leave(&d->a, TUX_NEVER);
	assert_false(d->a.c->tx.leaving);
	/* and who gets such a frame from one that sends messages breaks off */
	duo_frame_in(&d->b, TUX_FRAME_PLAIN, 0, NULL, 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
}

static void plain__leaves_out_no_byte(void **state)
{
	struct duo *d = *state;

	duo_frame_in(&d->b, TUX_FRAME_PLAIN, 1, NULL, 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
}

/* Behind a FIN, known or reached, no turn can begin: the application has been
 * told the end, and an end of file would follow another. */
static void plain__not_behind_a_fin(void **state)
{
	struct duo *d = *state;

	duo_frame_in(&d->b, TUX_FRAME_FIN, 0, NULL, 0);
	assert_true(atomic_load(&d->b.dx->rx.eof));
	duo_frame_in(&d->b, TUX_FRAME_PLAIN, 0, NULL, 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
	assert_int_equal(d->b.c->dead_why, TUX_REASON_PROTOCOL);
}

static void plain__not_before_a_fin(void **state)
{
	struct duo *d = *state;

	duo_frame_in(&d->b, TUX_FRAME_FIN, 3, NULL, 0);
	assert_false(atomic_load(&d->b.dx->rx.eof));
	duo_frame_in(&d->b, TUX_FRAME_PLAIN, 0, NULL, 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
}

/* Bytes behind a PLAIN frame are the application's, even if they look like
 * another such frame. */
static void plain__twice_is_data(void **state)
{
	struct duo *d = *state;
	struct tux_frame f = { .type = TUX_FRAME_PLAIN, .off = 0 };
	uint8_t *p = d->b.in.p + d->b.in.len;
	char buf[2 * TUX_FRAME_HDR];

	tux_frame_encode(&f, p);
	tux_frame_encode(&f, p + TUX_FRAME_HDR);
	d->b.in.len += 2 * TUX_FRAME_HDR;
	duo_settle(d);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
	assert_int_equal(atomic_load(&d->b.dx->rx.turn), 1);
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), TUX_FRAME_HDR);
	assert_memory_equal(buf, p, TUX_FRAME_HDR);
}

/* The path is closed: frames, and then plain. */
static void plain__when_the_path_is_gone(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_frame f;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_drop(&d->a);
	tux_conn_stall(c, d->now);
	duo_effects(&d->a);
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR + 3);
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR);
	assert_int_equal(f.type, TUX_FRAME_PLAIN);
	assert_int_equal(c->tx.path, TUX_PATH_PLAIN);
	assert_int_equal(c->reason, TUX_REASON_STALLED);
	assert_true(c->tx.announce_at == d->now + TUX_SEC(1));
	assert_true(c->tx.away_at == c->tx.announce_at);
}

/* ---- frames in ---- */

static void want__never_more_than_the_frame(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	struct tux_frame f = { .type = TUX_FRAME_DATA, .len = 5 };
	uint8_t hdr[TUX_FRAME_HDR];

	tux_frame_encode(&f, hdr);
	assert_int_equal(tux_conn_tcp_want(c), TUX_FRAME_HDR);
	tux_conn_tcp_in(c, hdr, 10, d->now);
	assert_int_equal(tux_conn_tcp_want(c), 6);
	tux_conn_tcp_in(c, hdr + 10, 6, d->now);
	assert_int_equal(tux_conn_tcp_want(c), 5);
	tux_conn_tcp_in(c, (const uint8_t *)"ab", 2, d->now);
	assert_int_equal(tux_conn_tcp_want(c), 3);
	tux_conn_tcp_in(c, (const uint8_t *)"cde", 3, d->now);
	assert_int_equal(tux_conn_tcp_want(c), TUX_FRAME_HDR);
	assert_int_equal(tux_pipe_len(&d->b.dx->rxp), 5);
	c->rx.tcp_ended = true;
	assert_int_equal(tux_conn_tcp_want(c), 0);
}

static void want__nothing_of_a_plain_direction(void **state)
{
	struct duo *d = *state;

	assert_int_equal(tux_conn_tcp_want(d->b.c), 0);
	/* Unless nobody reads it any more. */
	tux_upgrade_prepare(d->b.c, 1, 4, 0);
	duo_derive(&d->b, 0);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	assert_int_equal(tux_conn_tcp_want(d->b.c), 4);
	tux_conn_die(d->b.c, EIO, TUX_REASON_NONE);
	duo_derive(&d->b, 0);
	assert_int_equal(tux_conn_tcp_want(d->b.c), 0);
}

/* The marker that Tux's bytes have overtaken. */
static void want__rest_of_the_marker(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	uint8_t junk[TUX_MARKER_LEN] = { 0 };

	d->b.dx->rx.marker_left = 9;
	assert_int_equal(tux_conn_tcp_want(c), 9);
	tux_conn_tcp_in(c, junk, 4, d->now);
	assert_int_equal(tux_conn_tcp_want(c), 5);
	tux_conn_tcp_in(c, junk, 5, d->now);
	assert_int_equal(tux_conn_tcp_want(c), TUX_FRAME_HDR);
}

/* The ring is full: TCP is not read, and the application rings for each byte. */
static void want__starved(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	char bytes[DUO_RING] = { 0 };

	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, NULL, DUO_RING + 10);
	assert_int_equal(tux_conn_tcp_want(c), DUO_RING);
	atomic_store(&d->b.dx->wake_at, 99);
	tux_conn_tcp_in(c, (uint8_t *)bytes, DUO_RING, d->now);
	assert_int_equal(tux_conn_tcp_want(c), 0);
	assert_true(c->in.starved);
	assert_true(atomic_load(&d->b.dx->wake_at) == 0);
	assert_int_equal(duo_read(&d->b, bytes, 4), 4);
	assert_int_equal(tux_conn_tcp_want(c), 4);
	assert_false(c->in.starved);
}

static void in__data(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	char buf[8];

	d->b.ready_n = 0;
	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, "abc", 3);
	assert_true(d->b.ready_n > 0);
	assert_int_equal(c->stats.frame_rx, 3);
	/* At N, it may be the rest of a write; the next one says more. */
	assert_int_equal(c->rx.path, TUX_PATH_TUX);
	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, "abc", 3);
	assert_int_equal(c->rx.path, TUX_PATH_FRAMES);
	assert_int_equal(c->reason, TUX_REASON_STALLED);
	assert_int_equal(duo_read(&d->b, buf, 8), 3);
	assert_memory_equal(buf, "abc", 3);
	/* What it has already is read, and passed over. */
	d->b.ready_n = 0;
	duo_frame_in(&d->b, TUX_FRAME_DATA, 1, "bcd", 3);
	assert_int_equal(duo_read(&d->b, buf, 8), 1);
	assert_int_equal(buf[0], 'd');
	duo_frame_in(&d->b, TUX_FRAME_DATA, 1, "bc", 2);
	assert_int_equal(c->life, TUX_LIFE_PROVED);
	/* A gap is none that TCP would bring. */
	duo_frame_in(&d->b, TUX_FRAME_DATA, 5, NULL, 1);
	assert_int_equal(c->life, TUX_LIFE_DEAD);
	assert_int_equal(c->reason, TUX_REASON_PROTOCOL);
}

/* Bytes behind the stream's end. */
static void in__data_beyond_the_end(void **state)
{
	struct duo *d = *state;

	duo_frame_in(&d->b, TUX_FRAME_FIN, 2, NULL, 0);
	assert_int_equal(d->b.dx->rx.eof, 0);
	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, "abc", 3);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
	assert_int_equal(d->b.c->reason, TUX_REASON_PROTOCOL);
}

static void in__data_of_a_closed_end(void **state)
{
	struct duo *d = *state;

	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, "abc", 3);
	assert_true(tux_pipe_tail(&d->b.dx->rxp) == 3);
	assert_int_equal(tux_pipe_len(&d->b.dx->rxp), 0);
}

static void in__fin(void **state)
{
	struct duo *d = *state;

	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, "ab", 2);
	duo_frame_in(&d->b, TUX_FRAME_FIN, 2, NULL, 0);
	assert_int_equal(d->b.dx->rx.eof, 1);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
	/* It has only one. */
	duo_frame_in(&d->b, TUX_FRAME_FIN, 3, NULL, 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
}

/* Before the bytes that Tux still carries. */
static void in__fin_overtakes(void **state)
{
	struct duo *d = *state;

	duo_frame_in(&d->b, TUX_FRAME_FIN, 3, NULL, 0);
	assert_int_equal(d->b.dx->rx.eof, 0);
	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_carry(&d->a);
	assert_int_equal(d->b.dx->rx.eof, 1);
}

/* It says how many messages there are, to one who takes none. */
static void in__fin_with_an_end_of_messages(void **state)
{
	struct duo *d = *state;
	uint8_t end[TUX_END_LEN] = { 0 };

	duo_frame_in(&d->b, TUX_FRAME_FIN, 0, end, TUX_END_LEN);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
}

static void in__reset(void **state)
{
	struct duo *d = *state;

	duo_frame_in(&d->b, TUX_FRAME_RESET, 13, NULL, 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
	assert_int_equal(atomic_load(&d->b.dx->err), ECONNRESET);
	assert_true(d->log_b.last[TUX_TRACE_RECV_RESET].n[0] == 13);
	/* And what follows is nobody's. */
	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, "abc", 3);
	assert_int_equal(tux_pipe_len(&d->b.dx->rxp), 0);
}

static void in__switch(void **state)
{
	struct duo *d = *state;

	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, "a", 1);
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
	duo_frame_in(&d->b, TUX_FRAME_DATA, 1, "b", 1);
	assert_int_equal(d->b.c->reason, TUX_REASON_STALLED);
	duo_frame_in(&d->b, TUX_FRAME_SWITCH, 2, NULL, 0);
	assert_int_equal(d->b.c->rx.path, TUX_PATH_TUX);
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
	/* Our own direction is still on TCP. */
	duo_stall(&d->b);
	duo_frame_in(&d->b, TUX_FRAME_SWITCH, 2, NULL, 0);
	assert_int_equal(d->b.c->reason, TUX_REASON_STALLED);
}

static void in__raw(void **state)
{
	struct duo *d = *state;
	char buf[8];

	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, "ab", 2);
	duo_frame_in(&d->b, TUX_FRAME_RAW, 2, NULL, 0);
	assert_int_equal(d->b.dx->rx.state, TUX_RX_RAW);
	assert_int_equal(d->b.c->reason, TUX_REASON_PEER_RAW);
	assert_true(d->b.c->tx.raw_wanted);
	assert_int_equal(tux_conn_tcp_want(d->b.c), 0);
	assert_int_equal(duo_read(&d->b, buf, 8), 2);
}

static void in__raw_short_of_what_we_have(void **state)
{
	struct duo *d = *state;

	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, "ab", 2);
	duo_frame_in(&d->b, TUX_FRAME_RAW, 1, NULL, 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
	assert_int_equal(d->b.c->reason, TUX_REASON_PROTOCOL);
}

static void in__nonsense(void **state)
{
	struct duo *d = *state;

	duo_frame_in(&d->b, 99, 0, NULL, 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
	assert_int_equal(d->b.c->reason, TUX_REASON_PROTOCOL);
}

static void in__messages_to_one_who_takes_none(void **state)
{
	struct duo *d = *state;
	uint8_t body[TUX_MESSAGE_HDR_MAX] = { 0 };

	duo_frame_in(&d->b, TUX_FRAME_MESSAGE, 0, body, sizeof(body));
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
}

/* A plain direction's bytes are swallowed; the marker ends that. */
static void in__plain_of_a_closed_end(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	tux_upgrade_prepare(c, 1, 2, 0);
	duo_derive(&d->b, 0);
	duo_ring(&d->b, TUX_DOORBELL_CLOSE);
	tux_conn_tcp_in(c, (const uint8_t *)"ab", 2, d->now);
	assert_int_equal(tux_conn_tcp_want(c), TUX_MARKER_LEN);
	tux_conn_tcp_in(c, d->b.dx->rx.marker, TUX_MARKER_LEN, d->now);
	assert_int_equal(c->rx.path, TUX_PATH_TUX);
	assert_int_equal(tux_conn_tcp_want(c), TUX_FRAME_HDR);
}

/* ---- its end ---- */

static void end__the_peer_died(void **state)
{
	struct duo *d = *state;

	tux_conn_tcp_end(d->a.c, 0, d->now);
	assert_int_equal(d->a.c->life, TUX_LIFE_DEAD);
	assert_int_equal(d->log_a.n[TUX_TRACE_PEER_DIED], 1);
	assert_int_equal(atomic_load(&d->a.dx->err), ECONNRESET);
	/* Like TCP, it learns by the answer to a write. */
	assert_int_equal(atomic_load(&d->a.dx->tx.mute), 1);
	tux_conn_tcp_end(d->b.c, EPIPE, d->now);
	assert_int_equal(atomic_load(&d->b.dx->tx.mute), 0);
}

/* A peek of the application's has taken the reset from TCP before. */
static void end__with_an_error_that_was_told(void **state)
{
	struct duo *d = *state;

	atomic_store(&d->a.dx->err, ECONNRESET);
	tux_conn_tcp_end(d->a.c, 0, d->now);
	assert_int_equal(d->a.c->life, TUX_LIFE_DEAD);
	assert_int_equal(atomic_load(&d->a.dx->tx.mute), 0);
}

static void end__mute_only_who_may_write(void **state)
{
	struct duo *d = *state;

	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	tux_conn_tcp_end(d->a.c, 0, d->now);
	assert_int_equal(atomic_load(&d->a.dx->tx.mute), 0);
	d->b.c->tx.path = TUX_PATH_PLAIN;
	tux_conn_tcp_end(d->b.c, 0, d->now);
	assert_int_equal(atomic_load(&d->b.dx->tx.mute), 0);
	d->b.c->tx.path = TUX_PATH_TUX;
}

/* It had said all: only a reset is news after that. */
static void end__behind_fin(void **state)
{
	struct duo *d = *state;

	tux_duplex_shut(d->b.dx);
	duo_ring(&d->b, 0);
	duo_carry(&d->b);
	tux_conn_tcp_end(d->a.c, 0, d->now);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
	assert_true(d->a.c->rx.tcp_ended);
	tux_conn_tcp_end(d->a.c, 0, d->now);
	assert_int_equal(d->log_a.n[TUX_TRACE_TCP_END], 1);
	tux_conn_tcp_end(d->a.c, ECONNABORTED, d->now);
	assert_int_equal(d->a.c->life, TUX_LIFE_DEAD);
	tux_conn_tcp_end(d->a.c, EIO, d->now);
	assert_int_equal(d->log_a.n[TUX_TRACE_TCP_END], 2);
	assert_int_equal(d->a.c->rx.tcp_err, ECONNABORTED);
}

/* All of ours has been taken as well: nobody minds. */
static void end__error_when_all_is_done(void **state)
{
	struct duo *d = *state;

	tux_duplex_shut(d->b.dx);
	duo_ring(&d->b, 0);
	duo_carry(&d->b);
	d->a.c->tx.done = true;
	tux_conn_tcp_end(d->a.c, ECONNRESET, d->now);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
}

static void end__of_a_plain_direction(void **state)
{
	struct duo *d = *state;

	tux_conn_tcp_end(d->a.c, 0, d->now);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
	tux_conn_tcp_end(d->a.c, EIO, d->now);
	assert_int_equal(d->a.c->life, TUX_LIFE_DEAD);
	assert_int_equal(atomic_load(&d->a.dx->err), EIO);
}

/* The peer had told of a reset, and TCP was read up to here. */
static void end__behind_a_reset(void **state)
{
	struct duo *d = *state;

	tux_duplex_shut(d->b.dx);
	duo_ring(&d->b, 0);
	duo_carry(&d->b);
	tux_conn_told_reset(d->a.c, d->now);
	duo_derive(&d->a, 0);
	tux_conn_tcp_end(d->a.c, 0, d->now);
	assert_int_equal(d->a.c->life, TUX_LIFE_DEAD);
	d->b.c->life = TUX_LIFE_GONE;
	tux_conn_tcp_end(d->b.c, 0, d->now);
	assert_false(d->b.c->rx.tcp_ended);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(plain__drains_first, duo_setup_switched),
		T(plain__ring_comes_before_tcp, duo_setup_switched),
		T(plain__moves_again, duo_setup_switched),
		T(plain__a_full_ring_is_not_armed, duo_setup_switched),
		T(plain__not_behind_a_shutdown, duo_setup_switched),
		T(plain__becomes_raw, duo_setup_switched),
		T(plain__only_if_the_peer_knows_it, duo_setup_switched),
		T(plain__not_with_messages, duo_setup_messages),
		T(plain__leaves_out_no_byte, duo_setup_switched),
		T(plain__not_behind_a_fin, duo_setup_switched),
		T(plain__not_before_a_fin, duo_setup_switched),
		T(plain__twice_is_data, duo_setup_switched),
		T(plain__when_the_path_is_gone, duo_setup_switched),
		T(want__never_more_than_the_frame, duo_setup_switched),
		T(want__nothing_of_a_plain_direction, duo_setup_proved),
		T(want__rest_of_the_marker, duo_setup_switched),
		T(want__starved, duo_setup_switched),
		T(in__data, duo_setup_switched),
		T(in__data_beyond_the_end, duo_setup_switched),
		T(in__data_of_a_closed_end, duo_setup_switched),
		T(in__fin, duo_setup_switched),
		T(in__fin_overtakes, duo_setup_switched),
		T(in__fin_with_an_end_of_messages, duo_setup_switched),
		T(in__reset, duo_setup_switched),
		T(in__switch, duo_setup_switched),
		T(in__raw, duo_setup_switched),
		T(in__raw_short_of_what_we_have, duo_setup_switched),
		T(in__nonsense, duo_setup_switched),
		T(in__messages_to_one_who_takes_none, duo_setup_switched),
		T(in__plain_of_a_closed_end, duo_setup_proved),
		T(end__the_peer_died, duo_setup_switched),
		T(end__with_an_error_that_was_told, duo_setup_switched),
		T(end__mute_only_who_may_write, duo_setup_switched),
		T(end__behind_fin, duo_setup_switched),
		T(end__error_when_all_is_done, duo_setup_switched),
		T(end__of_a_plain_direction, duo_setup_proved),
		T(end__behind_a_reset, duo_setup_switched),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
