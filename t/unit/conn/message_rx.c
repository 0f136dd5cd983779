/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages in: what an honest peer cannot have sent, deliveries, and room.
 */
#include <errno.h>

#include "conn/message_rx.h"
#include "duo.h"

/* A fragment for b, of which a test changes what it is about. */
static struct tux_message_hdr frag(uint32_t id, uint32_t pos, uint32_t total)
{
	return (struct tux_message_hdr){
		.id = id, .pos = pos, .total = total, .len = total,
	};
}

static int put(struct duo *d, struct tux_message_hdr h)
{
	static const uint8_t bytes[DUO_BULK] = { 1 };

	return tux_message_put(d->b.c, &h, bytes, false);
}

/* The first byte only: it is known, and not complete. */
static int touch(struct duo *d, uint32_t id, uint32_t pos, uint32_t total)
{
	struct tux_message_hdr h = frag(id, pos, total);

	h.len = 1;
	return put(d, h);
}

static struct tux_message_hdr ordered(uint32_t id, uint32_t pos, uint32_t order)
{
	struct tux_message_hdr h = frag(id, pos, 10);

	h.flags = TUX_MESSAGE_ORDER;
	h.order = order;
	return h;
}

/* The application takes what is there, and is done with the first @n. */
static unsigned take(struct duo *d, unsigned n)
{
	struct tux_msg m[TUX_MSG_IN];
	unsigned i, k = tux_msgbox_take(d->b.box, m, TUX_MSG_IN);

	for (i = 0; i < n && i < k; i++)
		tux_msgbox_release(d->b.box, &m[i]);
	return k;
}

/* ---- is it honest? ---- */

static void put__between_its_neighbours(void **state)
{
	struct duo *d = *state;

	assert_int_equal(touch(d, 5, 640, 100), 0);
	assert_int_equal(touch(d, 6, 704, 10), -EBADMSG);
	assert_int_equal(touch(d, 4, 576, 65), -EBADMSG);
	assert_int_equal(touch(d, 4, 640, 10), -EBADMSG);
	assert_int_equal(touch(d, 4, 576, 64), 0);
	assert_int_equal(touch(d, 6, 768, 10), 0);
	/* With unknown ones in between. */
	assert_int_equal(touch(d, 2, 576, 10), -EBADMSG);
	assert_int_equal(touch(d, 2, 512, 64), 0);
	assert_int_equal(touch(d, 9, 768, 10), -EBADMSG);
	assert_int_equal(touch(d, 9, 832, 10), 0);
	assert_int_equal(touch(d, 0, 0, 512), 0);
	assert_int_equal(touch(d, 1, 448, 10), -EBADMSG);
}

static void put__in_its_lane(void **state)
{
	struct duo *d = *state;

	assert_int_equal(touch(d, 0, 0, DUO_SMALL / 2 + 1), -EBADMSG);
	assert_int_equal(touch(d, 1, DUO_SMALL - 64, 65), -EBADMSG);
	assert_int_equal(touch(d, 1, DUO_SMALL, 1), -EBADMSG);
	assert_int_equal(touch(d, 1, DUO_SMALL - 64, 64), 0);
	assert_int_equal(touch(d, 0, 0, DUO_SMALL / 2), 0);
	assert_int_equal(touch(d, TUX_MSG_SMALL_N, 65472, 1), -EBADMSG);
}

/* The last of its numbers is still in reach; a settled one is no news. */
static void put__id_in_reach(void **state)
{
	struct duo *d = *state;

	assert_int_equal(touch(d, TUX_MSG_SMALL_N - 1, 0, 10), 0);
	assert_int_equal(d->b.c->msg->rx[0].top, TUX_MSG_SMALL_N);
	assert_int_equal(touch(d, UINT32_MAX, 0, 10), -EBADMSG);
}

/* Each lies in one piece: not around the end of the lane, though there is room. */
static void put__not_around_the_end(void **state)
{
	struct duo *d = *state;

	assert_int_equal(put(d, frag(0, 0, 10)), 0);
	assert_int_equal(take(d, 1), 1);
	duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	assert_int_equal(d->b.c->msg->rx[0].tail, 64);
	assert_int_equal(touch(d, 1, DUO_SMALL - 64, 65), -EBADMSG);
	assert_int_equal(touch(d, 1, DUO_SMALL, 64), 0);
}

static void put__the_settled_is_passed_over(void **state)
{
	struct duo *d = *state;

	assert_int_equal(put(d, frag(0, 0, 10)), 0);
	assert_int_equal(take(d, 1), 1);
	duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	assert_int_equal(d->b.c->msg->rx[0].first, 1);
	assert_int_equal(put(d, frag(0, 640, 99)), 0);
	assert_int_equal(put(d, frag(1, 0, 10)), -EBADMSG);
	assert_int_equal(put(d, frag(1, 64, 10)), 0);
	assert_int_equal(take(d, 0), 1);
}

/* All fragments of a message agree on what it is. */
static void put__pieces_of_the_same(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = ordered(0, 0, 1), g;

	h.len = 1;
	assert_int_equal(put(d, h), 0);
	g = h, g.pos = 64;
	assert_int_equal(put(d, g), -EBADMSG);
	g = h, g.total = 11;
	assert_int_equal(put(d, g), -EBADMSG);
	g = h, g.order = 2;
	assert_int_equal(put(d, g), -EBADMSG);
	g = h, g.flags = 0;
	assert_int_equal(put(d, g), -EBADMSG);
	g = h, g.flags |= TUX_MESSAGE_LAST, g.off = 1, g.len = 9;
	assert_int_equal(put(d, g), 0);
	assert_int_equal(d->b.c->msg->in[0].state, TUX_MSG_WHOLE);
}

/* Of ordered ones, each has a number of its own that is still to come. */
static void put__order_in_reach(void **state)
{
	struct duo *d = *state;

	assert_int_equal(put(d, ordered(0, 0, 3)), 0);
	assert_int_equal(put(d, ordered(1, 64, 3)), -EBADMSG);
	assert_int_equal(put(d, ordered(1, 64, TUX_MSG_IN)), -EBADMSG);
	assert_int_equal(put(d, ordered(1, 64, UINT32_MAX)), -EBADMSG);
	assert_int_equal(put(d, ordered(1, 64, TUX_MSG_IN - 1)), 0);
	assert_int_equal(put(d, ordered(2, 128, 0)), 0);
	assert_int_equal(take(d, 0), 1);
	assert_int_equal(put(d, ordered(3, 192, 0)), -EBADMSG);
	assert_int_equal(put(d, ordered(3, 192, TUX_MSG_IN)), 0);
}

/* What cannot be noted is as if it were lost.  In TCP, nothing is: there is a
 * range more for it. */
static void put__too_many_gaps(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = frag(0, 0, 1000);
	uint8_t bytes[10] = { 0 };
	unsigned i;

	h.len = 10;
	for (i = 0; i < TUX_FRAG_MAX - 1; i++) {
		h.off = 20 * i;
		assert_int_equal(put(d, h), 0);
	}
	h.off = 20 * i;
	assert_int_equal(put(d, h), -ENOBUFS);
	assert_int_equal(tux_message_put(d->b.c, &h, bytes, true), 0);
	h.off += 20;
	assert_int_equal(tux_message_put(d->b.c, &h, bytes, true), -ENOBUFS);
}

/* ---- delivery ---- */

/* Each is named by its lane and its number, and lies where it was put. */
static void deliver__as_it_was_sent(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = frag(30, 4096, 20);
	uint64_t got = d->b.c->stats.msg_rx;
	struct tux_msg m[3];
	uint8_t bytes[20];
	unsigned i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i + 1);
	assert_int_equal(tux_message_put(d->b.c, &h, bytes, false), 0);
	h.flags = TUX_MESSAGE_BULK;
	h.id = 7;
	h.total = h.len = 5;
	assert_int_equal(tux_message_put(d->b.c, &h, bytes + 3, false), 0);
	h = ordered(31, 8192, 0);
	assert_int_equal(tux_message_put(d->b.c, &h, bytes + 5, false), 0);
	assert_int_equal(tux_msgbox_take(d->b.box, m, 3), 3);
	assert_true(m[0].ref == 30 * TUX_LANES && m[0].len == 20 &&
		    !m[0].flags);
	assert_memory_equal(m[0].p, bytes, 20);
	assert_true(m[1].ref == 7 * TUX_LANES + 1 && m[1].len == 5);
	assert_memory_equal(m[1].p, bytes + 3, 5);
	assert_int_equal(m[2].flags, TUX_MSG_ORDERED);
	assert_memory_equal(m[2].p, bytes + 5, 10);
	assert_int_equal(d->b.c->stats.msg_rx - got, 35);
}

/* The number of a slot, whatever the oldest one is. */
static void deliver__after_laps(void **state)
{
	struct duo *d = *state;
	struct tux_msg m;
	uint32_t i;

	for (i = 0; i < 3 * TUX_MSG_SMALL_N; i++) {
		/* Backwards by pairs: first is not the one delivered. */
		uint32_t id = i ^ 1;

		assert_int_equal(put(d, frag(id, 64 * id, 10)), 0);
		assert_int_equal(tux_msgbox_take(d->b.box, &m, 1), 1);
		assert_int_equal(m.ref, (uint64_t)id * TUX_LANES);
		tux_msgbox_release(d->b.box, &m);
		duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	}
	assert_int_equal(d->b.c->msg->rx[0].first, 3 * TUX_MSG_SMALL_N);
}

/* One that was taken back makes way for those behind it. */
static void deliver__passes_over_the_cancelled(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = ordered(0, 0, 0);

	assert_int_equal(put(d, ordered(1, 64, 1)), 0);
	assert_int_equal(put(d, ordered(2, 128, 2)), 0);
	assert_int_equal(take(d, 0), 0);
	h.flags |= TUX_MESSAGE_CANCEL;
	h.total = h.len = 0;
	assert_int_equal(put(d, h), 0);
	assert_int_equal(take(d, 2), 2);
	assert_int_equal(d->b.c->msg->order, 3);
	duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	assert_int_equal(d->b.c->msg->rx[0].first, 3);
}

/* ---- the end ---- */

static int fin(struct duo *d, uint32_t small, uint32_t bulk)
{
	uint8_t p[TUX_END_LEN];

	tux_put32(p, small);
	tux_put32(p + 4, bulk);
	return tux_message_fin(d->b.c, p, sizeof(p));
}

static void fin__with_all_that_is_known(void **state)
{
	struct duo *d = *state;

	assert_int_equal(put(d, frag(0, 0, 10)), 0);
	assert_int_equal(fin(d, 1, 0), 0);
	assert_true(tux_messages_all_here(d->b.c->msg));
}

static void fin__waits_for_the_last(void **state)
{
	struct duo *d = *state;

	assert_int_equal(fin(d, 2, 1), 0);
	assert_int_equal(put(d, frag(1, 64, 10)), 0);
	assert_int_equal(put(d, frag(0, 0, 10)), 0);
	assert_false(tux_messages_all_here(d->b.c->msg));
	assert_int_equal(put(d, (struct tux_message_hdr){
		.flags = TUX_MESSAGE_BULK, .total = 9, .len = 8 }), 0);
	assert_false(tux_messages_all_here(d->b.c->msg));
	assert_int_equal(put(d, (struct tux_message_hdr){
		.flags = TUX_MESSAGE_BULK, .total = 9, .off = 8, .len = 1 }),
		0);
	assert_true(tux_messages_all_here(d->b.c->msg));
}

/* Nobody fills a gap in the order any more. */
static void fin__ends_waiting_in_order(void **state)
{
	struct duo *d = *state;

	assert_int_equal(put(d, ordered(0, 0, 2)), 0);
	assert_int_equal(put(d, ordered(1, 64, TUX_MSG_IN - 1)), 0);
	assert_int_equal(take(d, 0), 0);
	assert_int_equal(fin(d, 2, 0), 0);
	assert_int_equal(take(d, 0), 2);
}

static void fin__of_another_length(void **state)
{
	struct duo *d = *state;
	uint8_t p[TUX_END_LEN + 1] = { 0 };

	assert_int_equal(tux_message_fin(d->b.c, p, TUX_END_LEN - 1), -EBADMSG);
	assert_int_equal(tux_message_fin(d->b.c, p, TUX_END_LEN + 1), -EBADMSG);
	assert_false(d->b.c->msg->fin);
}

/* ---- room ---- */

/* Complete messages of @size bytes come, are read and released, until the peer
 * is to be told; how many it took. */
static unsigned until_told(struct duo *d, uint8_t flags, uint32_t size)
{
	unsigned lane = flags & TUX_MESSAGE_BULK ? 1 : 0, n = 0, news = 0;
	struct tux_msg_lane_rx *l = &d->b.c->msg->rx[lane];
	struct tux_message_hdr h = { .flags = flags, .total = size,
				     .len = size };

	duo_settle(d);
	/* Another one stays, so that the lane is never empty. */
	h.id = (uint32_t)l->top + 100 / (1 + 9 * lane);
	h.pos = (uint32_t)l->tail + 48 * 1024;
	h.len = 1;
	assert_int_equal(put(d, h), 0);
	h.len = size;
	do {
		h.id = (uint32_t)l->first;
		h.pos = (uint32_t)l->tail;
		assert_int_equal(put(d, h), 0);
		assert_int_equal(take(d, 1), 1);
		duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
		n++;
		/* Half of what must be told is told with what leaves anyway. */
		if (!news && tux_message_room_news(d->b.c))
			news = n;
	} while (!(d->b.c->todo & TUX_DO_ROOM) && n < 1000);
	assert_int_equal(2 * news, n);
	return n;
}

static void released__tells_of_a_quarter(void **state)
{
	struct duo *d = *state;

	assert_int_equal(until_told(d, 0, 1024), DUO_SMALL / 4 / 1024);
}

static void released__tells_of_places(void **state)
{
	struct duo *d = *state;

	assert_int_equal(until_told(d, 0, 10), TUX_MSG_SMALL_N / 4);
}

static void released__tells_of_bulk(void **state)
{
	struct duo *d = *state;

	assert_int_equal(until_told(d, TUX_MESSAGE_BULK, 8192),
			 DUO_BULK / 4 / 8192);
}

/* What is left at the end of its lane may be too short for the next. */
static void released__tells_of_an_empty_bulk_lane(void **state)
{
	struct duo *d = *state;

	duo_settle(d);
	assert_int_equal(put(d, (struct tux_message_hdr){
		.flags = TUX_MESSAGE_BULK, .total = 9, .len = 9 }), 0);
	assert_int_equal(take(d, 1), 1);
	duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	assert_true(d->b.c->todo & TUX_DO_ROOM);
}

/* What lies behind a message that is kept was released, and is not free: when
 * the kept one goes, all is, and the doorbell rings. */
static void tell__what_is_released_early_counts_later(void **state)
{
	enum { N = 20, SIZE = 1024 };
	struct duo *d = *state;
	uint8_t p[TUX_ROOM_LEN];
	struct tux_msg m[N];
	unsigned i;

	for (i = 0; i < N; i++)
		assert_int_equal(put(d, frag(i, i * SIZE, SIZE)), 0);
	assert_int_equal(tux_msgbox_take(d->b.box, m, N), N);
	for (i = 1; i < N; i++)
		tux_msgbox_release(d->b.box, &m[i]);
	tux_message_tell_room(d->b.c, p);
	assert_true(tux_msgbox_release(d->b.box, &m[0]));
	tux_message_released(d->b.c);
	assert_true(d->b.c->todo & TUX_DO_ROOM);
}

static void tell__what_is_free(void **state)
{
	struct duo *d = *state;
	struct tux_msgbox_rx *rx = d->b.box->rx;
	struct tux_room r[TUX_LANES];
	uint8_t p[TUX_ROOM_LEN];
	uint64_t freed;

	assert_int_equal(put(d, frag(0, 0, 100)), 0);
	assert_int_equal(put(d, frag(1, 128, 100)), 0);
	assert_int_equal(take(d, 1), 2);
	freed = atomic_load(&rx[0].freed);
	assert_true(freed >= 128);
	tux_message_tell_room(d->b.c, p);
	assert_int_equal(tux_room_decode(r, p, sizeof(p)), 0);
	assert_int_equal(r[0].cap, DUO_SMALL);
	assert_int_equal(r[0].ids, 1 + TUX_MSG_SMALL_N);
	assert_int_equal(r[0].limit, 128 + DUO_SMALL);
	assert_int_equal(r[1].cap, DUO_BULK);
	assert_int_equal(r[1].ids, TUX_MSG_BULK_N);
	assert_int_equal(r[1].limit, DUO_BULK);
	/* Small ones ring for an eighth, bulk for each. */
	assert_int_equal(atomic_load(&rx[0].wake_at), freed + DUO_SMALL / 8);
	assert_int_equal(atomic_load(&rx[1].wake_at), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, duo_setup_messages, \
						duo_teardown)
	const struct CMUnitTest tests[] = {
		T(put__between_its_neighbours),
		T(put__in_its_lane),
		T(put__id_in_reach),
		T(put__not_around_the_end),
		T(put__the_settled_is_passed_over),
		T(put__pieces_of_the_same),
		T(put__order_in_reach),
		T(put__too_many_gaps),
		T(deliver__as_it_was_sent),
		T(deliver__after_laps),
		T(deliver__passes_over_the_cancelled),
		T(fin__with_all_that_is_known),
		T(fin__waits_for_the_last),
		T(fin__ends_waiting_in_order),
		T(fin__of_another_length),
		T(released__tells_of_a_quarter),
		T(released__tells_of_places),
		T(released__tells_of_bulk),
		T(released__tells_of_an_empty_bulk_lane),
		T(tell__what_is_released_early_counts_later),
		T(tell__what_is_free),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
