/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages and their room in frames.
 */
#include <errno.h>

#include "conn/message_tcp.h"
#include "conn/message_rx.h"
#include "conn/message_tx.h"
#include "conn/settle.h"
#include "duo.h"

/* As setup_messages, and a is on TCP. */
static int setup(void **state)
{
	struct duo *d;

	duo_setup_messages(state);
	d = *state;
	tux_conn_stall(d->a.c, d->now);
	d->a.tcp_n = 0;
	return 0;
}

/* What a's loop would write next, a frame of @type, is in the header at hand. */
static struct tux_frame hdr_out(struct duo *d)
{
	struct tux_frame f;

	assert_int_equal(tux_frame_decode(&f, d->a.c->out.hdr), 0);
	return f;
}

/* ---- out ---- */

static void may__each_condition(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_messages *g = c->msg;

	assert_true(tux_message_may_frame(c));
	c->msg = NULL;
	assert_false(tux_message_may_frame(c));
	c->msg = g;
	c->tx.path = TUX_PATH_TUX;
	assert_false(tux_message_may_frame(c));
	c->tx.path = TUX_PATH_FRAMES;
	c->tx.done = true;
	assert_false(tux_message_may_frame(c));
	c->tx.done = false;
	c->out.raw = true;
	assert_false(tux_message_may_frame(c));
	c->out.raw = false;
	atomic_store(&d->a.dx->tx.state, TUX_TX_RAW);
	assert_false(tux_message_may_frame(c));
	atomic_store(&d->a.dx->tx.state, TUX_TX_SWITCHED);
	assert_true(tux_message_may_frame(c));
}

static void room__is_a_frame(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_room r[TUX_LANES];
	struct tux_frame f;

	c->todo = 0;
	assert_false(tux_message_room_frame(c));
	c->todo = TUX_DO_ROOM;
	assert_true(tux_message_room_frame(c));
	assert_int_equal(c->todo, 0);
	f = hdr_out(d);
	assert_int_equal(f.type, TUX_FRAME_ROOM);
	assert_int_equal(f.len, TUX_ROOM_LEN);
	assert_true(f.off == DUO_RING);		/* where the window ends */
	assert_int_equal(c->out.hdr_left, TUX_FRAME_HDR + TUX_ROOM_LEN);
	assert_int_equal(c->out.left, 0);
	assert_int_equal(tux_room_decode(r, c->out.hdr + TUX_FRAME_HDR,
					 TUX_ROOM_LEN), 0);
	assert_int_equal(r[1].cap, DUO_BULK);
	/* It is for the path in use. */
	c->todo = TUX_DO_ROOM;
	c->tx.path = TUX_PATH_TUX;
	assert_false(tux_message_room_frame(c));
	assert_int_equal(c->todo, TUX_DO_ROOM);
}

static void fin__with_what_has_begun(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_frame f;

	c->tx.buf.end = 7;
	c->msg->tx[0].next = 3;
	tux_message_fin_frame(c);
	f = hdr_out(d);
	assert_int_equal(f.type, TUX_FRAME_FIN);
	assert_int_equal(f.off, 7);
	assert_int_equal(f.len, TUX_END_LEN);
	assert_int_equal(c->out.left, 0);
	assert_int_equal(c->out.hdr_left, TUX_FRAME_HDR + TUX_END_LEN);
	assert_int_equal(tux_get32(c->out.hdr + TUX_FRAME_HDR), 3);
	c->msg->tx[0].next = 0;
	c->peer_messages = false;
	tux_message_fin_frame(c);
	assert_int_equal(hdr_out(d).len, 0);
	assert_int_equal(c->out.hdr_left, TUX_FRAME_HDR);
}

static void frame__a_fragment(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_message_hdr h;
	struct tux_frame f;

	assert_false(tux_message_frame(c));
	duo_send(&d->a, 20000, 0, 'm');
	c->out.sw = true;		/* so Tux carries it soon */
	assert_false(tux_message_frame(c));
	c->out.sw = false;
	c->tx.path = TUX_PATH_TUX;
	assert_false(tux_message_frame(c));
	c->tx.path = TUX_PATH_FRAMES;
	assert_true(tux_message_frame(c));
	f = hdr_out(d);
	assert_int_equal(f.type, TUX_FRAME_MESSAGE);
	assert_int_equal(f.len, 16384);
	assert_int_equal(c->out.left, 16384 - 16);
	assert_int_equal(c->out.hdr_left, TUX_FRAME_HDR + 16);
	assert_int_equal(tux_message_decode(&h, f.off,
					    c->out.hdr + TUX_FRAME_HDR, f.len),
			 0);
	assert_int_equal(h.flags, TUX_MESSAGE_BULK | TUX_MESSAGE_FIRST);
	assert_int_equal(h.total, 20000);
	c->out.busy = false;
	assert_true(tux_message_frame(c));
	assert_int_equal(c->out.left, 20000 - (16384 - 16));
	/* It is gone from the list of work; no packet has it. */
	assert_false(tux_message_waits(c));
}

/* A message and stream bytes take turns, and all arrives. */
static void frame__takes_turns_with_the_stream(void **state)
{
	struct duo *d = *state;
	char bytes[DUO_RING] = { 0 };
	struct tux_msg m;
	unsigned i;

	assert_int_equal(duo_write(&d->a, bytes, 100), 100);
	duo_send(&d->a, 100, 0, 'm');
	duo_send(&d->a, 100, 0, 'n');
	for (i = 0; i < 3; i++) {
		static const uint8_t want[] = {
			TUX_FRAME_DATA, TUX_FRAME_MESSAGE, TUX_FRAME_DATA,
		};

		assert_true(duo_tcp_out(&d->a, 1) == 1);
		assert_int_equal(d->a.c->out.type, want[i]);
		while (d->a.c->out.busy)
			duo_tcp_out(&d->a, SIZE_MAX);
		if (!i)
			assert_int_equal(duo_write(&d->a, bytes, 50), 50);
	}
	duo_settle(d);
	assert_int_equal(tux_msgbox_take(d->b.box, &m, 1), 1);
	assert_int_equal(((const char *)m.p)[99], 'm');
	assert_int_equal(tux_msgbox_take(d->b.box, &m, 1), 1);
	assert_int_equal(duo_read(&d->b, bytes, DUO_RING), 150);
	assert_int_equal(d->a.box->slot[1].note.state, TUX_NOTE_SENT);
}

/* ---- in ---- */

static void need__of_each_type(void **state)
{
	struct tux_frame f = { .type = TUX_FRAME_DATA, .len = 9 };

	(void)state;
	assert_int_equal(tux_message_frame_need(&f), 16);
	f.type = TUX_FRAME_MESSAGE;
	f.off = TUX_MESSAGE_FIRST;
	assert_int_equal(tux_message_frame_need(&f), 32);
	f.off |= TUX_MESSAGE_ORDER;
	assert_int_equal(tux_message_frame_need(&f), 36);
	f.off |= TUX_MESSAGE_LAST;
	assert_int_equal(tux_message_frame_need(&f), 28);
	f.type = TUX_FRAME_ROOM;
	assert_int_equal(tux_message_frame_need(&f), 40);
	f.type = TUX_FRAME_FIN;
	f.len = 8;
	assert_int_equal(tux_message_frame_need(&f), 24);
	f.len = 0;
	assert_int_equal(tux_message_frame_need(&f), 16);
	f.type = TUX_FRAME_SWITCH;
	assert_int_equal(tux_message_frame_need(&f), 16);
}

/* The header and @len bytes of a MESSAGE frame for b. */
static void message_in(struct duo *d, struct tux_message_hdr h,
		       const char *bytes, uint32_t len)
{
	uint8_t body[TUX_MESSAGE_HDR_MAX + 64];
	uint32_t hdr;

	if (!(h.flags & TUX_MESSAGE_CANCEL))
		h.flags |= tux_message_ends(&h);
	hdr = tux_message_hdr_len(h.flags);
	tux_message_encode(&h, body);
	if (len)
		memcpy(body + hdr, bytes, len);
	duo_frame_in(&d->b, TUX_FRAME_MESSAGE, h.flags, NULL, hdr + h.len);
	tux_conn_tcp_in(d->b.c, body, hdr + len, d->now);
}

static void in__piece_by_piece(void **state)
{
	struct duo *d = *state;
	struct tux_msg m;

	message_in(d, (struct tux_message_hdr){ .total = 5, .len = 5 }, "ab",
		   2);
	assert_int_equal(tux_conn_tcp_want(d->b.c), 3);
	tux_conn_tcp_in(d->b.c, (const uint8_t *)"cd", 2, d->now);
	assert_int_equal(tux_msgbox_take(d->b.box, &m, 1), 0);
	tux_conn_tcp_in(d->b.c, (const uint8_t *)"e", 1, d->now);
	assert_int_equal(tux_conn_tcp_want(d->b.c), TUX_FRAME_HDR);
	assert_int_equal(tux_msgbox_take(d->b.box, &m, 1), 1);
	assert_int_equal(m.len, 5);
	assert_memory_equal(m.p, "abcde", 5);
}

/* Neither has a body that follows. */
static void in__empty_and_cancelled(void **state)
{
	struct duo *d = *state;
	struct tux_msg m;

	message_in(d, (struct tux_message_hdr){ .total = 0 }, NULL, 0);
	assert_int_equal(tux_msgbox_take(d->b.box, &m, 1), 1);
	assert_int_equal(m.len, 0);
	assert_int_equal(tux_conn_tcp_want(d->b.c), TUX_FRAME_HDR);
	message_in(d, (struct tux_message_hdr){
		.id = 1, .pos = 64, .total = 9, .flags = TUX_MESSAGE_CANCEL,
	}, NULL, 0);
	assert_int_equal(d->b.c->msg->slot[1].in.state, TUX_MSG_GONE);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
}

static void in__nonsense(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = { .total = 5, .len = 5 };

	h.pos = 1;			/* not aligned */
	message_in(d, h, "ab", 0);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
	assert_int_equal(d->b.c->reason, TUX_REASON_PROTOCOL);
}

/* The header makes sense, but there is no such place. */
static void in__out_of_place(void **state)
{
	struct duo *d = *state;

	message_in(d, (struct tux_message_hdr){
		.id = TUX_MSG_SMALL_N, .total = 2, .len = 2,
	}, "ab", 2);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
}

static void in__room(void **state)
{
	struct duo *d = *state;
	struct tux_room r[TUX_LANES] = {
		{ DUO_SMALL, 300, DUO_SMALL }, { DUO_BULK, 40, DUO_BULK },
	};
	uint8_t body[TUX_ROOM_LEN];

	tux_room_encode(r, body);
	duo_frame_in(&d->b, TUX_FRAME_ROOM, 0, body, TUX_ROOM_LEN);
	assert_int_equal(d->b.c->msg->tx[0].ids, 300);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
	memset(body, 0, sizeof(body));
	duo_frame_in(&d->b, TUX_FRAME_ROOM, 0, body, TUX_ROOM_LEN);
	assert_int_equal(d->b.c->life, TUX_LIFE_DEAD);
}

/* FIN says how many there are; the last is still under way over Tux. */
static void in__fin_and_a_late_message(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = { .total = 1, .len = 1 };
	uint8_t end[TUX_END_LEN] = { [3] = 1 };

	duo_frame_in(&d->b, TUX_FRAME_FIN, 0, end, TUX_END_LEN);
	assert_int_equal(d->b.dx->rx.eof, 0);
	assert_int_equal(tux_message_put(d->b.c, &h, end, false), 0);
	tux_conn_settle(d->b.c, d->now);
	assert_int_equal(d->b.dx->rx.eof, 1);
}

/* A thread reserves a message while RAW ends them all: it had looked before, and
 * holds the latch.  Nothing asks for TCP again and again meanwhile. */
static void effects__come_to_an_end(void **state)
{
	struct duo *d = *state;
	struct tux_msgbox *b = d->a.box;
	uint32_t err;
	uint64_t ref;
	unsigned n;
	void *p;

	assert_true(tux_latch_try(&d->a.dx->tx.latch));
	duo_ring(&d->a, TUX_DOORBELL_RAW);
	err = atomic_exchange(&b->err, 0);
	assert_int_equal(tux_msgbox_reserve(b, 8, 0, false, &p, &ref), 0);
	atomic_store(&b->err, err);
	for (n = 0; n < 4; n++) {
		d->a.tcp_n = 0;
		while (duo_tcp_out(&d->a, SIZE_MAX))
			;
	}
	assert_int_equal(d->a.tcp_n, 0);
	tux_latch_drop(&d->a.dx->tx.latch);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(effects__come_to_an_end),
		T(may__each_condition),
		T(room__is_a_frame),
		T(fin__with_what_has_begun),
		T(frame__a_fragment),
		T(frame__takes_turns_with_the_stream),
		cmocka_unit_test(need__of_each_type),
		T(in__piece_by_piece),
		T(in__empty_and_cancelled),
		T(in__nonsense),
		T(in__out_of_place),
		T(in__room),
		T(in__fin_and_a_late_message),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
