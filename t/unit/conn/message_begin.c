/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages out: from notes to messages that have begun.
 */
#include <errno.h>

#include "conn/message_begin.h"
#include "conn/settle.h"
#include "duo.h"

enum { WHOLE = TUX_REC_HDR + TUX_MESSAGE_HDR_MIN };

/* ---- one by one ---- */

static void begin_next__not_before_the_peer_has_room(void **state)
{
	struct duo *d = *state;
	struct tux_msg_lane_tx *l = &d->a.c->msg->tx[0];
	uint64_t limit = l->limit, ids = l->ids;
	uint32_t cap = l->cap;

	duo_hand_in(&d->a, 100, 0, 'a');
	l->cap = 0;			/* nothing is known */
	assert_null(tux_message_begin_next(d->a.c, 0));
	l->cap = cap;
	l->limit = 127;
	assert_null(tux_message_begin_next(d->a.c, 0));
	l->limit = limit;
	l->ids = 0;
	assert_null(tux_message_begin_next(d->a.c, 0));
	l->ids = 1;
	l->limit = 128;
	assert_non_null(tux_message_begin_next(d->a.c, 0));
	l->ids = ids;
	l->limit = limit;
}

/* The last place of the lane's ring of ids. */
static void begin_next__no_more_than_can_be_noted(void **state)
{
	struct duo *d = *state;
	struct tux_msg_lane_tx *l = &d->a.c->msg->tx[0];

	l->first = 0;
	l->next = TUX_MSG_SMALL_N;
	l->ids = 2 * TUX_MSG_SMALL_N;
	duo_hand_in(&d->a, 100, 0, 'a');
	assert_null(tux_message_begin_next(d->a.c, 0));
	l->first = l->next = 0;
	assert_non_null(tux_message_begin_next(d->a.c, 0));
}

static void begin_next__only_what_is_ready(void **state)
{
	struct duo *d = *state;
	uint64_t ref;
	void *p;

	assert_int_equal(tux_msgbox_reserve(d->a.box, 10, 0, false, &p, &ref),
			 0);
	assert_null(tux_message_begin_next(d->a.c, 0));
	tux_msgbox_commit(d->a.box, ref);
	assert_non_null(tux_message_begin_next(d->a.c, 0));
}

/* Its note lies: about its place, or its length. */
static void begin_next__checks_the_note(void **state)
{
	struct duo *d = *state;
	struct tux_msgbox *b = d->a.box;
	struct tux_msg_out *m;
	uint64_t ref;
	int err = 0;

	duo_hand_in(&d->a, 10, 0, 'a');
	tux_msgbox_note(b, 0, 0)->at = DUO_SMALL - 9;
	assert_null(tux_message_begin_next(d->a.c, 0));
	assert_true(tux_msgbox_settled(b, &ref, &err));
	assert_int_equal(err, EMSGSIZE);
	b->tx[0].head = b->tx[0].tail = 0;
	duo_hand_in(&d->a, 10, 0, 'a');
	tux_msgbox_note(b, 0, 1)->len = DUO_SMALL / 2 + 1;
	assert_null(tux_message_begin_next(d->a.c, 0));
	assert_int_equal(tux_msgbox_note(b, 0, 1)->state, TUX_NOTE_FAILED);
	assert_int_equal(d->a.c->msg->tx[0].next, 0);
	assert_int_equal(d->a.c->msg->tx[0].note, 2);
	b->tx[0].head = b->tx[0].tail = 0;
	b->tx[0].first = 2;
	duo_hand_in(&d->a, 10, 0, 'a');
	tux_msgbox_note(b, 0, 2)->at = DUO_SMALL - 10;
	m = tux_message_begin_next(d->a.c, 0);
	assert_non_null(m);
	assert_int_equal(m->at, DUO_SMALL - 10);
}

/* The peer need not know of a message that is cancelled before it has begun, unless
 * the message is ordered: the peer would wait for its number. */
static void begin_next__cancelled(void **state)
{
	struct duo *d = *state;
	struct tux_msg_out *m;
	uint64_t ref;
	int err = 0;

	tux_msgbox_cancel(d->a.box, duo_hand_in(&d->a, 10, 0, 'a'));
	tux_msgbox_cancel(d->a.box, duo_hand_in(&d->a, 10, 0, 'b'));
	duo_hand_in(&d->a, 10, 0, 'c');
	tux_msgbox_cancel(d->a.box,
			  duo_hand_in(&d->a, 10, TUX_MSG_ORDERED, 'd'));
	m = tux_message_begin_next(d->a.c, 0);
	assert_true(m && m->id == 0 && m->note == 2 && !m->cancelled);
	assert_true(tux_msgbox_settled(d->a.box, &ref, &err));
	assert_int_equal(err, ECANCELED);
	m = tux_message_begin_next(d->a.c, 0);
	assert_true(m && m->id == 1 && m->cancelled && m->cancel_due);
	assert_int_equal(m->total, 0);
	assert_null(tux_message_begin_next(d->a.c, 0));
}

/* It needs no room at the peer to fail. */
static void begin_next__cancelled_without_room(void **state)
{
	struct duo *d = *state;
	uint64_t ref;
	int err = 0;

	d->a.c->msg->tx[0].ids = 0;
	tux_msgbox_cancel(d->a.box, duo_hand_in(&d->a, 10, 0, 'a'));
	assert_null(tux_message_begin_next(d->a.c, 0));
	assert_true(tux_msgbox_settled(d->a.box, &ref, &err));
	assert_int_equal(err, ECANCELED);
}

/* ---- whole ones ---- */

static uint32_t whole(struct duo *d, size_t room, uint16_t *n,
		      struct tux_reader *r)
{
	static struct tux_writer w;
	static uint8_t buf[2000];
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT };
	uint32_t len;

	tux_writer_init(&w, buf, TUX_PKT_HDR + room);
	len = tux_message_begin_whole(d->a.c, &w, n);
	tux_writer_end(&w, &h, NULL);
	assert_int_equal(tux_pkt_decode(&h, buf, w.len), 0);
	tux_reader_init(r, &h, buf);
	return len;
}

/* The record that comes next is message @id of @len bytes. */
static void is_message(struct tux_reader *r, uint32_t id, uint32_t len)
{
	struct tux_message_hdr h;
	struct tux_record rec;

	assert_int_equal(tux_reader_next(r, &rec), 1);
	assert_int_equal(rec.type, TUX_REC_MESSAGE);
	assert_int_equal(tux_message_decode(&h, rec.flags, rec.body, rec.len),
			 0);
	assert_true(tux_message_whole(h.flags));
	assert_int_equal(h.id, id);
	assert_int_equal(h.len, len);
}

static void begin_whole__share_an_entry(void **state)
{
	struct duo *d = *state;
	struct tux_messages *g = d->a.c->msg;
	uint32_t at = g->sent_next;
	struct tux_reader r;
	uint16_t n = 0;

	duo_hand_in(&d->a, 100, 0, 'a');
	duo_hand_in(&d->a, 0, 0, 'b');
	duo_hand_in(&d->a, 40, TUX_MSG_ORDERED, 'c');
	assert_int_equal(whole(d, 1000, &n, &r), 100 + 40 + 3 * 8 + 4);
	assert_int_equal(d->a.c->stats.msg_tx, 140);
	assert_int_equal(n, 1);
	assert_int_equal(g->sent_next, at + 1);
	assert_int_equal(tux_message_sent(g, at)->id, 0);
	assert_int_equal(tux_message_sent(g, at)->n, 3);
	assert_int_equal(g->tx[0].open_n, 0);
	is_message(&r, 0, 100);
	is_message(&r, 1, 0);
	is_message(&r, 2, 40);
	assert_int_equal(whole(d, 1000, &n, &r), 0);
	assert_int_equal(n, 1);
}

static void begin_len__of_the_next(void **state)
{
	struct duo *d = *state;
	struct tux_messages *g = d->a.c->msg;
	struct tux_reader r;
	uint64_t limit = g->tx[0].limit;
	uint16_t n = 0;

	assert_int_equal(tux_message_begin_len(g), 0);
	duo_hand_in(&d->a, 0, 0, 'a');
	duo_hand_in(&d->a, 40, TUX_MSG_ORDERED, 'b');
	tux_msgbox_cancel(d->a.box, duo_hand_in(&d->a, 7, 0, 'c'));
	g->tx[0].limit = 63;
	assert_int_equal(tux_message_begin_len(g), 0);
	g->tx[0].limit = limit;
	assert_int_equal(tux_message_begin_len(g), 8);
	assert_int_equal(whole(d, WHOLE + 4, &n, &r), 8);
	assert_int_equal(tux_message_begin_len(g), 52);
	assert_int_equal(whole(d, 1000, &n, &r), 52);
	assert_int_equal(tux_message_begin_len(g), 0);
}

/* What does not fit has not begun. */
static void begin_whole__that_fit(void **state)
{
	struct duo *d = *state;
	struct tux_reader r;
	uint16_t n = 0;

	duo_hand_in(&d->a, 100, 0, 'a');
	duo_hand_in(&d->a, 100, 0, 'b');
	duo_hand_in(&d->a, 10, 0, 'c');
	assert_int_equal(whole(d, 2 * (WHOLE + 100) - 1, &n, &r), 108);
	assert_int_equal(d->a.c->msg->tx[0].next, 1);
	assert_int_equal(whole(d, WHOLE + 99, &n, &r), 0);
	assert_int_equal(n, 1);
	assert_int_equal(whole(d, 2 * WHOLE + 110, &n, &r), 108 + 18);
	is_message(&r, 1, 100);
	is_message(&r, 2, 10);
}

/* One that is not filled, was taken back, or lies holds up what is behind it. */
static void begin_whole__that_are_ready(void **state)
{
	struct duo *d = *state;
	struct tux_reader r;
	uint16_t n = 0;
	uint64_t ref;
	void *p;

	duo_hand_in(&d->a, 10, 0, 'a');
	assert_int_equal(tux_msgbox_reserve(d->a.box, 10, 0, false, &p, &ref),
			 0);
	assert_int_equal(whole(d, 1000, &n, &r), 18);
	assert_int_equal(whole(d, 1000, &n, &r), 0);
	tux_msgbox_cancel(d->a.box, ref);
	assert_int_equal(whole(d, 1000, &n, &r), 0);
	assert_null(tux_message_begin_next(d->a.c, 0));
	duo_hand_in(&d->a, 10, 0, 'b');
	tux_msgbox_note(d->a.box, 0, 2)->len = DUO_SMALL / 2 + 1;
	assert_int_equal(whole(d, 1000, &n, &r), 0);
	assert_int_equal(n, 1);
}

int main(void)
{
#define T(name) \
	cmocka_unit_test_setup_teardown(name, duo_setup_messages, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(begin_next__not_before_the_peer_has_room),
		T(begin_next__no_more_than_can_be_noted),
		T(begin_next__only_what_is_ready),
		T(begin_next__checks_the_note),
		T(begin_next__cancelled),
		T(begin_next__cancelled_without_room),
		T(begin_whole__share_an_entry),
		T(begin_len__of_the_next),
		T(begin_whole__that_fit),
		T(begin_whole__that_are_ready),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
