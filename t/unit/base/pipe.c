/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/pipe.h"

#include <pthread.h>
#include <sched.h>

#include "../test.h"

enum { CAP = 64 };

struct block {
	struct tux_pipe p;
	uint8_t mem[CAP];
};

static void start(struct block *b, uint64_t off)
{
	memset(b, 0, sizeof(*b));
	tux_pipe_init(&b->p, offsetof(struct block, mem), CAP, off);
}

static void init__is_empty_at_its_offset(void **state)
{
	struct block b;

	(void)state;
	start(&b, 1000);
	assert_int_equal(tux_pipe_head(&b.p), 1000);
	assert_int_equal(tux_pipe_tail(&b.p), 1000);
	assert_int_equal(tux_pipe_len(&b.p), 0);
	assert_int_equal(tux_pipe_room(&b.p), CAP);
}

static void place__is_seen_when_published(void **state)
{
	struct block b;
	char out[6] = "";

	(void)state;
	start(&b, 7);
	tux_pipe_place(&b.p, 7, "hello", 5);
	assert_int_equal(tux_pipe_len(&b.p), 0);
	tux_pipe_publish(&b.p, 12);
	assert_int_equal(tux_pipe_len(&b.p), 5);
	assert_int_equal(tux_pipe_room(&b.p), CAP - 5);
	tux_pipe_copy(&b.p, 7, out, 5);
	assert_string_equal(out, "hello");
	tux_pipe_copy(&b.p, 9, out, 3);
	assert_memory_equal(out, "llo", 3);
	tux_pipe_consume(&b.p, 10);
	assert_int_equal(tux_pipe_len(&b.p), 2);
}

static void bound__limits_the_room(void **state)
{
	struct block b;

	(void)state;
	start(&b, 7);
	tux_pipe_bound(&b.p, 8);
	assert_int_equal(tux_pipe_room(&b.p), 8);
	tux_pipe_place(&b.p, 7, "hello", 5);
	tux_pipe_publish(&b.p, 12);
	assert_int_equal(tux_pipe_room(&b.p), 3);
	tux_pipe_bound(&b.p, 4);
	assert_int_equal(tux_pipe_room(&b.p), 0);
	tux_pipe_consume(&b.p, 12);
	assert_int_equal(tux_pipe_room(&b.p), 4);
	tux_pipe_bound(&b.p, 2 * CAP);
	assert_int_equal(tux_pipe_room(&b.p), CAP);
}

static void place__beyond_the_head_fills_gaps_later(void **state)
{
	struct block b;
	char out[6];

	(void)state;
	start(&b, 0);
	tux_pipe_place(&b.p, 3, "def", 3);
	tux_pipe_place(&b.p, 0, "abc", 3);
	tux_pipe_publish(&b.p, 6);
	tux_pipe_copy(&b.p, 0, out, 6);
	assert_memory_equal(out, "abcdef", 6);
}

static void at__gives_one_piece(void **state)
{
	struct block b;
	uint32_t len = 20;

	(void)state;
	start(&b, 100);
	assert_ptr_equal(tux_pipe_at(&b.p, 100, &len), b.mem);
	assert_int_equal(len, 20);
	len = 20;
	assert_ptr_equal(tux_pipe_at(&b.p, 100 + CAP - 5, &len),
			 b.mem + CAP - 5);
	assert_int_equal(len, 5);
	len = 20;
	assert_ptr_equal(tux_pipe_at(&b.p, 100 + CAP, &len), b.mem);
	assert_int_equal(len, 20);
}

static void rewind__only_when_empty(void **state)
{
	struct block b;
	uint32_t len = 1;

	(void)state;
	start(&b, 0);
	tux_pipe_place(&b.p, 0, "abcdef", 6);
	tux_pipe_publish(&b.p, 6);
	tux_pipe_rewind(&b.p);
	assert_ptr_equal(tux_pipe_at(&b.p, 0, &len), b.mem);
	tux_pipe_consume(&b.p, 6);
	tux_pipe_rewind(&b.p);
	assert_ptr_equal(tux_pipe_at(&b.p, 6, &len), b.mem);
}

/* Writes and reads pieces of any length, from any first offset.  The byte at an
 * offset is a function of the offset, so each byte can be checked. */
static void laps__keep_the_bytes(void **state)
{
	static const uint64_t first[] = { 0, 1, CAP - 1, UINT32_MAX - 5,
					  (uint64_t)1 << 40 };
	unsigned i, j, lap;

	(void)state;
	for (i = 0; i < N_OF(first); i++) {
		uint64_t off = first[i], seed = i;
		uint8_t in[CAP], out[CAP];
		struct block b;

		start(&b, off);
		for (lap = 0; lap < 1000; lap++) {
			uint32_t len = test_below(&seed, CAP + 1);

			for (j = 0; j < len; j++)
				in[j] = (uint8_t)((off + j) * 7);
			if (test_below(&seed, 2))
				tux_pipe_rewind(&b.p);
			tux_pipe_place(&b.p, off, in, len);
			tux_pipe_publish(&b.p, off + len);
			assert_int_equal(tux_pipe_len(&b.p), len);
			tux_pipe_copy(&b.p, off, out, len);
			assert_memory_equal(in, out, len);
			off += len;
			tux_pipe_consume(&b.p, off);
		}
	}
}

enum { STREAM = 1 << 20 };

static struct block shared;

static void *produce(void *arg)
{
	uint64_t off = 0, seed = 1;

	while (off < STREAM) {
		uint32_t room = tux_pipe_room(&shared.p), j, len;
		uint8_t in[CAP];

		len = test_below(&seed, CAP) + 1;
		if (len > room)
			len = room;
		if (!len) {
			sched_yield();
			continue;
		}
		for (j = 0; j < len; j++)
			in[j] = (uint8_t)((off + j) % 251);
		tux_pipe_rewind(&shared.p);
		tux_pipe_place(&shared.p, off, in, len);
		off += len;
		tux_pipe_publish(&shared.p, off);
	}
	return arg;
}

static void threads__one_writes_and_one_reads(void **state)
{
	uint64_t off = 0, end;
	unsigned wrong = 0;
	pthread_t t;

	(void)state;
	start(&shared, 0);
	assert_int_equal(pthread_create(&t, NULL, produce, NULL), 0);
	while (off < STREAM) {
		uint32_t len = tux_pipe_len(&shared.p), j;
		uint8_t out[CAP];

		if (!len) {
			sched_yield();
			continue;
		}
		tux_pipe_copy(&shared.p, off, out, len);
		for (j = 0; j < len; j++)
			wrong += out[j] != (uint8_t)((off + j) % 251);
		off += len;
		tux_pipe_consume(&shared.p, off);
	}
	pthread_join(t, NULL);
	end = tux_pipe_head(&shared.p);
	assert_int_equal(wrong, 0);
	assert_true(off == end);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(init__is_empty_at_its_offset),
		cmocka_unit_test(place__is_seen_when_published),
		cmocka_unit_test(bound__limits_the_room),
		cmocka_unit_test(place__beyond_the_head_fills_gaps_later),
		cmocka_unit_test(at__gives_one_piece),
		cmocka_unit_test(rewind__only_when_empty),
		cmocka_unit_test(laps__keep_the_bytes),
		cmocka_unit_test(threads__one_writes_and_one_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
