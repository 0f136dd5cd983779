/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages in: what an honest peer cannot have sent, and deliveries.
 */
#include <errno.h>

#include "conn/message_rx.h"
#include "duo.h"

/* The first byte only: it is known, and not complete. */
static int touch(struct duo *d, uint32_t id, uint32_t pos, uint32_t total)
{
	struct tux_message_hdr h = duo_frag(id, pos, total);

	h.len = 1;
	return duo_message(d, h);
}

static struct tux_message_hdr ordered(uint32_t id, uint32_t pos, uint32_t order)
{
	struct tux_message_hdr h = duo_frag(id, pos, 10);

	h.flags = TUX_MESSAGE_ORDER;
	h.order = order;
	return h;
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

	assert_int_equal(duo_message(d, duo_frag(0, 0, 10)), 0);
	assert_int_equal(duo_take(d, 1), 1);
	duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	assert_int_equal(d->b.c->msg->rx[0].tail, 64);
	assert_int_equal(touch(d, 1, DUO_SMALL - 64, 65), -EBADMSG);
	assert_int_equal(touch(d, 1, DUO_SMALL, 64), 0);
}

/* The application takes message @id, at @pos, of @total bytes, into *@m. */
static void come(struct duo *d, uint32_t id, uint32_t pos, uint32_t total,
		 struct tux_msg *m)
{
	assert_int_equal(duo_message(d, duo_frag(id, pos, total)), 0);
	assert_int_equal(tux_msgbox_take(d->b.box, m, 1), 1);
}

static void done_with(struct duo *d, const struct tux_msg *m)
{
	tux_msgbox_release(d->b.box, m, 1);
	duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
}

/* In a lane that is empty, positions begin anew in memory; a message that would
 * lie around the end reaches behind it. */
static void put__from_the_first_byte(void **state)
{
	struct duo *d = *state;
	struct tux_msg a, b, c;
	const void *first;

	come(d, 0, 0, 10, &a);
	first = a.p;
	done_with(d, &a);
	come(d, 1, 64, 10, &a);
	assert_ptr_equal(a.p, first);
	come(d, 2, 128, 10, &b);
	done_with(d, &a);		/* b is kept */
	assert_int_equal(d->b.c->msg->rx[0].base, 64);
	come(d, 3, DUO_SMALL, 128, &c);
	assert_int_equal((const uint8_t *)c.p - (const uint8_t *)first,
			 DUO_SMALL - 64);
	done_with(d, &c);
	done_with(d, &b);
	come(d, 4, DUO_SMALL + 128, 10, &a);
	assert_ptr_equal(a.p, first);
}

/* The application has closed, and still holds one: what comes now is not kept. */
static void put__nothing_is_kept_after_the_close(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = duo_frag(1, 64, 10);
	static const uint8_t other[64] = { 7, 7, 7 };
	struct tux_msg held;

	come(d, 0, 0, 10, &held);
	d->b.c->closed = true;
	duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	assert_int_equal(d->b.c->msg->rx[0].first, 1);
	assert_int_equal(tux_message_put(d->b.c, &h, other, false), 0);
	h = duo_frag(2, 128, 10);
	h.flags = TUX_MESSAGE_FIRST;
	h.len = 4;
	assert_int_equal(tux_message_put(d->b.c, &h, other, false), 0);
	assert_int_equal(d->b.c->msg->rx[0].first, 2);
	assert_memory_equal(held.p, "\1\0\0", 3);
	d->b.c->closed = false;
}

static void put__the_settled_is_passed_over(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_message(d, duo_frag(0, 0, 10)), 0);
	assert_int_equal(duo_take(d, 1), 1);
	duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	assert_int_equal(d->b.c->msg->rx[0].first, 1);
	assert_int_equal(duo_message(d, duo_frag(0, 640, 99)), 0);
	assert_int_equal(duo_message(d, duo_frag(1, 0, 10)), -EBADMSG);
	assert_int_equal(duo_message(d, duo_frag(1, 64, 10)), 0);
	assert_int_equal(duo_take(d, 0), 1);
}

/* All fragments of a message agree on what it is. */
static void put__pieces_of_the_same(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = ordered(0, 0, 1), g;

	h.len = 1;
	assert_int_equal(duo_message(d, h), 0);
	g = h, g.pos = 64;
	assert_int_equal(duo_message(d, g), -EBADMSG);
	g = h, g.total = 11;
	assert_int_equal(duo_message(d, g), -EBADMSG);
	g = h, g.order = 2;
	assert_int_equal(duo_message(d, g), -EBADMSG);
	g = h, g.flags = 0;
	assert_int_equal(duo_message(d, g), -EBADMSG);
	g = h, g.flags |= TUX_MESSAGE_LAST, g.off = 1, g.len = 9;
	assert_int_equal(duo_message(d, g), 0);
	assert_int_equal(d->b.c->msg->slot[0].in.state, TUX_MSG_WHOLE);
}

/* Of ordered ones, each has a number of its own that is still to come. */
static void put__order_in_reach(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_message(d, ordered(0, 0, 3)), 0);
	assert_int_equal(duo_message(d, ordered(1, 64, 3)), -EBADMSG);
	assert_int_equal(duo_message(d, ordered(1, 64, TUX_MSG_IN)), -EBADMSG);
	assert_int_equal(duo_message(d, ordered(1, 64, UINT32_MAX)), -EBADMSG);
	assert_int_equal(duo_message(d, ordered(1, 64, TUX_MSG_IN - 1)), 0);
	assert_int_equal(duo_message(d, ordered(2, 128, 0)), 0);
	assert_int_equal(duo_take(d, 0), 1);
	assert_int_equal(duo_message(d, ordered(3, 192, 0)), -EBADMSG);
	assert_int_equal(duo_message(d, ordered(3, 192, TUX_MSG_IN)), 0);
}

/* The box was another connection's, whose application had released all: a message
 * that waits for its turn keeps its room. */
static void put__in_a_used_box(void **state)
{
	struct duo *d = *state;
	unsigned i;

	for (i = 0; i < TUX_MSG_N; i++)
		atomic_store(&d->b.box->slot[i].released, 1);
	assert_int_equal(duo_message(d, ordered(0, 0, 1)), 0);
	duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	assert_int_equal(d->b.c->msg->rx[0].first, 0);
	assert_int_equal(duo_message(d, ordered(1, 64, 0)), 0);
	assert_int_equal(duo_take(d, 2), 2);
	duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	assert_int_equal(d->b.c->msg->rx[0].first, 2);
}

/* A connection with few messages on the way touches few pages.  The slab puts 16 bytes
 * in front of its pieces. */
static void slots__the_first_share_a_page(void **state)
{
	(void)state;
	assert_true(offsetof(struct tux_messages, slot[32]) < 4096 - 16);
	assert_true(offsetof(struct tux_msgbox, slot[32]) < 4096);
}

/* What cannot be noted is as if it were lost.  In TCP, nothing is: there is a
 * range more for it. */
static void put__too_many_gaps(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = duo_frag(0, 0, 1000);
	uint8_t bytes[10] = { 0 };
	unsigned i;

	h.len = 10;
	for (i = 0; i < TUX_FRAG_MAX - 1; i++) {
		h.off = 20 * i;
		assert_int_equal(duo_message(d, h), 0);
	}
	h.off = 20 * i;
	assert_int_equal(duo_message(d, h), -ENOBUFS);
	assert_int_equal(tux_message_put(d->b.c, &h, bytes, true), 0);
	h.off += 20;
	assert_int_equal(tux_message_put(d->b.c, &h, bytes, true), -ENOBUFS);
}

/* ---- delivery ---- */

/* Each is named by its lane and its number, and lies where it was put. */
static void deliver__as_it_was_sent(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = duo_frag(30, 4096, 20);
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
	assert_true(m[0].ref == 30 && m[0].len == 20 &&
		    !m[0].flags);
	assert_memory_equal(m[0].p, bytes, 20);
	assert_true(m[1].ref == TUX_MSG_SMALL_N + 7 && m[1].len == 5);
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

		assert_int_equal(duo_message(d, duo_frag(id, 64 * id, 10)), 0);
		assert_int_equal(tux_msgbox_take(d->b.box, &m, 1), 1);
		assert_int_equal(m.ref,
				 tux_message_in_slot(d->b.c->msg, 0, id));
		tux_msgbox_release(d->b.box, &m, 1);
		duo_ring(&d->b, TUX_DOORBELL_MESSAGE);
	}
	assert_int_equal(d->b.c->msg->rx[0].first, 3 * TUX_MSG_SMALL_N);
}

/* One that was taken back makes way for those behind it. */
static void deliver__passes_over_the_cancelled(void **state)
{
	struct duo *d = *state;
	struct tux_message_hdr h = ordered(0, 0, 0);

	assert_int_equal(duo_message(d, ordered(1, 64, 1)), 0);
	assert_int_equal(duo_message(d, ordered(2, 128, 2)), 0);
	assert_int_equal(duo_take(d, 0), 0);
	h.flags = TUX_MESSAGE_ORDER | TUX_MESSAGE_CANCEL;
	h.total = h.len = 0;
	assert_int_equal(duo_message(d, h), 0);
	assert_int_equal(duo_take(d, 2), 2);
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

	assert_int_equal(duo_message(d, duo_frag(0, 0, 10)), 0);
	assert_int_equal(fin(d, 1, 0), 0);
	assert_true(tux_messages_all_here(d->b.c->msg));
}

static void fin__waits_for_the_last(void **state)
{
	struct duo *d = *state;

	assert_int_equal(fin(d, 2, 1), 0);
	assert_int_equal(duo_message(d, duo_frag(1, 64, 10)), 0);
	assert_int_equal(duo_message(d, duo_frag(0, 0, 10)), 0);
	assert_false(tux_messages_all_here(d->b.c->msg));
	assert_int_equal(duo_message(d, (struct tux_message_hdr){
		.flags = TUX_MESSAGE_BULK, .total = 9, .len = 8 }), 0);
	assert_false(tux_messages_all_here(d->b.c->msg));
	assert_int_equal(duo_message(d, (struct tux_message_hdr){
		.flags = TUX_MESSAGE_BULK, .total = 9, .off = 8, .len = 1 }),
		0);
	assert_true(tux_messages_all_here(d->b.c->msg));
}

/* Nobody fills a gap in the order any more. */
static void fin__ends_waiting_in_order(void **state)
{
	struct duo *d = *state;

	assert_int_equal(duo_message(d, ordered(0, 0, 2)), 0);
	assert_int_equal(duo_message(d, ordered(1, 64, TUX_MSG_IN - 1)), 0);
	assert_int_equal(duo_take(d, 0), 0);
	assert_int_equal(fin(d, 2, 0), 0);
	assert_int_equal(duo_take(d, 0), 2);
}

static void fin__of_another_length(void **state)
{
	struct duo *d = *state;
	uint8_t p[TUX_END_LEN + 1] = { 0 };

	assert_int_equal(tux_message_fin(d->b.c, p, TUX_END_LEN - 1), -EBADMSG);
	assert_int_equal(tux_message_fin(d->b.c, p, TUX_END_LEN + 1), -EBADMSG);
	assert_false(d->b.c->msg->fin);
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
		T(put__from_the_first_byte),
		T(put__nothing_is_kept_after_the_close),
		T(put__the_settled_is_passed_over),
		T(put__pieces_of_the_same),
		T(put__order_in_reach),
		T(put__in_a_used_box),
		T(slots__the_first_share_a_page),
		T(put__too_many_gaps),
		T(deliver__as_it_was_sent),
		T(deliver__after_laps),
		T(deliver__passes_over_the_cancelled),
		T(fin__with_all_that_is_known),
		T(fin__waits_for_the_last),
		T(fin__ends_waiting_in_order),
		T(fin__of_another_length),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
