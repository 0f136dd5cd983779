/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages in: the room that becomes free.
 */
#include "conn/message_room.h"
#include "duo.h"

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
	assert_int_equal(duo_message(d, h), 0);
	h.len = size;
	do {
		h.id = (uint32_t)l->first;
		h.pos = (uint32_t)l->tail;
		assert_int_equal(duo_message(d, h), 0);
		assert_int_equal(duo_take(d, 1), 1);
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
	assert_int_equal(duo_message(d, (struct tux_message_hdr){
		.flags = TUX_MESSAGE_BULK, .total = 9, .len = 9 }), 0);
	assert_int_equal(duo_take(d, 1), 1);
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
		assert_int_equal(duo_message(d, duo_frag(i, i * SIZE, SIZE)), 0);
	assert_int_equal(tux_msgbox_take(d->b.box, m, N), N);
	tux_msgbox_release(d->b.box, m + 1, N - 1);
	tux_message_tell_room(d->b.c, p);
	assert_true(tux_msgbox_release(d->b.box, m, 1));
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

	assert_int_equal(duo_message(d, duo_frag(0, 0, 100)), 0);
	assert_int_equal(duo_message(d, duo_frag(1, 128, 100)), 0);
	assert_int_equal(duo_take(d, 1), 2);
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
