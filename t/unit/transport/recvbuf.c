/* SPDX-License-Identifier: BSD-2-Clause */
#include "transport/recvbuf.h"

#include <errno.h>

#include "stream.h"

static struct stream s;
static struct tux_recvbuf b;

static void start(uint64_t off)
{
	memset(&s, 0xee, sizeof(s));
	stream_init(&s, off);
	tux_recvbuf_init(&b, &s.p);
}

/* Bytes [@off, @off + @len) arrive. */
static int put(uint64_t off, uint32_t len, bool fin)
{
	uint8_t *p = malloc(len + 1);
	int got;

	/* At the end of a block of memory, so that a sanitizer sees reads
	 * beyond. */
	stream_fill(p + 1, off, len);
	got = tux_recvbuf_put(&b, off, p + 1, len, fin);
	free(p);
	return got;
}

static void put__in_order(void **state)
{
	(void)state;
	start(1000);
	assert_int_equal(put(1000, 10, false), 1);
	assert_int_equal(tux_recvbuf_got(&b), 1010);
	assert_int_equal(put(1010, 5, false), 1);
	assert_int_equal(tux_pipe_len(&s.p), 15);
	stream_read(&s, 15);
}

static void put__out_of_order(void **state)
{
	(void)state;
	start(0);
	assert_int_equal(put(20, 10, false), 1);
	assert_int_equal(put(40, 10, false), 1);
	assert_int_equal(tux_recvbuf_got(&b), 0);
	assert_int_equal(tux_pipe_len(&s.p), 0);
	assert_int_equal(put(0, 20, false), 1);
	assert_int_equal(tux_recvbuf_got(&b), 30);
	assert_int_equal(put(25, 20, false), 1);
	assert_int_equal(tux_recvbuf_got(&b), 50);
	assert_int_equal(b.ahead.n, 0);
	stream_read(&s, 50);
}

static void put__one_covers_several_islands(void **state)
{
	(void)state;
	start(0);
	put(10, 5, false);
	put(20, 5, false);
	put(30, 10, false);
	assert_int_equal(put(0, 35, false), 1);
	assert_int_equal(tux_recvbuf_got(&b), 40);
	assert_int_equal(b.ahead.n, 0);
	stream_read(&s, 40);
}

static void put__duplicates_are_nothing_new(void **state)
{
	(void)state;
	start(100);
	put(100, 50, false);
	put(200, 50, false);
	assert_int_equal(put(100, 50, false), 0);
	assert_int_equal(put(120, 10, false), 0);
	assert_int_equal(put(0, 50, false), 0);
	assert_int_equal(put(200, 50, false), 0);
	assert_int_equal(put(210, 10, false), 0);
	assert_int_equal(put(300, 0, false), 0);
	assert_int_equal(put(140, 20, false), 1);
	assert_int_equal(put(190, 20, false), 1);
	assert_int_equal(tux_recvbuf_got(&b), 160);
	stream_read(&s, 60);
}

static void put__published_bytes_stay_as_they_are(void **state)
{
	(void)state;
	start(0);
	put(0, 10, false);
	assert_int_equal(tux_recvbuf_put(&b, 0, "xxxxxxxxxx", 10, false), 0);
	assert_int_equal(tux_recvbuf_put(&b, 5, "xxxxx", 5, false), 0);
	stream_read(&s, 10);
}

static void put__beyond_the_room(void **state)
{
	(void)state;
	start(10);
	assert_int_equal(put(10 + STREAM_CAP - 5, 6, false), -ENOBUFS);
	assert_int_equal(put(10 + STREAM_CAP, 1, true), -ENOBUFS);
	assert_true(b.end == UINT64_MAX);
	assert_int_equal(b.ahead.n, 0);
	assert_int_equal(put(10 + STREAM_CAP - 5, 5, false), 1);
	assert_int_equal(put(10, STREAM_CAP, false), 1);
	assert_int_equal(tux_pipe_room(&s.p), 0);
	assert_int_equal(put(10 + STREAM_CAP, 1, false), -ENOBUFS);
	stream_read(&s, 1);
	assert_int_equal(put(10 + STREAM_CAP, 1, false), 1);
	stream_read(&s, STREAM_CAP);
}

static void put__too_many_gaps(void **state)
{
	uint64_t i;

	(void)state;
	start(0);
	for (i = 1; i <= TUX_RANGE_MAX; i++)
		assert_int_equal(put(4 * i, 2, false), 1);
	assert_int_equal(put(4 * i, 2, false), -ENOBUFS);
	assert_int_equal(put(4 * i, 2, true), -ENOBUFS);
	assert_true(b.end == UINT64_MAX);
	/* Bytes in order, or next to a known range, leave no new gap. */
	assert_int_equal(put(0, 1, false), 1);
	assert_int_equal(put(6, 1, false), 1);
	assert_int_equal(put(1, 3, false), 1);
	assert_int_equal(tux_recvbuf_got(&b), 7);
	assert_int_equal(put(4 * i, 2, false), 1);
	stream_read(&s, 7);
}

static void put__offsets_that_wrap(void **state)
{
	(void)state;
	start(0);
	assert_int_equal(put(UINT64_MAX - 2, 5, false), -EBADMSG);
	assert_int_equal(put(UINT64_MAX - 5, 5, true), -EBADMSG);
	assert_int_equal(put(UINT64_MAX - 6, 5, true), -ENOBUFS);
	assert_int_equal(put(UINT64_MAX, 0, true), -EBADMSG);
}

static void fin__counts_one(void **state)
{
	(void)state;
	start(0);
	assert_int_equal(put(5, 5, true), 1);
	assert_int_equal(tux_recvbuf_got(&b), 0);
	assert_int_equal(put(0, 5, false), 1);
	assert_int_equal(tux_recvbuf_got(&b), 11);
	assert_int_equal(put(5, 5, true), 0);
	stream_read(&s, 10);
}

static void fin__stands_alone(void **state)
{
	(void)state;
	start(7);
	assert_int_equal(put(7, 0, true), 1);
	assert_int_equal(tux_recvbuf_got(&b), 8);
	assert_int_equal(put(7, 0, true), 0);
	start(0);
	put(0, 10, false);
	assert_int_equal(put(20, 0, true), 1);
	assert_int_equal(tux_recvbuf_got(&b), 10);
	assert_int_equal(put(10, 10, false), 1);
	assert_int_equal(tux_recvbuf_got(&b), 21);
	stream_read(&s, 20);
	/* FIN may come with bytes that have all arrived before. */
	start(0);
	put(0, 10, false);
	assert_int_equal(put(5, 5, true), 1);
	assert_int_equal(tux_recvbuf_got(&b), 11);
}

static void fin__contradictions(void **state)
{
	(void)state;
	start(0);
	put(0, 10, false);
	put(20, 10, false);
	assert_int_equal(put(0, 5, true), -EBADMSG);
	assert_int_equal(put(10, 5, true), -EBADMSG);
	assert_int_equal(put(25, 4, true), -EBADMSG);
	assert_int_equal(put(30, 0, true), 1);
	assert_int_equal(put(30, 1, false), -EBADMSG);
	assert_int_equal(put(10, 21, false), -EBADMSG);
	assert_int_equal(put(10, 10, true), -EBADMSG);
	assert_int_equal(put(31, 0, true), -EBADMSG);
	assert_int_equal(put(10, 20, true), 1);
	assert_int_equal(tux_recvbuf_got(&b), 31);
	stream_read(&s, 30);
}

static void window__counts_from_got(void **state)
{
	(void)state;
	start(500);
	assert_int_equal(tux_recvbuf_window(&b), STREAM_CAP);
	assert_int_equal(b.limit, 500 + STREAM_CAP);
	put(500, 100, false);
	put(700, 100, false);
	assert_int_equal(tux_recvbuf_window(&b), STREAM_CAP - 100);
	assert_int_equal(b.limit, 500 + STREAM_CAP);
	stream_read(&s, 40);
	assert_int_equal(b.limit, 500 + STREAM_CAP);
	assert_int_equal(tux_recvbuf_window(&b), STREAM_CAP - 60);
	assert_int_equal(b.limit, 540 + STREAM_CAP);
	assert_int_equal(tux_recvbuf_wake_at(&b), 540 + STREAM_CAP / 2);
}

/* What was told before stays told, and there is memory for it. */
static void window__is_bounded_from_then_on(void **state)
{
	(void)state;
	start(500);
	tux_pipe_bound(&s.p, 200);
	assert_int_equal(tux_recvbuf_window(&b), STREAM_CAP);
	put(500, STREAM_CAP, false);
	stream_read(&s, STREAM_CAP - 100);
	assert_int_equal(tux_recvbuf_window(&b), 100);
	tux_pipe_bound(&s.p, STREAM_CAP);
	assert_int_equal(tux_recvbuf_window(&b), STREAM_CAP - 100);
}

/* The application has bytes that the pipe has as well: they take no room. */
static void window__counts_from_what_is_taken(void **state)
{
	(void)state;
	stream_init(&s, 500);
	tux_pipe_bound(&s.p, 200);
	tux_recvbuf_init(&b, &s.p);
	put(500, 200, false);
	assert_int_equal(tux_recvbuf_window(&b), 0);
	b.taken = 700;
	assert_int_equal(tux_recvbuf_window(&b), 200);
	b.taken = 500 + STREAM_CAP;
	assert_int_equal(tux_recvbuf_window(&b), STREAM_CAP - 200);
}

static void window__is_bounded(void **state)
{
	(void)state;
	stream_init(&s, 500);
	tux_pipe_bound(&s.p, 200);
	tux_recvbuf_init(&b, &s.p);
	assert_int_equal(tux_recvbuf_window(&b), 200);
	put(500, 150, false);
	assert_int_equal(tux_recvbuf_window(&b), 50);
	put(650, 100, false);
	assert_int_equal(tux_recvbuf_window(&b), 0);
	stream_read(&s, 200);
	assert_int_equal(tux_recvbuf_window(&b), 150);
	assert_int_equal(tux_recvbuf_wake_at(&b), 800);
}

static void window__full_and_finished(void **state)
{
	(void)state;
	start(0);
	put(0, STREAM_CAP, true);
	assert_int_equal(tux_recvbuf_got(&b), STREAM_CAP + 1);
	assert_int_equal(tux_recvbuf_window(&b), 0);
	stream_read(&s, STREAM_CAP);
	assert_int_equal(tux_recvbuf_window(&b), STREAM_CAP - 1);
}

static void rewind__not_while_bytes_are_ahead(void **state)
{
	uint32_t len = 1;

	(void)state;
	start(0);
	put(0, 100, false);
	stream_read(&s, 100);
	/* Empty, but 150 is placed after the rewind to 100 ... */
	put(150, 10, false);
	assert_ptr_equal(tux_pipe_at(&s.p, 100, &len), s.mem);
	put(100, 20, false);
	stream_read(&s, 20);
	/* ... and now empty again, with 150 still ahead. */
	put(120, 30, false);
	assert_ptr_equal(tux_pipe_at(&s.p, 120, &len), s.mem + 20);
	assert_int_equal(tux_recvbuf_got(&b), 160);
	stream_read(&s, 40);
	put(160, 1, false);
	assert_ptr_equal(tux_pipe_at(&s.p, 160, &len), s.mem);
	stream_read(&s, 1);
}

enum { BYTES = 5000 };

/* Pieces arrive in any order, some twice.  `got` agrees with a table of all
 * bytes, and the application reads the right bytes. */
static void random__agrees_with_a_table(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 50; seed++) {
		const uint64_t first = seed % 2 ? 0 : UINT32_MAX - 100;
		bool here[BYTES + 1] = { false };
		uint64_t rnd = seed, next = 0, i;

		start(first);
		while (next < BYTES) {
			uint32_t len = test_below(&rnd, 50);
			uint64_t off = next + test_below(&rnd, 400);
			bool fin, old = true;
			int got;

			off = off > 100 ? off - 100 : 0;
			if (off + len > BYTES)
				continue;
			fin = off + len == BYTES;
			for (i = off; i < off + len; i++)
				old = old && here[i];
			got = put(first + off, len, fin);
			if (got == 0)
				assert_true(old);
			if (got == 1) {
				assert_true(!old || fin);
				memset(here + off, true, len);
			}
			while (next < BYTES && here[next])
				next++;
			assert_true(tux_recvbuf_got(&b) ==
				    first + next +
				    (b.end == first + next));
			if (!test_below(&rnd, 4))
				stream_read(&s, test_below(&rnd,
						tux_pipe_len(&s.p) + 1));
		}
		stream_read(&s, tux_pipe_len(&s.p));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(put__in_order),
		cmocka_unit_test(put__out_of_order),
		cmocka_unit_test(put__one_covers_several_islands),
		cmocka_unit_test(put__duplicates_are_nothing_new),
		cmocka_unit_test(put__published_bytes_stay_as_they_are),
		cmocka_unit_test(put__beyond_the_room),
		cmocka_unit_test(put__too_many_gaps),
		cmocka_unit_test(put__offsets_that_wrap),
		cmocka_unit_test(fin__counts_one),
		cmocka_unit_test(fin__stands_alone),
		cmocka_unit_test(fin__contradictions),
		cmocka_unit_test(window__counts_from_got),
		cmocka_unit_test(window__full_and_finished),
		cmocka_unit_test(window__is_bounded),
		cmocka_unit_test(window__is_bounded_from_then_on),
		cmocka_unit_test(window__counts_from_what_is_taken),
		cmocka_unit_test(rewind__not_while_bytes_are_ahead),
		cmocka_unit_test(random__agrees_with_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
