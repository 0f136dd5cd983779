/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes to TCP: the marker, frames.
 */
#include <errno.h>

#include "duo.h"

#include "conn/back.h"
#include "conn/conn_life.h"
#include "conn/upgrade.h"

/* The type of that frame; TCP takes none of it. */
static uint8_t frame_next(struct duo_end *e)
{
	uint8_t hdr[TUX_FRAME_HDR];
	struct tux_frame f;

	assert_int_equal(tux_conn_tcp_out(e->c, hdr, sizeof(hdr), *e->now),
			 sizeof(hdr));
	tux_conn_tcp_sent(e->c, 0, *e->now);
	assert_int_equal(tux_frame_decode(&f, hdr), 0);
	return f.type;
}

/* ---- the marker ---- */

/* As setup_proved, and a's generation is agreed to, at byte 3. */
static int setup_acked(void **state)
{
	struct duo *d;
	struct tux_conn *c;

	duo_setup_proved(state);
	d = *state;
	c = d->a.c;
	c->tx.ahead = 3;
	c->tx.announce_at = d->now;
	duo_derive(&d->a, TUX_DIRTY_ANNOUNCE);
	tux_upgrade_prepared(c, c->tx.gen);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.dx->tx.state, TUX_TX_ACKED);
	return 0;
}

static void commit__at_n_and_whole(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_int_equal(duo_tcp_out(&d->a, SIZE_MAX), 0);
	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	assert_int_equal(duo_tcp_out(&d->a, SIZE_MAX), TUX_MARKER_LEN);
	assert_memory_equal(d->b.in.p + 3, d->a.dx->tx.marker,
			    TUX_MARKER_LEN);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	assert_int_equal(c->stats.tcp_tx, 3);
	assert_false(c->out.marker);
	assert_false(c->out.latched);
	assert_true(tux_latch_try(&d->a.dx->tx.latch));
	tux_latch_drop(&d->a.dx->tx.latch);
	assert_int_equal(duo_tcp_out(&d->a, SIZE_MAX), 0);
}

/* The latch is held from the question to the answer. */
static void commit__tcp_took_nothing(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint8_t buf[16];

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	assert_int_equal(tux_conn_tcp_out(c, buf, 16, d->now), 16);
	assert_false(tux_latch_try(&d->a.dx->tx.latch));
	tux_conn_tcp_sent(c, 0, d->now);
	assert_true(tux_latch_try(&d->a.dx->tx.latch));
	assert_int_equal(c->tx.path, TUX_PATH_PLAIN);
	/* A writer is there. */
	assert_int_equal(tux_conn_tcp_out(c, buf, 16, d->now), 0);
	assert_true(c->retry_at == d->now + TUX_USEC(100));
	tux_latch_drop(&d->a.dx->tx.latch);
	assert_int_equal(tux_conn_tcp_out(c, buf, 16, d->now), 16);
	tux_conn_tcp_sent(c, 16, d->now);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
}

static void commit__in_pieces(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	assert_int_equal(duo_tcp_out(&d->a, 5), 5);
	assert_true(c->out.marker);
	assert_int_equal(d->a.dx->tx.marker_left, 11);
	assert_int_equal(duo_write(&d->a, "d", 1), -EAGAIN);
	assert_int_equal(duo_tcp_out(&d->a, 10), 10);
	assert_true(c->out.marker);
	d->a.ready_n = 0;
	assert_int_equal(duo_tcp_out(&d->a, SIZE_MAX), 1);
	assert_memory_equal(d->b.in.p + 3, d->a.dx->tx.marker,
			    TUX_MARKER_LEN);
	assert_false(c->out.marker);
	assert_int_equal(d->a.dx->tx.marker_left, 0);
	assert_int_equal(d->a.ready_n, 1);
	assert_int_equal(duo_write(&d->a, "d", 1), 1);
}

/* ---- frames out ---- */

static void out__nothing_while_tux_carries_it(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	assert_int_equal(duo_tcp_out(&d->a, SIZE_MAX), 0);
	duo_stall(&d->a);
	tux_conn_die(d->a.c, EIO, TUX_REASON_NONE);
	duo_derive(&d->a, 0);
	assert_int_equal(duo_tcp_out(&d->a, SIZE_MAX), 0);
}

static void out__data(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_frame f;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_drop(&d->a);
	duo_stall(&d->a);
	d->a.ready_n = 0;
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR + 3);
	assert_int_equal(f.type, TUX_FRAME_DATA);
	assert_int_equal(f.len, 3);
	assert_int_equal(f.off, 0);
	assert_memory_equal(d->b.in.p + d->b.in.len - 3, "abc", 3);
	assert_int_equal(c->stats.frame_tx, 3);
	/* The kernel has them: their place is free. */
	assert_true(tux_pipe_tail(&d->a.dx->txp) == 3);
	assert_true(c->tx.buf.got == 3);
	assert_int_equal(d->a.ready_n, 1);
	assert_int_equal(duo_frame_out(&d->a, &f), 0);
	assert_int_equal(duo_write(&d->a, "de", 2), 2);
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR + 2);
	assert_int_equal(f.off, 3);
}

/* TCP takes a piece of the header, then of the body. */
static void out__in_pieces(void **state)
{
	struct duo *d = *state;
	struct tux_frame f;
	size_t at = d->b.in.len;
	uint8_t buf[20];

	assert_int_equal(duo_write(&d->a, "abcdefgh", 8), 8);
	duo_drop(&d->a);
	duo_stall(&d->a);
	assert_int_equal(duo_tcp_out(&d->a, 7), 7);
	assert_int_equal(duo_tcp_out(&d->a, 11), 11);
	assert_true(tux_pipe_tail(&d->a.dx->txp) == 2);
	assert_true(d->a.c->out.busy);
	/* No more than there is room for. */
	assert_int_equal(tux_conn_tcp_out(d->a.c, buf, 4, d->now), 4);
	assert_memory_equal(buf, "cdef", 4);
	tux_conn_tcp_sent(d->a.c, 0, d->now);
	assert_int_equal(duo_tcp_out(&d->a, SIZE_MAX), 6);
	assert_false(d->a.c->out.busy);
	assert_int_equal(tux_frame_decode(&f, d->b.in.p + at), 0);
	assert_int_equal(f.len, 8);
	assert_memory_equal(d->b.in.p + at + TUX_FRAME_HDR, "abcdefgh", 8);
}

/* An answer to no question. */
static void out__nothing_is_under_way(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	duo_stall(&d->a);
	d->a.ready_n = 0;
	tux_conn_tcp_sent(c, 0, d->now);
	assert_false(c->out.busy);
	assert_int_equal(d->a.ready_n, 0);
	assert_int_equal(c->tx.path, TUX_PATH_FRAMES);
}

static void out__fin_and_then_nothing(void **state)
{
	struct duo *d = *state;
	struct tux_frame f;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_drop(&d->a);
	duo_stall(&d->a);
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR + 3);
	assert_int_equal(f.type, TUX_FRAME_DATA);
	assert_int_equal(d->a.shut_n, 0);
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR);
	assert_int_equal(f.type, TUX_FRAME_FIN);
	assert_int_equal(f.off, 3);
	assert_true(d->a.c->out.fin_sent);
	/* TCP has everything: that is as good as taken. */
	assert_true(tux_sendbuf_done(&d->a.c->tx.buf));
	assert_int_equal(d->a.shut_n, 1);
	assert_int_equal(duo_frame_out(&d->a, &f), 0);
}

/* The end had gone first, and then the path: the bytes follow. */
static void out__bytes_behind_fin(void **state)
{
	struct duo *d = *state;
	struct tux_frame f;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_drop(&d->a);
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR);
	assert_int_equal(f.type, TUX_FRAME_FIN);
	assert_false(tux_sendbuf_done(&d->a.c->tx.buf));
	duo_stall(&d->a);
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR + 3);
	assert_true(tux_sendbuf_done(&d->a.c->tx.buf));
	assert_int_equal(d->a.shut_n, 1);
}

static void out__order_of_what_is_due(void **state)
{
	static const uint8_t want[] = {
		TUX_FRAME_DATA, TUX_FRAME_FIN, TUX_FRAME_RAW, TUX_FRAME_PLAIN,
		TUX_FRAME_SWITCH,
	};
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_frame f;
	unsigned i;

	assert_int_equal(duo_write(&d->a, "abc", 3), 3);
	duo_stall(&d->a);
	c->tx.buf.end = 5;
	c->out.fin = c->out.sw = true;
	for (i = 0; i < N_OF(want); i++) {
		assert_int_equal(frame_next(&d->a), want[i]);
		/* Were it due before, what is left would go behind it. */
		if (want[i] == TUX_FRAME_DATA)
			c->out.raw = c->out.plain = true;
		/* nothing follows these */
		if (want[i] == TUX_FRAME_RAW)
			c->out.raw = c->out.busy = false;
		else if (want[i] == TUX_FRAME_PLAIN)
			c->out.plain = c->out.busy = false;
		else
			assert_true(duo_frame_out(&d->a, &f) > 0);
	}
	assert_int_equal(f.off, 3);
	assert_int_equal(c->tx.path, TUX_PATH_TUX);
	assert_false(c->out.fin || c->out.raw || c->out.sw);
}

/* Behind RAW the application writes TCP itself again. */
static void out__raw_ends_it(void **state)
{
	struct duo *d = *state;
	struct tux_frame f;

	duo_stall(&d->a);
	atomic_store(&d->a.dx->tx.hold, 1);
	atomic_store(&d->a.dx->tx.state, TUX_TX_RAW);
	d->a.c->tx.raw_wanted = true;
	d->a.c->tx.raw_why = TUX_REASON_PINNED;
	d->a.c->out.raw = true;
	assert_int_equal(duo_write(&d->a, "x", 1), -EAGAIN);
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR);
	assert_int_equal(atomic_load(&d->a.dx->tx.hold), 0);
	assert_false(d->a.c->out.raw);
	assert_int_equal(d->a.c->tx.path, TUX_PATH_RAW);
	assert_int_equal(d->a.c->reason, TUX_REASON_PINNED);
	assert_int_equal(d->a.shut_n, 0);
	assert_int_equal(duo_write(&d->a, "x", 1), 1);
	assert_int_equal(d->b.in.p[d->b.in.len - 1], 'x');
}

/* It has shut meanwhile. */
static void out__raw_of_one_that_is_shut(void **state)
{
	struct duo *d = *state;
	struct tux_frame f;

	duo_stall(&d->a);
	atomic_store(&d->a.dx->tx.hold, 1);
	atomic_store(&d->a.dx->tx.state, TUX_TX_RAW);
	d->a.c->out.raw = true;
	assert_true(tux_duplex_shut(d->a.dx));
	assert_int_equal(duo_frame_out(&d->a, &f), TUX_FRAME_HDR);
	assert_int_equal(d->a.shut_n, 1);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(commit__at_n_and_whole, setup_acked),
		T(commit__tcp_took_nothing, setup_acked),
		T(commit__in_pieces, setup_acked),
		T(out__nothing_while_tux_carries_it, duo_setup_switched),
		T(out__data, duo_setup_switched),
		T(out__in_pieces, duo_setup_switched),
		T(out__nothing_is_under_way, duo_setup_switched),
		T(out__fin_and_then_nothing, duo_setup_switched),
		T(out__bytes_behind_fin, duo_setup_switched),
		T(out__order_of_what_is_due, duo_setup_switched),
		T(out__raw_ends_it, duo_setup_switched),
		T(out__raw_of_one_that_is_shut, duo_setup_switched),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
