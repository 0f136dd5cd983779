/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stream's window, in packets and in frames.
 */
#include <errno.h>

#include "conn/conn_tcp_out.h"
#include "conn/window.h"
#include "duo.h"

static uint8_t bytes[DUO_RING];

/* As duo_setup_messages, and a is on TCP. */
static int setup(void **state)
{
	struct duo *d;

	duo_setup_messages(state);
	d = *state;
	duo_stall(&d->a);
	return 0;
}

/* ---- what this end receives ---- */

static void tell__what_has_come_and_the_room(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	char buf[1000];
	uint64_t got;

	assert_int_equal(tux_window_tell(c, &got), DUO_RING);
	assert_true(got == 0);
	assert_int_equal(duo_write(&d->a, bytes, 1000), 1000);
	duo_settle(d);
	assert_int_equal(tux_window_tell(c, &got), DUO_RING - 1000);
	assert_true(got == 1000);
	assert_int_equal(duo_read(&d->b, buf, 1000), 1000);
	assert_int_equal(tux_window_tell(c, &got), DUO_RING);
	assert_true(atomic_load(&d->b.dx->wake_at) == 1000 + DUO_RING / 2);
	/* It waits for room in the ring, and is to be rung at each read. */
	atomic_store(&d->b.dx->wake_at, 0);
	c->in.starved = true;
	tux_window_tell(c, &got);
	assert_true(atomic_load(&d->b.dx->wake_at) == 0);
	c->in.starved = false;
}

static void opened__when_half_of_the_ring_is_read(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;
	uint64_t got;

	tux_window_tell(c, &got);
	c->todo = 0;
	tux_window_opened(c, DUO_RING / 2 - 1);
	assert_int_equal(c->todo, 0);
	tux_window_opened(c, DUO_RING / 2);
	assert_int_equal(c->todo, TUX_DO_ACK);
	/* The peer sends in frames: what ROOM has told counts. */
	c->todo = 0;
	c->rx.path = TUX_PATH_FRAMES;
	c->rx.room_end = DUO_RING - 100;
	tux_window_tell(c, &got);
	assert_true(atomic_load(&d->b.dx->wake_at) == DUO_RING / 2 - 100);
	tux_window_opened(c, DUO_RING / 2 - 101);
	assert_int_equal(c->todo, 0);
	tux_window_opened(c, DUO_RING / 2 - 100);
	assert_int_equal(c->todo, TUX_DO_ROOM);
	assert_true(c->dirty & TUX_DIRTY_ROOM);
	assert_true(tux_window_end(c) == DUO_RING);
	assert_true(atomic_load(&d->b.dx->wake_at) == DUO_RING / 2);
	/* It would not know what that means. */
	c->todo = 0;
	c->peer_bounds = false;
	tux_window_opened(c, DUO_RING / 2);
	assert_int_equal(c->todo, TUX_DO_ACK);
	c->todo = 0;
	c->rx.path = TUX_PATH_PLAIN;
	tux_window_opened(c, DUO_RING / 2);
	assert_int_equal(c->todo, 0);
	c->rx.path = TUX_PATH_TUX;
}

static void in_frames__is_told_at_once(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	c->todo = 0;
	duo_frame_in(&d->b, TUX_FRAME_DATA, 0, bytes, 10);
	assert_int_equal(c->rx.path, TUX_PATH_TUX);	/* at N */
	assert_int_equal(c->todo & TUX_DO_ROOM, 0);
	duo_frame_in(&d->b, TUX_FRAME_DATA, 10, bytes, 10);
	assert_int_equal(c->rx.path, TUX_PATH_FRAMES);
	assert_int_equal(c->todo & TUX_DO_ROOM, TUX_DO_ROOM);
	c->todo = 0;
	duo_frame_in(&d->b, TUX_FRAME_DATA, 20, bytes, 10);
	assert_int_equal(c->todo & TUX_DO_ROOM, 0);
	c->peer_bounds = false;
	tux_window_in_frames(c);
	assert_int_equal(c->todo & TUX_DO_ROOM, 0);
}

static void end__for_peers_that_know_it(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->b.c;

	assert_int_equal(duo_write(&d->a, bytes, 1000), 1000);
	duo_settle(d);
	assert_true(tux_window_end(c) == DUO_RING);
	c->peer_bounds = false;
	assert_true(tux_window_end(c) == 0);
	c->peer_bounds = true;
	c->rx.path = TUX_PATH_PLAIN;
	assert_true(tux_window_end(c) == 0);
	c->rx.path = TUX_PATH_TUX;
}

/* ---- what this end sends ---- */

static void frames__end_with_the_window(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_false(tux_window_shut(c));
	assert_int_equal(duo_write(&d->a, bytes, 3000), 3000);
	assert_int_equal(tux_window_frames(c), 3000);
	c->tx.buf.limit = 1000;
	c->out.off = 1;
	assert_int_equal(tux_window_frames(c), 999);
	assert_false(tux_window_shut(c));
	assert_false(tux_window_spent(c));
	c->out.off = 1000;
	assert_int_equal(tux_window_frames(c), 0);
	assert_true(tux_window_shut(c));
	assert_true(tux_window_spent(c));
	c->peer_bounds = false;
	assert_false(tux_window_spent(c));
	c->peer_bounds = true;
	c->out.off = 0;			/* at N: the peer learns of it by another */
	assert_int_equal(tux_window_frames(c), 999);
	c->out.off = 1001;		/* sent before it was bound */
	assert_int_equal(tux_window_frames(c), 0);
	c->out.off = 1000;
	c->tx.path = TUX_PATH_TUX;
	assert_int_equal(tux_window_frames(c), 0);
	assert_false(tux_window_shut(c));
	c->tx.path = TUX_PATH_FRAMES;
	c->out.off = 0;
}

/* A sender is not bound to the window while its peer cannot tell it in frames. */
static void frames__without_a_bound(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_messages *g = c->msg;

	assert_int_equal(duo_write(&d->a, bytes, 3000), 3000);
	c->tx.buf.limit = 1000;
	c->msg = NULL;
	assert_int_equal(tux_window_frames(c), 3000);
	c->msg = g;
	c->peer_bounds = false;
	assert_int_equal(tux_window_frames(c), 3000);
	c->peer_bounds = true;
	c->rx.path = TUX_PATH_PLAIN;
	assert_int_equal(tux_window_frames(c), 3000);
	c->rx.path = TUX_PATH_TUX;
	c->rx.tcp_ended = true;
	assert_int_equal(tux_window_frames(c), 3000);
	c->rx.tcp_ended = false;
	c->tx.raw_wanted = true;
	assert_int_equal(tux_window_frames(c), 3000);
	c->tx.raw_wanted = false;
	c->in.starved = true;
	assert_int_equal(tux_window_frames(c), 3000);
	c->in.starved = false;
	c->peer_messages = false;
	assert_int_equal(tux_window_frames(c), 3000);
	c->peer_messages = true;
	assert_int_equal(tux_window_frames(c), 999);
}

static void heard__only_grows(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint64_t was = c->tx.buf.limit;

	tux_window_heard(c, 0);
	assert_true(c->tx.buf.limit == was);
	assert_int_equal(c->dirty & TUX_DIRTY_ROOM, 0);
	tux_window_heard(c, was + 5);
	assert_true(c->tx.buf.limit == was + 5);
	assert_true(c->dirty & TUX_DIRTY_ROOM);
	tux_window_heard(c, was + 4);
	assert_true(c->tx.buf.limit == was + 5);
	c->tx.path = TUX_PATH_PLAIN;
	tux_window_heard(c, was + 6);
	assert_true(c->tx.buf.limit == was + 5);
	c->tx.path = TUX_PATH_FRAMES;
}

/* ---- both ---- */

/* b's application reads its stream only after a message, which lies behind more of
 * the stream than the ring takes. */
static void both__a_message_behind_the_stream(void **state)
{
	struct duo *d = *state;
	struct tux_msg m;
	uint8_t buf[DUO_RING];

	assert_int_equal(duo_write(&d->a, bytes, DUO_RING), DUO_RING);
	duo_settle(d);
	assert_int_equal(duo_write(&d->a, bytes, DUO_RING), DUO_RING);
	duo_settle(d);
	assert_int_equal(tux_pipe_len(&d->b.dx->rxp), DUO_RING);
	assert_true(tux_window_shut(d->a.c));
	assert_false(tux_conn_tcp_due(d->a.c));
	duo_send(&d->a, 100, 0, 'm');
	duo_settle(d);
	assert_int_equal(tux_msgbox_take(d->b.box, &m, 1), 1);
	assert_false(d->b.c->in.starved);
	assert_int_equal(duo_read(&d->b, buf, DUO_RING), DUO_RING);
	duo_settle_all(d);
	assert_int_equal(duo_read(&d->b, buf, DUO_RING), DUO_RING);
	assert_false(tux_window_shut(d->a.c));
}

/* The window is shut when the sender goes back: the peer learns it all the same. */
static void both__shut_from_the_beginning(void **state)
{
	struct duo *d = *state;
	uint8_t buf[DUO_RING];
	struct tux_frame f;

	assert_int_equal(duo_write(&d->a, bytes, DUO_RING), DUO_RING);
	duo_settle_all(d);
	assert_int_equal(duo_write(&d->a, bytes, DUO_RING), DUO_RING);
	duo_drop(&d->a);
	duo_drop(&d->b);
	duo_stall(&d->a);
	assert_true(tux_window_shut(d->a.c));
	assert_true(duo_frame_out(&d->a, &f) > 0);
	assert_int_equal(f.type, TUX_FRAME_DATA);
	assert_true(f.off == DUO_RING - 1);
	assert_int_equal(f.len, 1);
	duo_settle_all(d);
	assert_int_equal(d->b.c->rx.path, TUX_PATH_FRAMES);
	assert_int_equal(duo_read(&d->b, buf, DUO_RING), DUO_RING);
	duo_settle_all(d);
	assert_int_equal(duo_read(&d->b, buf, DUO_RING), DUO_RING);
}

int main(void)
{
#define T(name, setup) cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(tell__what_has_come_and_the_room, duo_setup_messages),
		T(opened__when_half_of_the_ring_is_read, duo_setup_messages),
		T(in_frames__is_told_at_once, duo_setup_messages),
		T(end__for_peers_that_know_it, duo_setup_messages),
		T(frames__end_with_the_window, setup),
		T(frames__without_a_bound, setup),
		T(heard__only_grows, setup),
		T(both__a_message_behind_the_stream, setup),
		T(both__shut_from_the_beginning, duo_setup_messages),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
