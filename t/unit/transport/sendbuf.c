/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/sendbuf.h"

#include <errno.h>

#include "stream.h"

static struct stream s;
static struct tux_sendbuf b;

/* A stream from @off on, with @len bytes written and a window of @window. */
static void start(uint64_t off, uint32_t len, uint32_t window)
{
	stream_init(&s, off);
	tux_sendbuf_init(&b, &s.p, off, window);
	stream_write(&s, len);
}

static bool peek_is(uint32_t max, uint64_t off, uint32_t len, bool fin)
{
	struct tux_extent e;

	return tux_sendbuf_peek(&b, max, &e) && e.off == off &&
	       e.len == len && e.fin == fin;
}

static bool nothing(void)
{
	struct tux_extent e;

	return !tux_sendbuf_peek(&b, 100, &e);
}

/* Sends up to @max bytes. */
static struct tux_extent send_some(uint32_t max)
{
	struct tux_extent e;

	assert_true(tux_sendbuf_peek(&b, max, &e));
	tux_sendbuf_take(&b, &e);
	return e;
}

static void cut__keeps_fin_behind_all_bytes(void **state)
{
	struct tux_extent e = { .off = 7, .len = 100, .fin = true };

	(void)state;
	tux_extent_cut(&e, 100);
	assert_true(e.off == 7 && e.len == 100 && e.fin);
	tux_extent_cut(&e, 99);
	assert_true(e.off == 7 && e.len == 99 && !e.fin);
	e = (struct tux_extent){ .fin = true };
	tux_extent_cut(&e, 1);
	assert_true(!e.len && e.fin);
	tux_extent_cut(&e, 0);
	assert_true(!e.len && !e.fin);
}

static void peek__new_bytes_in_order(void **state)
{
	(void)state;
	start(1000, 250, 10000);
	assert_true(peek_is(100, 1000, 100, false));
	/* peek() takes nothing. */
	assert_true(peek_is(100, 1000, 100, false));
	send_some(100);
	send_some(100);
	assert_true(peek_is(100, 1200, 50, false));
	send_some(100);
	assert_true(nothing());
	stream_write(&s, 1);
	assert_true(peek_is(100, 1250, 1, false));
	assert_false(peek_is(0, 1250, 0, false));
}

static void peek__stops_at_the_window(void **state)
{
	(void)state;
	start(0, 250, 120);
	assert_false(tux_sendbuf_blocked(&b));
	send_some(100);
	assert_true(peek_is(100, 100, 20, false));
	send_some(100);
	assert_true(nothing());
	assert_true(tux_sendbuf_blocked(&b));
	assert_int_equal(tux_sendbuf_got(&b, 0, 150), 1);
	assert_false(tux_sendbuf_blocked(&b));
	assert_true(peek_is(100, 120, 30, false));
	send_some(100);
	tux_sendbuf_got(&b, 0, 250);
	send_some(100);
	/* There is nothing to send, so nothing is held back. */
	assert_false(tux_sendbuf_blocked(&b));
}

static void peek__lost_first_even_beyond_the_window(void **state)
{
	(void)state;
	start(0, 300, 200);
	send_some(100);
	send_some(100);
	tux_sendbuf_lost(&b, 100, 100, false);
	assert_false(tux_sendbuf_blocked(&b));
	assert_true(peek_is(60, 100, 60, false));
	send_some(60);
	assert_true(peek_is(60, 160, 40, false));
	send_some(60);
	assert_true(nothing());
	assert_true(tux_sendbuf_blocked(&b));
}

static void got__moves_the_tail_and_clips_lost(void **state)
{
	(void)state;
	start(50, 300, 1000);
	send_some(200);
	tux_sendbuf_lost(&b, 50, 150, false);
	assert_int_equal(tux_sendbuf_got(&b, 120, 1050), 1);
	assert_int_equal(tux_pipe_tail(&s.p), 120);
	assert_true(peek_is(1000, 120, 80, false));
	assert_int_equal(tux_sendbuf_got(&b, 120, 1050), 0);
	/* Neither goes back. */
	assert_int_equal(tux_sendbuf_got(&b, 60, 1000), 0);
	assert_int_equal(b.got, 120);
	assert_int_equal(b.limit, 1050);
	tux_sendbuf_got(&b, 220, 1050);
	assert_true(peek_is(1000, 250, 100, false));
	/* Bytes that `got` covers are not sent again. */
	tux_sendbuf_lost(&b, 100, 120, false);
	assert_int_equal(b.lost.n, 0);
	tux_sendbuf_lost(&b, 200, 40, false);
	assert_true(peek_is(1000, 220, 20, false));
}

static void got__beyond_what_was_sent(void **state)
{
	(void)state;
	start(0, 100, 1000);
	send_some(40);
	assert_int_equal(tux_sendbuf_got(&b, 41, 2000), -EBADMSG);
	assert_int_equal(b.got, 0);
	assert_int_equal(b.limit, 1000);
	tux_sendbuf_finish(&b, 100);
	send_some(59);
	assert_int_equal(tux_sendbuf_got(&b, 100, 0), -EBADMSG);
	send_some(1);
	assert_int_equal(tux_sendbuf_got(&b, 102, 0), -EBADMSG);
	assert_int_equal(tux_sendbuf_got(&b, 101, 0), 1);
	assert_int_equal(tux_pipe_tail(&s.p), 100);
}

static void fin__goes_with_the_last_bytes(void **state)
{
	(void)state;
	start(0, 150, 1000);
	tux_sendbuf_finish(&b, 150);
	assert_true(peek_is(100, 0, 100, false));
	send_some(100);
	assert_true(peek_is(100, 100, 50, true));
	send_some(100);
	assert_true(nothing());
	tux_sendbuf_got(&b, 150, 0);
	assert_false(tux_sendbuf_done(&b));
	tux_sendbuf_got(&b, 151, 0);
	assert_true(tux_sendbuf_done(&b));
}

static void fin__stands_alone_and_needs_no_window(void **state)
{
	(void)state;
	start(0, 100, 100);
	send_some(100);
	assert_true(nothing());
	tux_sendbuf_finish(&b, 100);
	assert_true(peek_is(0, 100, 0, true));
	assert_false(tux_sendbuf_blocked(&b));
	send_some(0);
	assert_true(nothing());
	assert_int_equal(b.next, 101);
	/* A second call changes nothing. */
	tux_sendbuf_finish(&b, 100);
	assert_true(nothing());
}

static void fin__waits_for_the_bytes_before_it(void **state)
{
	(void)state;
	start(0, 100, 60);
	tux_sendbuf_finish(&b, 100);
	send_some(1000);
	assert_true(nothing());
	assert_true(tux_sendbuf_blocked(&b));
	tux_sendbuf_got(&b, 0, 100);
	assert_true(peek_is(1000, 60, 40, true));
}

static void fin__is_sent_again_if_lost(void **state)
{
	(void)state;
	start(0, 100, 1000);
	tux_sendbuf_finish(&b, 100);
	send_some(100);
	tux_sendbuf_lost(&b, 90, 10, true);
	assert_true(peek_is(5, 90, 5, false));
	send_some(5);
	assert_true(peek_is(5, 95, 5, true));
	send_some(5);
	assert_true(nothing());
	tux_sendbuf_lost(&b, 100, 0, true);
	assert_true(peek_is(5, 100, 0, true));
	tux_sendbuf_got(&b, 100, 0);
	assert_true(peek_is(5, 100, 0, true));
	tux_sendbuf_got(&b, 101, 0);
	assert_true(nothing());
	assert_true(tux_sendbuf_done(&b));
	tux_sendbuf_lost(&b, 90, 10, true);
	assert_true(nothing());
}

static void fin__goes_along_with_lost_bytes(void **state)
{
	(void)state;
	start(0, 100, 1000);
	send_some(100);
	tux_sendbuf_finish(&b, 100);
	tux_sendbuf_lost(&b, 50, 50, false);
	assert_true(peek_is(100, 50, 50, true));
	send_some(100);
	assert_int_equal(b.next, 101);
	assert_true(nothing());
}

static void empty__stream(void **state)
{
	(void)state;
	start(UINT32_MAX, 0, 0);
	assert_true(nothing());
	tux_sendbuf_finish(&b, UINT32_MAX);
	assert_true(peek_is(100, UINT32_MAX, 0, true));
	send_some(100);
	assert_int_equal(tux_sendbuf_got(&b, (uint64_t)UINT32_MAX + 1, 0), 1);
	assert_true(tux_sendbuf_done(&b));
}

static void lost__more_ranges_than_there_is_room_for(void **state)
{
	uint64_t i, off;

	(void)state;
	start(0, STREAM_CAP, STREAM_CAP);
	send_some(STREAM_CAP - 4);
	for (i = 0; i < TUX_RANGE_MAX; i++)
		tux_sendbuf_lost(&b, 20 * i + 10, 1, false);
	assert_int_equal(b.lost.n, TUX_RANGE_MAX);
	/* Between two ranges: joins the nearer. */
	tux_sendbuf_lost(&b, 14, 1, false);
	assert_int_equal(b.lost.r[0].start, 10);
	assert_int_equal(b.lost.r[0].end, 15);
	tux_sendbuf_lost(&b, 28, 1, false);
	assert_int_equal(b.lost.r[1].start, 28);
	/* Before the first and behind the last range: joins that. */
	tux_sendbuf_lost(&b, 0, 1, false);
	assert_int_equal(b.lost.r[0].start, 0);
	tux_sendbuf_lost(&b, STREAM_CAP - 5, 1, false);
	assert_int_equal(b.lost.n, TUX_RANGE_MAX);
	assert_int_equal(b.lost.r[TUX_RANGE_MAX - 1].end, STREAM_CAP - 4);
	/* Bytes that were never sent are not lost. */
	tux_sendbuf_lost(&b, STREAM_CAP - 8, 8, false);
	assert_int_equal(b.lost.r[TUX_RANGE_MAX - 1].end, STREAM_CAP - 4);
	for (i = 0, off = 0; b.lost.n; i++) {
		struct tux_extent e = send_some(7);

		assert_true(e.off >= off);
		off = e.off + e.len;
		assert_true(off <= STREAM_CAP - 4);
	}
	assert_true(peek_is(100, STREAM_CAP - 4, 4, false));
}

enum { BYTES = 6000, FLIGHT = 64 };

/* The model: which bytes (and FIN) were reported lost and not sent since. */
static bool gone[BYTES + 1];
static struct tux_extent flight[FLIGHT];
static unsigned flight_n;

static void send_and_check(uint64_t *rnd, uint64_t next)
{
	struct tux_extent e;
	uint64_t i;

	if (flight_n == FLIGHT)
		return;
	assert_int_equal(tux_sendbuf_any(&b), tux_sendbuf_peek(&b, 1, &e));
	if (!tux_sendbuf_peek(&b, test_below(rnd, 60), &e))
		return;
	assert_true(e.len || e.fin);
	assert_true(e.off >= b.got && e.off <= next);
	assert_true(e.off + e.len <= b.limit);
	if (b.lost.n)
		assert_true(e.off + e.len <= next);
	else
		assert_true(e.off == next);
	for (i = 0; i < e.len + (uint64_t)e.fin; i++)
		gone[e.off + i] = false;
	tux_sendbuf_take(&b, &e);
	flight[flight_n++] = e;
}

static void lose_one(uint64_t *rnd)
{
	struct tux_extent e;
	uint64_t i;
	unsigned at;

	if (!flight_n)
		return;
	at = test_below(rnd, flight_n);
	e = flight[at];
	flight[at] = flight[--flight_n];
	for (i = 0; i < e.len + (uint64_t)e.fin; i++)
		gone[e.off + i] = e.off + i >= b.got;
	tux_sendbuf_lost(&b, e.off, e.len, e.fin);
}

/* Every lost byte is remembered, and no byte that was never sent. */
static void check(void)
{
	uint64_t i;

	for (i = b.got; i <= BYTES; i++)
		if (gone[i])
			assert_true(tux_ranges_has(&b.lost, i));
	if (b.lost.n) {
		assert_true(b.lost.r[0].start >= b.got);
		assert_true(b.lost.r[b.lost.n - 1].end <= b.next);
	}
}

static void random__nothing_is_forgotten(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 30; seed++) {
		uint64_t rnd = seed, next;

		start(0, 0, 100);
		memset(gone, 0, sizeof(gone));
		flight_n = 0;
		while (!tux_sendbuf_done(&b)) {
			uint32_t len = test_below(&rnd, 200);
			uint64_t head = tux_pipe_head(&s.p);

			if (len > tux_pipe_room(&s.p))
				len = tux_pipe_room(&s.p);
			if (len > BYTES - head)
				len = (uint32_t)(BYTES - head);
			stream_write(&s, len);
			if (head + len == BYTES)
				tux_sendbuf_finish(&b, BYTES);
			next = b.next;
			send_and_check(&rnd, next);
			if (test_below(&rnd, 2))
				lose_one(&rnd);
			if (!test_below(&rnd, 10)) {
				next = b.got + test_below(&rnd,
					(uint32_t)(b.next - b.got) + 1);
				tux_sendbuf_got(&b, next, next + 300);
				memset(gone, 0, next);
			}
			check();
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut__keeps_fin_behind_all_bytes),
		cmocka_unit_test(peek__new_bytes_in_order),
		cmocka_unit_test(peek__stops_at_the_window),
		cmocka_unit_test(peek__lost_first_even_beyond_the_window),
		cmocka_unit_test(got__moves_the_tail_and_clips_lost),
		cmocka_unit_test(got__beyond_what_was_sent),
		cmocka_unit_test(fin__goes_with_the_last_bytes),
		cmocka_unit_test(fin__stands_alone_and_needs_no_window),
		cmocka_unit_test(fin__waits_for_the_bytes_before_it),
		cmocka_unit_test(fin__is_sent_again_if_lost),
		cmocka_unit_test(fin__goes_along_with_lost_bytes),
		cmocka_unit_test(empty__stream),
		cmocka_unit_test(lost__more_ranges_than_there_is_room_for),
		cmocka_unit_test(random__nothing_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
