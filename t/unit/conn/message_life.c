/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The birth and the end of a connection's messages, and their doorbell.
 */
#include <errno.h>

#include "conn/message_begin.h"
#include "conn/message_life.h"
#include "conn/message_rx.h"
#include "conn/message_tx.h"
#include "conn/settle.h"
#include "duo.h"

static int try_send(struct duo_end *e)
{
	uint64_t ref;
	void *p;

	return tux_msgbox_reserve(e->box, 1, 0, false, &p, &ref);
}

/* The error of the next message that is settled; -1: none is. */
static int next_err(struct duo_end *e)
{
	uint64_t ref;
	int err;

	return tux_msgbox_settled(e->box, &ref, &err) ? err : -1;
}

/* ---- birth ---- */

static void new__takes_up_the_box(void **state)
{
	struct tux_msgbox *b = duo_box();
	struct tux_messages *g;
	struct test_mem mem;

	(void)state;
	test_mem_init(&mem, 0);
	tux_msgbox_refuse(b, ENOTCONN);
	b->tx[0].taken = 7;
	b->tx[1].taken = 3;
	assert_null(tux_messages_new(&mem.mem, b));
	assert_int_equal(atomic_load(&b->err), ENOTCONN);
	mem.left = -1;
	g = tux_messages_new(&mem.mem, b);
	assert_non_null(g);
	assert_int_equal(atomic_load(&b->err), 0);
	assert_int_equal(g->tx[0].note, 7);
	assert_int_equal(g->tx[1].note, 3);
	g->tx[0].note = 9;
	tux_messages_free(&mem.mem, g);
	assert_int_equal(b->tx[0].taken, 9);
	assert_int_equal(mem.live, 0);
	tux_messages_free(&mem.mem, NULL);
	free(b);
}

/* ---- proved, or not ---- */

static void proved__tells_of_room(void **state)
{
	struct duo *d = *state;

	d->a.c->todo = 0;
	tux_messages_silent(d->a.c);
	assert_int_equal(try_send(&d->a), -EPROTONOSUPPORT);
	tux_messages_proved(d->a.c);
	assert_int_equal(try_send(&d->a), 0);
	assert_int_equal(d->a.c->todo, TUX_DO_ROOM);
}

static void proved__peer_takes_none(void **state)
{
	struct duo *d = *state;

	duo_hand_in(&d->a, 100, 0, 'm');
	d->a.c->peer_messages = false;
	tux_messages_proved(d->a.c);
	assert_int_equal(next_err(&d->a), EPROTONOSUPPORT);
	assert_int_equal(try_send(&d->a), -EPROTONOSUPPORT);
	assert_true(d->a.c->msg->ended);
	/* And that stays so. */
	d->a.c->peer_messages = true;
	tux_messages_proved(d->a.c);
	assert_int_equal(try_send(&d->a), -EPROTONOSUPPORT);
	/* After the end nobody is silent. */
	atomic_store(&d->a.box->err, EIO);
	tux_messages_silent(d->a.c);
	assert_int_equal(try_send(&d->a), -EIO);
}

static void silent__what_waits_fails(void **state)
{
	struct duo *d = *state;

	duo_hand_in(&d->a, 100, 0, 'm');
	d->a.ready_n = 0;
	duo_drop(&d->a);
	duo_pass(d, TUX_SEC(1));
	while (d->a.c->reason != TUX_REASON_PEER_SILENT) {
		duo_drop(&d->a);
		duo_pass(d, TUX_SEC(1));
	}
	assert_int_equal(next_err(&d->a), EPROTONOSUPPORT);
	assert_true(d->a.ready_n > 0);
	assert_true(tux_messages_idle(d->a.c));
}

/* One that was handed in while others were refused. */
static void silent__what_comes_late_fails(void **state)
{
	struct duo *d = *state;

	tux_messages_silent(d->a.c);
	atomic_store(&d->a.box->err, 0);
	duo_hand_in(&d->a, 100, 0, 'm');
	atomic_store(&d->a.box->err, EPROTONOSUPPORT);
	tux_messages_rung(d->a.c);
	assert_int_equal(next_err(&d->a), EPROTONOSUPPORT);
	assert_true(tux_messages_idle(d->a.c));
}

/* Ordered ones that were refused leave no gap: the peer does not wait for them. */
static void silent__order_begins_behind(void **state)
{
	struct duo *d = *state;
	struct tux_msg_out *m;

	duo_hand_in(&d->a, 20000, TUX_MSG_ORDERED, 'm');
	duo_hand_in(&d->a, 100, TUX_MSG_ORDERED, 'm');
	tux_messages_silent(d->a.c);
	assert_int_equal(next_err(&d->a), EPROTONOSUPPORT);
	assert_int_equal(next_err(&d->a), EPROTONOSUPPORT);
	tux_messages_proved(d->a.c);
	duo_hand_in(&d->a, 100, TUX_MSG_ORDERED, 'm');
	m = tux_message_begin_next(d->a.c, 0);
	assert_non_null(m);
	assert_int_equal(m->order, 0);
}

/* A message was settled, or none can go now: what follows? */
static void settle_messages(struct duo *d)
{
	tux_conn_mark(d->a.c, TUX_DIRTY_MESSAGE);
	tux_conn_settle(d->a.c, d->now);
	duo_effects(&d->a);
}

/* A connection that takes none is left alone by all of it. */
static void none__is_no_trouble(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	tux_messages_proved(c);
	tux_messages_silent(c);
	tux_messages_end(c, EIO);
	tux_messages_fail(c, EIO);
	tux_messages_rung(c);
	settle_messages(d);
	assert_true(tux_messages_idle(c));
	assert_false(tux_messages_want_room(c));
	assert_false(tux_messages_hopeless(c));
	assert_int_equal(d->a.ready_n, 0);
	assert_int_equal(c->todo, 0);
}

/* ---- idle ---- */

static void idle__nothing_waits_or_is_under_way(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_true(tux_messages_idle(c));
	duo_hand_in(&d->a, 100, 0, 'm');
	assert_false(tux_messages_idle(c));
	c->msg->ended = true;		/* it will not begin */
	assert_true(tux_messages_idle(c));
	c->msg->ended = false;
	duo_ring(&d->a, TUX_DOORBELL_MESSAGE);
	duo_carry(&d->a);
	assert_int_equal(c->msg->tx[0].first, 0);
	assert_false(tux_messages_idle(c));
	c->msg->ended = true;		/* but this one has begun */
	assert_false(tux_messages_idle(c));
	c->msg->ended = false;
	duo_pass(d, TUX_MSEC(1));
	duo_settle(d);
	assert_true(tux_messages_idle(c));
}

/* ---- the end ---- */

static void end__new_ones_fail_begun_ones_go_on(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_msg_pick k;

	duo_hand_in(&d->a, 100, 0, 'm');
	assert_true(duo_pick(c, 1000, &k));
	duo_hand_in(&d->a, 100, 0, 'm');
	tux_messages_end(c, ESHUTDOWN);
	assert_int_equal(try_send(&d->a), -ESHUTDOWN);
	assert_int_equal(d->a.box->slot[0].note.state, TUX_NOTE_READY);
	assert_int_equal(d->a.box->slot[1].note.state, TUX_NOTE_FAILED);
	assert_int_equal(d->a.box->slot[1].note.err, ESHUTDOWN);
	/* The first word counts. */
	tux_messages_end(c, EIO);
	assert_int_equal(try_send(&d->a), -ESHUTDOWN);
	tux_conn_kick(c);
	duo_settle(d);
	duo_pass(d, TUX_MSEC(1));
	duo_settle(d);
	assert_int_equal(d->a.box->slot[0].note.state, TUX_NOTE_SENT);
}

static void fail__all_in_both_lanes(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	duo_hand_in(&d->a, 100, 0, 'm');
	duo_send(&d->a, 20000, 0, 'b');
	duo_narrow(c);
	duo_drop(&d->a);
	duo_hand_in(&d->a, 100, 0, 'm');
	tux_messages_fail(c, EIO);
	assert_int_equal(d->a.box->slot[0].note.state, TUX_NOTE_FAILED);
	assert_int_equal(d->a.box->slot[1].note.state, TUX_NOTE_FAILED);
	assert_int_equal(d->a.box->slot[TUX_MSG_SMALL_N].note.state,
			 TUX_NOTE_FAILED);
	assert_int_equal(next_err(&d->a), EIO);
	assert_int_equal(next_err(&d->a), EIO);
	assert_int_equal(next_err(&d->a), EIO);
	assert_int_equal(next_err(&d->a), -1);
	assert_true(tux_messages_idle(c));
	assert_int_equal(c->msg->tx[0].first, c->msg->tx[0].next);
	assert_int_equal(c->msg->tx[1].first, c->msg->tx[1].next);
}

/* FIN waits for messages that wait for room that nobody can tell of. */
static void hopeless__only_then_they_fail(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->msg->tx[0].limit = 0;
	duo_hand_in(&d->a, 100, 0, 'm');
	c->tx.path = TUX_PATH_FRAMES;
	atomic_store(&d->a.dx->tx.shut, 1);
	settle_messages(d);	/* frames come to us */
	assert_int_equal(next_err(&d->a), -1);
	c->rx.path = TUX_PATH_PLAIN;
	c->tx.path = TUX_PATH_TUX;
	settle_messages(d);
	assert_int_equal(next_err(&d->a), -1);
	c->tx.path = TUX_PATH_FRAMES;
	c->msg->tx[1].next++;		/* one is under way */
	settle_messages(d);
	assert_int_equal(next_err(&d->a), -1);
	c->msg->tx[1].next--;
	c->msg->tx[0].next++;
	settle_messages(d);
	assert_int_equal(next_err(&d->a), -1);
	c->msg->tx[0].next--;
	atomic_store(&d->a.dx->tx.shut, 0);
	settle_messages(d);
	assert_int_equal(next_err(&d->a), -1);
	assert_true(c->tx.buf.end == UINT64_MAX);
	atomic_store(&d->a.dx->tx.shut, 1);
	settle_messages(d);
	assert_int_equal(next_err(&d->a), ENOBUFS);
	/* And so FIN goes. */
	assert_true(c->tx.buf.end == 0);
	c->rx.path = TUX_PATH_TUX;
}

/* ---- the doorbell ---- */

static void rung__what_came_too_late_fails(void **state)
{
	struct duo *d = *state;
	uint64_t ref;
	void *p;

	assert_int_equal(tux_msgbox_reserve(d->a.box, 1, 0, false, &p, &ref),
			 0);
	d->a.c->msg->ended = true;
	atomic_store(&d->a.box->err, EPIPE);
	tux_msgbox_commit(d->a.box, ref);
	tux_messages_rung(d->a.c);
	assert_int_equal(next_err(&d->a), EPIPE);
	assert_int_equal(try_send(&d->a), -EPIPE);
}

static void rung__tells_tcp_when_frames_carry_them(void **state)
{
	struct duo *d = *state;

	duo_hand_in(&d->a, 100, 0, 'm');
	d->a.tcp_n = 0;
	duo_ring(&d->a, TUX_DOORBELL_MESSAGE);
	assert_int_equal(d->a.tcp_n, 0);
	assert_false(tux_list_empty(&d->a.c->sendq));
	tux_conn_stall(d->a.c, d->now);
	duo_effects(&d->a);
	d->a.tcp_n = 0;
	duo_ring(&d->a, TUX_DOORBELL_MESSAGE);
	assert_int_equal(d->a.tcp_n, 1);
}

/* Closed: what arrived has no reader, and its room is free; one that waits for
 * its turn keeps its place until that comes. */
static void rung__closed_frees_what_arrived(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	struct tux_message_hdr h = { .total = 10, .len = 10 };
	uint8_t bytes[10] = { 0 };

	assert_int_equal(tux_message_put(c, &h, bytes, false), 0);
	h.id = 1;
	h.pos = 64;
	h.flags = TUX_MESSAGE_ORDER;
	h.order = 1;
	assert_int_equal(tux_message_put(c, &h, bytes, false), 0);
	h.id = 2;
	h.pos = 128;
	h.flags = 0;
	h.order = 0;
	h.len = 5;
	assert_int_equal(tux_message_put(c, &h, bytes, false), 0);
	tux_messages_rung(c);
	assert_int_equal(c->msg->rx[0].first, 0);
	c->closed = true;
	tux_messages_rung(c);
	assert_int_equal(c->msg->rx[0].first, 1);
	assert_int_equal(c->msg->slot[1].in.state, TUX_MSG_WHOLE);
	assert_int_equal(c->msg->slot[2].in.state, TUX_MSG_PART);
	h = (struct tux_message_hdr){
		.id = 3, .pos = 192, .total = 1, .len = 1,
		.flags = TUX_MESSAGE_ORDER,
	};
	assert_int_equal(tux_message_put(c, &h, bytes, false), 0);
	tux_messages_rung(c);
	assert_int_equal(c->msg->rx[0].first, 2);
	c->closed = false;
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new__takes_up_the_box),
		T(proved__tells_of_room, duo_setup_messages),
		T(proved__peer_takes_none, duo_setup_messages),
		T(silent__what_waits_fails, duo_setup_open_messages),
		T(silent__what_comes_late_fails, duo_setup_open_messages),
		T(silent__order_begins_behind, duo_setup_messages),
		T(none__is_no_trouble, duo_setup_switched),
		T(idle__nothing_waits_or_is_under_way, duo_setup_messages),
		T(end__new_ones_fail_begun_ones_go_on, duo_setup_messages),
		T(fail__all_in_both_lanes, duo_setup_messages),
		T(hopeless__only_then_they_fail, duo_setup_messages),
		T(rung__what_came_too_late_fails, duo_setup_messages),
		T(rung__tells_tcp_when_frames_carry_them, duo_setup_messages),
		T(rung__closed_frees_what_arrived, duo_setup_messages),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
