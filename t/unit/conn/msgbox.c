/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/msgbox.h"

#include <errno.h>

#include "../test.h"

enum { SMALL = 65536, BULK = 131072 };

static struct tux_msgbox *box(void)
{
	struct tux_msgbox *b = calloc(1, tux_msgbox_size(SMALL, BULK));

	tux_msgbox_init(b, SMALL, BULK);
	return b;
}

static int reserve(struct tux_msgbox *b, uint32_t len, void **p, uint64_t *ref)
{
	return tux_msgbox_reserve(b, len, 0, false, p, ref);
}

/* The loop settles the note of @ref. */
static void settle(struct tux_msgbox *b, uint64_t ref, uint32_t state,
		   uint32_t err)
{
	struct tux_note *m = tux_msgbox_note(b, ref % TUX_LANES,
					     ref / TUX_LANES);

	m->err = err;
	atomic_store(&m->state, state);
}

/* Untouched memory takes no page; and what another connection has left behind in it
 * does no harm. */
static void init__touches_the_front_only(void **state)
{
	size_t size = tux_msgbox_size(SMALL, BULK);
	uint8_t *p = malloc(size);
	struct tux_msgbox *b = (void *)p;
	const struct iovec v = { (char[]){ "x" }, 1 };
	uint64_t ref;
	int err = -1;
	size_t i;

	(void)state;
	memset(p, 0xff, size);
	tux_msgbox_init(b, SMALL, BULK);
	for (i = offsetof(struct tux_msgbox, slot); i < size; i++)
		assert_int_equal(p[i], 0xff);
	assert_false(tux_msgbox_settled(b, &ref, &err));
	assert_int_equal(tux_msgbox_send(b, &v, 1, 0, false, &ref), 0);
	assert_false(tux_msgbox_settled(b, &ref, &err));
	assert_false(tux_msgbox_idle(b));
	settle(b, ref, TUX_NOTE_SENT, 0);
	assert_true(tux_msgbox_settled(b, &ref, &err));
	assert_int_equal(err, 0);
	assert_true(tux_msgbox_idle(b));
	free(b);
}

static void reserve__aligned_and_apart(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t r1, r2, r3;
	void *p, *q, *z;

	(void)state;
	assert_int_equal(reserve(b, 100, &p, &r1), 0);
	assert_int_equal(reserve(b, 10, &q, &r2), 0);
	assert_int_equal(reserve(b, TUX_MSG_SMALL + 1, &z, &r3), 0);
	assert_int_equal((uint8_t *)q - (uint8_t *)p, 128);
	assert_true((uint8_t *)z - (uint8_t *)p >= SMALL);
	assert_true(r1 != r2 && r2 != r3);
	memset(z, 1, TUX_MSG_SMALL + 1);
	free(b);
}

static void reserve__refuses(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t ref;
	void *p;

	(void)state;
	assert_int_equal(tux_msgbox_longest(b), BULK / 2);
	assert_int_equal(reserve(b, BULK / 2 + 1, &p, &ref), -EMSGSIZE);
	assert_int_equal(tux_msgbox_reserve(b, 1, 0, true, &p, &ref), -EPIPE);
	atomic_store(&b->err, ECONNRESET);
	assert_int_equal(reserve(b, 1, &p, &ref), -ECONNRESET);
	free(b);
}

/* Bytes or notes run out; settling the oldest messages gives both back. */
static void reserve__room(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t ref, first = 0, second = 0;
	unsigned n = 0;
	void *p;

	(void)state;
	while (reserve(b, 16384, &p, &ref) == 0) {
		first = n == 0 ? ref : first;
		second = n == 1 ? ref : second;
		n++;
	}
	assert_int_equal(n, 4);
	settle(b, second, TUX_NOTE_SENT, 0);
	assert_int_equal(reserve(b, 16384, &p, &ref), -EAGAIN);
	settle(b, first, TUX_NOTE_SENT, 0);
	assert_int_equal(reserve(b, 16384, &p, &ref), 0);
	assert_int_equal(reserve(b, 16384, &p, &ref), 0);
	assert_int_equal(reserve(b, 1, &p, &ref), -EAGAIN);
	free(b);
	b = box();
	for (n = 0; reserve(b, 1, &p, &ref) == 0; n++)
		;
	assert_int_equal(n, TUX_MSG_SMALL_N);
	free(b);
}

/* A lane that is empty is used from its beginning again. */
static void reserve__from_the_first_byte(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t one, two;
	unsigned i;
	void *p, *q, *first;

	(void)state;
	assert_int_equal(reserve(b, 100, &first, &one), 0);
	for (i = 0; i < 2 * TUX_MSG_SMALL_N; i++) {
		assert_int_equal(reserve(b, 100, &p, &two), 0);
		assert_true(p != first && two == one + TUX_LANES);
		settle(b, one, TUX_NOTE_SENT, 0);
		settle(b, two, TUX_NOTE_SENT, 0);
		assert_int_equal(reserve(b, 100, &q, &one), 0);
		assert_ptr_equal(q, first);
	}
	free(b);
}

/* One that finds no note leaves those that are there as they are. */
static void reserve__no_note_is_free(void **state)
{
	static const uint32_t len[TUX_LANES] = { 1, TUX_MSG_SMALL + 1 };
	struct tux_msgbox *b;
	unsigned lane, i;
	uint64_t ref;
	void *p;

	(void)state;
	for (lane = 0; lane < TUX_LANES; lane++) {
		struct tux_msgbox_slot was[TUX_MSG_N];

		b = calloc(1, tux_msgbox_size(SMALL, TUX_LANE_MAX));
		tux_msgbox_init(b, SMALL, TUX_LANE_MAX);
		for (i = 0; i < tux_lane_n(lane); i++)
			assert_int_equal(reserve(b, len[lane], &p, &ref), 0);
		memcpy(was, b->slot, sizeof(was));
		assert_int_equal(reserve(b, len[lane], &p, &ref), -EAGAIN);
		assert_memory_equal(was, b->slot, sizeof(was));
		free(b);
	}
}

/* Many rounds: no message crosses the end of its lane. */
static void send__laps(void **state)
{
	struct tux_msgbox *b = box();
	static uint8_t bytes[BULK / 2];
	uint64_t seed = 3, ref, told;
	unsigned i;
	int err;

	(void)state;
	for (i = 0; i < 2000; i++) {
		struct iovec v[2] = {
			{ bytes, test_below(&seed, BULK / 4) },
			{ bytes, test_below(&seed, BULK / 4) },
		};
		struct tux_note *m;
		unsigned lane;

		assert_int_equal(tux_msgbox_send(b, v, 2, 0, false, &ref), 0);
		lane = ref % TUX_LANES;
		m = tux_msgbox_note(b, lane, ref / TUX_LANES);
		assert_int_equal(m->state, TUX_NOTE_READY);
		assert_int_equal(m->len, v[0].iov_len + v[1].iov_len);
		assert_true(m->at % b->tx[lane].cap + m->len <=
			    b->tx[lane].cap);
		settle(b, ref, TUX_NOTE_SENT, 0);
		assert_true(tux_msgbox_settled(b, &told, &err));
		assert_true(told == ref && err == 0);
	}
	free(b);
}

static void order__counts_across_lanes(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t ref;
	unsigned i;
	void *p;

	(void)state;
	for (i = 0; i < 6; i++) {
		uint32_t len = i % 2 ? 10 : 20000;

		assert_int_equal(tux_msgbox_reserve(b, len, TUX_MSG_ORDERED,
						    false, &p, &ref), 0);
		assert_int_equal(tux_msgbox_note(b, ref % 2, ref / 2)->order,
				 i);
	}
	free(b);
}

static void cancel__until_settled(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t open, ready, sent, ref;
	void *p;
	int err;

	(void)state;
	assert_int_equal(reserve(b, 10, &p, &open), 0);
	assert_int_equal(reserve(b, 10, &p, &ready), 0);
	assert_int_equal(reserve(b, 10, &p, &sent), 0);
	tux_msgbox_commit(b, ready);
	settle(b, sent, TUX_NOTE_SENT, 0);
	assert_true(tux_msgbox_cancel(b, open));
	assert_true(tux_msgbox_cancel(b, ready));
	assert_true(tux_msgbox_cancel(b, ready));
	assert_false(tux_msgbox_cancel(b, sent));
	assert_false(tux_msgbox_cancel(b, sent + TUX_LANES));
	tux_msgbox_commit(b, open);	/* too late */
	assert_int_equal(b->slot[0].note.state, TUX_NOTE_CANCEL);
	assert_false(tux_msgbox_settled(b, &ref, &err));
	settle(b, open, TUX_NOTE_FAILED, ECANCELED);
	assert_true(tux_msgbox_settled(b, &ref, &err));
	assert_true(ref == open && err == ECANCELED);
	assert_false(tux_msgbox_cancel(b, open));
	free(b);
}

/* The room of a failed message is not used before its outcome was told. */
static void settled__failures_wait(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t ref, first;
	unsigned i;
	void *p;
	int err;

	(void)state;
	for (i = 0; i < 4; i++) {
		assert_int_equal(reserve(b, 16384, &p, &ref), 0);
		first = i ? first : ref;
		settle(b, ref, i ? TUX_NOTE_SENT : TUX_NOTE_FAILED,
		       i ? 0 : ECONNRESET);
	}
	assert_int_equal(reserve(b, 16384, &p, &ref), -EAGAIN);
	assert_true(tux_msgbox_settled(b, &ref, &err));
	assert_true(ref == first && err == ECONNRESET);
	assert_int_equal(reserve(b, 16384, &p, &ref), 0);
	free(b);
}

/* With b->asks, each outcome is told, and no room becomes free before. */
static void settled__of_each(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t ref, first = 0;
	unsigned i;
	void *p;
	int err;

	(void)state;
	b->asks = true;
	for (i = 0; i < 4; i++) {
		assert_int_equal(reserve(b, 16384, &p, &ref), 0);
		first = i ? first : ref;
		settle(b, ref, TUX_NOTE_SENT, 0);
	}
	assert_int_equal(reserve(b, 16384, &p, &ref), -EAGAIN);
	assert_false(tux_msgbox_idle(b));
	assert_true(tux_msgbox_settled(b, &ref, &err));
	assert_true(ref == first && !err);
	assert_int_equal(reserve(b, 16384, &p, &ref), 0);
	free(b);
}

/* All that are settled, as far as they are one behind the other. */
static void reap__counts(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t small[3], bulk;
	unsigned i, failed = 7;
	void *p;

	(void)state;
	assert_int_equal(tux_msgbox_reap(b, &failed), 0);
	assert_int_equal(failed, 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(reserve(b, 10, &p, &small[i]), 0);
	assert_int_equal(reserve(b, 20000, &p, &bulk), 0);
	settle(b, small[0], TUX_NOTE_SENT, 0);
	settle(b, small[2], TUX_NOTE_SENT, 0);
	settle(b, bulk, TUX_NOTE_FAILED, ECONNRESET);
	assert_int_equal(tux_msgbox_reap(b, &failed), 2);
	assert_int_equal(failed, 1);
	settle(b, small[1], TUX_NOTE_FAILED, ECANCELED);
	assert_int_equal(tux_msgbox_reap(b, &failed), 2);
	assert_int_equal(failed, 1);
	assert_true(tux_msgbox_idle(b));
	free(b);
}

static void rest__what_was_not_told(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t name[TUX_MSG_N], ref[4];
	int err[TUX_MSG_N];
	unsigned i;
	void *p;

	(void)state;
	assert_int_equal(tux_msgbox_rest(b, EIO, name, err), 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(reserve(b, i == 1 ? 20000 : 100, &p, &ref[i]),
				 0);
	settle(b, ref[0], TUX_NOTE_FAILED, ECONNRESET);
	settle(b, ref[2], TUX_NOTE_SENT, 0);
	assert_true(tux_msgbox_cancel(b, ref[3]));
	assert_int_equal(tux_msgbox_rest(b, EIO, name, err), 4);
	assert_true(name[0] == ref[0] && err[0] == ECONNRESET);
	assert_true(name[1] == ref[2] && err[1] == 0);
	assert_true(name[2] == ref[3] && err[2] == EIO);
	assert_true(name[3] == ref[1] && err[3] == EIO);
	free(b);
}

static void idle__when_all_is_settled(void **state)
{
	struct tux_msgbox *b = box();
	uint64_t small, bulk;
	void *p;
	int err;

	(void)state;
	assert_true(tux_msgbox_idle(b));
	assert_int_equal(reserve(b, 10, &p, &small), 0);
	assert_int_equal(reserve(b, 20000, &p, &bulk), 0);
	settle(b, small, TUX_NOTE_SENT, 0);
	assert_false(tux_msgbox_idle(b));
	settle(b, bulk, TUX_NOTE_FAILED, ECONNRESET);
	assert_false(tux_msgbox_idle(b));
	assert_true(tux_msgbox_settled(b, &small, &err));
	assert_int_equal(err, ECONNRESET);
	assert_true(tux_msgbox_idle(b));
	free(b);
}

/* Delivers a message as the loop does. */
static void arrive(struct tux_msgbox *b, uint32_t id, uint32_t at, uint32_t len)
{
	uint32_t head = atomic_load(&b->in_head);

	b->slot[id].arrived = (struct tux_arrival){ .len = len, .at = at };
	b->in[head % TUX_MSG_IN] = (uint16_t)id;
	atomic_store(&b->in_head, head + 1);
}

static void take__in_groups(void **state)
{
	struct tux_msgbox *b = box();
	struct tux_msg m[8];
	unsigned i;

	(void)state;
	assert_false(tux_msgbox_any(b));
	for (i = 0; i < 5; i++)
		arrive(b, i, 64 * i, 10);
	assert_true(tux_msgbox_any(b));
	assert_int_equal(tux_msgbox_take(b, m, 3), 3);
	assert_int_equal(tux_msgbox_take(b, m + 3, 8), 2);
	assert_int_equal(tux_msgbox_take(b, m, 8), 0);
	assert_int_equal((const uint8_t *)m[4].p - (const uint8_t *)m[0].p,
			 256);
	assert_int_equal(m[4].len, 10);
	free(b);
}

/* Before there is a connection, and for more messages than a lane has notes. */
static void refuse__what_waits_and_comes(void **state)
{
	struct tux_msgbox *b = box();
	unsigned i, round;
	uint64_t ref, told;
	void *p;
	int err;

	(void)state;
	for (round = 0; round < 3; round++) {
		for (i = 0; i < TUX_MSG_SMALL_N / 2; i++)
			assert_int_equal(reserve(b, 1, &p, &ref), 0);
		assert_int_equal(reserve(b, TUX_MSG_SMALL + 1, &p, &ref), 0);
		tux_msgbox_refuse(b, EPROTONOSUPPORT);
		assert_int_equal(reserve(b, 1, &p, &ref), -EPROTONOSUPPORT);
		for (i = 0; tux_msgbox_settled(b, &told, &err); i++)
			assert_int_equal(err, EPROTONOSUPPORT);
		assert_int_equal(i, TUX_MSG_SMALL_N / 2 + 1);
		assert_int_equal(told, ref);
		tux_msgbox_commit(b, told);	/* it has failed: no effect */
		atomic_store(&b->err, 0);
	}
	free(b);
}

/* It rings when enough bytes, or enough places, are free. */
static void release__rings(void **state)
{
	struct tux_msgbox *b = box();
	struct tux_msg m;
	unsigned i;
	bool ring = false;

	(void)state;
	atomic_store(&b->rx[0].wake_at, SMALL / 8);
	for (i = 0; !ring; i++) {
		arrive(b, i, 64 * i, 1);
		tux_msgbox_take(b, &m, 1);
		ring = tux_msgbox_release(b, &m, 1);
		assert_int_equal(b->slot[i].released, 1);
	}
	assert_int_equal(i, TUX_MSG_SMALL_N / 8);
	free(b);
}

static void send__refuses(void **state)
{
	struct tux_msgbox *b = box();
	char byte = 'x';
	struct iovec v[2] = {
		{ &byte, TUX_MESSAGE_MAX }, { &byte, 1 },
	};
	uint64_t ref = 77;

	(void)state;
	assert_int_equal(tux_msgbox_send(b, v, 2, 0, false, &ref), -EMSGSIZE);
	v[0].iov_len = 1;
	assert_int_equal(tux_msgbox_send(b, v, 2, 0, true, &ref), -EPIPE);
	assert_int_equal(atomic_load(&b->tx[0].next), 0);
	assert_int_equal(tux_msgbox_send(b, v, 2, 0, false, &ref), 0);
	assert_int_equal(atomic_load(&b->tx[0].next), 1);
	free(b);
}

/* Only the pieces that the caller counts are part of the message. */
static void send__as_many_pieces_as_told(void **state)
{
	struct tux_msgbox *b = box();
	char byte = 'x';
	const struct iovec v[2] = {
		{ &byte, 1 }, { &byte, TUX_MESSAGE_MAX },
	};
	uint64_t ref;

	(void)state;
	assert_int_equal(tux_msgbox_send(b, v, 1, 0, false, &ref), 0);
	assert_int_equal(b->slot[0].note.len, 1);
	free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(init__touches_the_front_only),
		cmocka_unit_test(reserve__aligned_and_apart),
		cmocka_unit_test(reserve__refuses),
		cmocka_unit_test(reserve__room),
		cmocka_unit_test(reserve__from_the_first_byte),
		cmocka_unit_test(reserve__no_note_is_free),
		cmocka_unit_test(send__laps),
		cmocka_unit_test(order__counts_across_lanes),
		cmocka_unit_test(cancel__until_settled),
		cmocka_unit_test(settled__failures_wait),
		cmocka_unit_test(settled__of_each),
		cmocka_unit_test(reap__counts),
		cmocka_unit_test(rest__what_was_not_told),
		cmocka_unit_test(idle__when_all_is_settled),
		cmocka_unit_test(refuse__what_waits_and_comes),
		cmocka_unit_test(take__in_groups),
		cmocka_unit_test(release__rings),
		cmocka_unit_test(send__refuses),
		cmocka_unit_test(send__as_many_pieces_as_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
