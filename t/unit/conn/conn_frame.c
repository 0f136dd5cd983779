/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The beginning of a frame.
 */
#include "conn/conn_frame.h"
#include "duo.h"

static void frame__header_and_body(void **state)
{
	struct duo *d = *state;
	struct tux_conn_out *o = &d->a.c->out;
	const struct tux_trace *t = &d->log_a.last[TUX_TRACE_FRAME_OUT];
	struct tux_frame f;

	tux_conn_frame(d->a.c, TUX_FRAME_DATA, 0x123456789aull, 700);
	assert_int_equal(o->hdr_len, TUX_FRAME_HDR);
	assert_int_equal(o->hdr_left, TUX_FRAME_HDR);
	assert_int_equal(o->type, TUX_FRAME_DATA);
	assert_int_equal(o->left, 700);
	assert_true(o->busy);
	assert_int_equal(tux_frame_decode(&f, o->hdr), 0);
	assert_int_equal(f.type, TUX_FRAME_DATA);
	assert_int_equal(f.len, 700);
	assert_true(f.off == 0x123456789aull);
	assert_int_equal(d->log_a.n[TUX_TRACE_FRAME_OUT], 1);
	assert_int_equal(t->n[0], TUX_FRAME_DATA);
	assert_true(t->n[1] == 0x123456789aull);
	assert_int_equal(t->n[2], 700);
}

/* The stream goes on where it was: the frame only says what comes next. */
static void frame__leaves_the_stream_alone(void **state)
{
	struct duo *d = *state;
	struct tux_conn_out *o = &d->a.c->out;
	struct tux_frame f;

	o->off = 77;
	o->marker = o->fin = true;
	tux_conn_frame(d->a.c, TUX_FRAME_SWITCH, 77, 0);
	assert_int_equal(o->left, 0);
	assert_true(o->busy);
	assert_true(o->off == 77);
	assert_true(o->marker && o->fin);
	assert_false(o->sw || o->raw || o->latched || o->fin_sent);
	assert_int_equal(tux_frame_decode(&f, o->hdr), 0);
	assert_int_equal(f.type, TUX_FRAME_SWITCH);
	assert_int_equal(f.len, 0);
	assert_true(f.off == 77);
	o->marker = o->fin = false;
}

/* A longer header before it leaves nothing behind. */
static void frame__after_a_longer_header(void **state)
{
	struct duo *d = *state;
	struct tux_conn_out *o = &d->a.c->out;
	struct tux_frame f;

	o->hdr_len = o->hdr_left = sizeof(o->hdr);
	memset(o->hdr, 0xff, sizeof(o->hdr));
	tux_conn_frame(d->a.c, TUX_FRAME_FIN, 9, 0);
	assert_int_equal(o->hdr_len, TUX_FRAME_HDR);
	assert_int_equal(o->hdr_left, TUX_FRAME_HDR);
	assert_int_equal(tux_frame_decode(&f, o->hdr), 0);
	assert_int_equal(f.type, TUX_FRAME_FIN);
	assert_true(f.off == 9);
}

int main(void)
{
#define T(name) \
	cmocka_unit_test_setup_teardown(name, duo_setup_switched, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(frame__header_and_body),
		T(frame__leaves_the_stream_alone),
		T(frame__after_a_longer_header),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
