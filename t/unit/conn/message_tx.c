/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages out: which begins, which fragment goes next, and what is noted of it.
 */
#include <errno.h>

#include "conn/message_fate.h"
#include "conn/message_tx.h"
#include "conn/settle.h"
#include "duo.h"

/* Headers without order: of a message in one piece, and of a part of one. */
enum { WHOLE = TUX_MESSAGE_HDR_MIN, PART = 16 };

/* The next fragment of a, if its body may have @room bytes, into *@k; it is being
 * sent over Tux. */
static bool next(struct duo *d, size_t room, struct tux_msg_pick *k)
{
	uint16_t n = 0;

	if (!duo_pick(d->a.c, room, k))
		return false;
	tux_message_take(d->a.c, k, &n);
	assert_int_equal(n, 1);
	return true;
}

/* ---- what begins ---- */

static void begin__says_what_it_is(void **state)
{
	struct duo *d = *state;
	struct tux_msg_pick k;

	duo_hand_in(&d->a, 100, 0, 'a');
	duo_hand_in(&d->a, 10, TUX_MSG_ORDERED, 'b');
	assert_true(next(d, 1000, &k));
	assert_int_equal(k.lane, TUX_LANE_SMALL);
	assert_int_equal(k.h.id, 0);
	assert_int_equal(k.h.pos, 0);
	assert_int_equal(k.h.total, 100);
	assert_int_equal(k.h.off, 0);
	assert_int_equal(k.h.len, 100);
	assert_int_equal(k.h.flags, TUX_MESSAGE_FIRST | TUX_MESSAGE_LAST);
	assert_true(next(d, 1000, &k));
	assert_int_equal(k.h.id, 1);
	assert_int_equal(k.h.pos, 128);
	assert_int_equal(k.h.order, 0);
	assert_int_equal(k.h.flags, TUX_MESSAGE_FIRST | TUX_MESSAGE_LAST |
			 TUX_MESSAGE_ORDER);
	assert_false(next(d, 1000, &k));
	assert_int_equal(d->a.c->stats.msg_tx, 110);
	duo_hand_in(&d->a, TUX_MSG_SMALL + 1, 0, 'c');
	assert_true(next(d, 1000, &k));
	assert_int_equal(k.lane, TUX_LANE_BULK);
	assert_int_equal(k.h.flags, TUX_MESSAGE_FIRST | TUX_MESSAGE_BULK);
	assert_int_equal(k.h.len, 1000 - PART);
}

/* Four of a lane take turns; the fifth begins when one has been sent whole. */
static void begin__a_few_at_a_time(void **state)
{
	static const uint32_t want[] = { 0, 1, 2, 3, 0, 1, 4, 2, 3, 4, 4 };
	struct duo *d = *state;
	struct tux_msg_pick k;
	unsigned i;

	duo_hand_in(&d->a, 900, 0, 'a');
	duo_hand_in(&d->a, 900, 0, 'b');
	duo_hand_in(&d->a, 1200, 0, 'c');
	duo_hand_in(&d->a, 1200, 0, 'd');
	duo_hand_in(&d->a, 1500, 0, 'e');
	for (i = 0; i < N_OF(want); i++) {
		if (!next(d, 600 + PART, &k))
			break;
		if (i < 4)
			assert_int_equal(k.h.id, want[i]);
		assert_true(d->a.c->msg->tx[0].open_n <= 4);
	}
	assert_int_equal(i, 11);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 0);
	assert_int_equal(d->a.c->msg->tx[0].next, 5);
}

/* Taken back before it began: nobody need know; but who waits for the number of an
 * ordered one does. */
static void begin__cancelled(void **state)
{
	struct duo *d = *state;
	struct tux_msg_pick k;
	uint64_t ref;
	int err = 0;

	tux_msgbox_cancel(d->a.box, duo_hand_in(&d->a, 10, 0, 'a'));
	d->a.ready_n = 0;
	assert_false(next(d, 1000, &k));
	tux_conn_settle(d->a.c, d->now);
	duo_effects(&d->a);
	assert_int_equal(d->a.ready_n, 1);
	assert_true(tux_msgbox_settled(d->a.box, &ref, &err));
	assert_int_equal(err, ECANCELED);
	tux_msgbox_cancel(d->a.box,
			  duo_hand_in(&d->a, 10, TUX_MSG_ORDERED, 'a'));
	assert_true(next(d, 1000, &k));
	assert_int_equal(k.h.flags & TUX_MESSAGE_CANCEL, TUX_MESSAGE_CANCEL);
	assert_int_equal(k.h.total, 0);
	assert_int_equal(k.h.len, 0);
	assert_int_equal(d->log_a.n[TUX_TRACE_MSG_CANCEL], 1);
	assert_false(next(d, 1000, &k));
	assert_int_equal(d->a.c->msg->tx[0].open_n, 0);
}

/* ---- which fragment ---- */

static void pick__as_much_as_fits(void **state)
{
	struct duo *d = *state;
	struct tux_msg_pick k;

	duo_hand_in(&d->a, 500, 0, 'a');
	assert_true(next(d, 200 + PART, &k));
	assert_int_equal(k.h.flags, TUX_MESSAGE_FIRST);
	assert_int_equal(k.h.len, 200);
	assert_true(next(d, 200 + PART, &k));
	assert_int_equal(k.h.flags, 0);
	assert_int_equal(k.h.off, 200);
	assert_true(next(d, 200 + PART, &k));
	assert_int_equal(k.h.flags, TUX_MESSAGE_LAST);
	assert_int_equal(k.h.off, 400);
	assert_int_equal(k.h.len, 100);
}

/* It is not cut for less than 128 bytes; a whole one goes in less. */
static void pick__worth_it(void **state)
{
	struct duo *d = *state;
	struct tux_msg_pick k;

	duo_hand_in(&d->a, 200, 0, 'a');
	assert_false(duo_pick(d->a.c, WHOLE - 1, &k));
	assert_false(duo_pick(d->a.c, PART + 127, &k));
	assert_true(duo_pick(d->a.c, PART + 128, &k));
	assert_int_equal(k.h.len, 128);
	assert_true(next(d, WHOLE + 200, &k));
	assert_int_equal(k.h.len, 200);
	duo_hand_in(&d->a, 50, 0, 'b');
	assert_false(duo_pick(d->a.c, WHOLE + 49, &k));
	assert_true(next(d, WHOLE + 50, &k));
	duo_hand_in(&d->a, 0, 0, 'c');
	assert_true(next(d, WHOLE, &k));
	assert_int_equal(k.h.flags, TUX_MESSAGE_FIRST | TUX_MESSAGE_LAST);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 0);
}

/* What was lost goes before what is new. */
static void pick__lost_first(void **state)
{
	struct duo *d = *state;
	struct tux_msg_pick k;
	struct tux_msg_parts *p;
	struct tux_msg_out *m;

	duo_hand_in(&d->a, 2000, 0, 'a');
	assert_true(next(d, 1000 + PART, &k));
	m = k.m;
	p = tux_message_parts(d->a.c->msg, m);
	tux_frag_cover(&p->lost, 100, 300);
	tux_frag_cover(&p->lost, 600, 700);
	assert_true(next(d, 150 + PART, &k));
	assert_int_equal(k.h.off, 100);
	assert_int_equal(k.h.len, 150);
	assert_true(next(d, 1000 + PART, &k));
	assert_int_equal(k.h.off, 250);
	assert_int_equal(k.h.len, 50);
	assert_true(next(d, 1000 + PART, &k));
	assert_int_equal(k.h.off, 600);
	assert_int_equal(m->next, 1000);
	assert_true(next(d, 1000 + PART, &k));
	assert_int_equal(k.h.off, 1000);
	assert_false(next(d, 1000, &k));
}

/* Small ones first; but bulk is not starved. */
static void pick__small_before_bulk(void **state)
{
	struct duo *d = *state;
	struct tux_messages *g = d->a.c->msg;
	struct tux_msg_pick k;

	duo_hand_in(&d->a, 20000, 0, 'b');
	assert_true(next(d, 1000 + PART, &k));
	assert_int_equal(k.lane, TUX_LANE_BULK);
	duo_hand_in(&d->a, 3000, 0, 's');
	assert_true(next(d, 1000 + PART, &k));
	assert_int_equal(k.lane, TUX_LANE_SMALL);
	assert_int_equal(g->lead, 1000);
	g->lead = 65536;
	assert_true(next(d, 1000 + PART, &k));
	assert_int_equal(k.lane, TUX_LANE_SMALL);
	assert_int_equal(g->lead, 66536);
	assert_true(next(d, 1000 + PART, &k));
	assert_int_equal(k.lane, TUX_LANE_BULK);
	assert_int_equal(g->lead, 65536);
	g->lead = 500;
	assert_true(next(d, 1000 + PART, &k));	/* the last small one */
	assert_int_equal(k.lane, TUX_LANE_SMALL);
	g->lead = 500;
	assert_true(next(d, 1000 + PART, &k));
	assert_int_equal(k.lane, TUX_LANE_BULK);
	assert_int_equal(g->lead, 0);
}

/* ... though small ones always wait, so that no bulk has begun. */
static void add__bulk_beside_small_ones(void **state)
{
	struct duo *d = *state;
	struct tux_messages *g = d->a.c->msg;
	struct tux_writer w;
	uint8_t buf[1000];
	uint16_t n;
	unsigned i;

	duo_hand_in(&d->a, 20000, 0, 'b');
	for (i = 0; i < 2 * TUX_MSG_SMALL_N && !g->tx[1].next; i++) {
		n = 0;
		g->tx[0].ids = g->tx[0].limit = UINT64_MAX;
		duo_hand_in(&d->a, 900, 0, 'a');
		tux_writer_init(&w, buf, sizeof(buf));
		assert_true(tux_message_add(d->a.c, &w, &n) > 0);
		g->tx[0].first = g->tx[0].next;
		d->a.box->tx[0].first = d->a.box->tx[0].next;
		g->sent_next = 0;
	}
	assert_int_equal(i, 65536 / (900 + TUX_MESSAGE_HDR_MIN) + 1);
	assert_int_equal(g->tx[1].open_n, 1);
}

/* With no bulk that waits, nothing is owed. */
static void pick__no_lead_over_nobody(void **state)
{
	struct duo *d = *state;
	struct tux_msg_pick k;

	d->a.c->msg->lead = 777;
	duo_hand_in(&d->a, 100, 0, 's');
	assert_true(next(d, 1000 + PART, &k));
	assert_int_equal(d->a.c->msg->lead, 0);
}

/* ---- what is noted, copied and told ---- */

static void take__notes_the_fragment(void **state)
{
	struct duo *d = *state;
	struct tux_messages *g = d->a.c->msg;
	uint32_t at = g->sent_next;
	struct tux_msg_sent *s = tux_message_sent(g, at);
	struct tux_msg_pick k;

	duo_hand_in(&d->a, 300, 0, 'a');
	assert_true(next(d, 200 + PART, &k));
	assert_int_equal(g->sent_next, at + 1);
	assert_int_equal(s->off, 0);
	assert_int_equal(s->len, 200);
	assert_int_equal(s->id, 0);
	assert_int_equal(s->lane, 0);
	assert_false(s->cancel);
	/* A frame needs no note. */
	assert_true(duo_pick(d->a.c, 1000, &k));
	tux_message_take(d->a.c, &k, NULL);
	assert_int_equal(g->sent_next, at + 1);
}

static void copy__from_its_place(void **state)
{
	struct duo *d = *state;
	struct tux_msg_pick k;
	char buf[4];

	duo_hand_in(&d->a, 64, 0, 'x');
	duo_hand_in(&d->a, 3, 0, 'y');
	assert_true(next(d, 1000, &k));
	assert_true(next(d, 1000, &k));
	tux_message_copy(d->a.c, &k, 1, buf, 2);
	assert_memory_equal(buf, "yy", 2);
	tux_message_copy(d->a.c, &k, 0, NULL, 0);
}

static void add__until_it_is_full(void **state)
{
	struct duo *d = *state;
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT };
	struct tux_writer w;
	uint16_t n = 0;
	uint8_t buf[400];
	struct duo_pkt k;

	duo_hand_in(&d->a, 50, 0, 'a');
	duo_hand_in(&d->a, 60, 0, 'b');
	duo_hand_in(&d->a, 500, 0, 'c');
	tux_writer_init(&w, buf, sizeof(buf));
	assert_int_equal(tux_message_add(d->a.c, &w, &n), 400 - 40 - 3 * 4);
	assert_int_equal(n, 2);		/* whole ones share one */
	k.len = tux_writer_end(&w, &h, NULL);
	assert_int_equal(k.len, 400);
	assert_true(tux_message_waits(d->a.c));
	tux_writer_init(&w, buf, sizeof(buf));
	assert_true(tux_message_add(d->a.c, &w, &n) > 0);
	assert_int_equal(n, 3);
	assert_false(tux_message_waits(d->a.c));
}

/* The ring of notes has a place for each fragment in flight. */
static void add__while_it_can_be_noted(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_writer w;
	uint8_t buf[1000];
	uint16_t n = 0;

	tux_conn_do(c, TUX_DO_PING);
	duo_drop(&d->a);
	duo_hand_in(&d->a, 50, 0, 'a');
	tux_sentq_oldest(&c->sentq)->frag_at = c->msg->sent_next -
					       TUX_MSG_SENT;
	tux_writer_init(&w, buf, sizeof(buf));
	assert_int_equal(tux_message_add(c, &w, &n), 0);
	tux_sentq_oldest(&c->sentq)->frag_at++;
	n = UINT16_MAX;
	assert_int_equal(tux_message_add(c, &w, &n), 0);
	n = 0;
	assert_true(tux_message_add(c, &w, &n) > 0);
}

static void end__counts_what_has_begun(void **state)
{
	struct duo *d = *state;
	struct tux_msg_pick k;
	uint8_t p[TUX_END_LEN];

	duo_hand_in(&d->a, 50, 0, 'a');
	duo_hand_in(&d->a, 50, 0, 'b');
	duo_hand_in(&d->a, 20000, 0, 'c');
	while (next(d, 1400, &k))
		;
	tux_message_tell_end(d->a.c, p);
	assert_int_equal(tux_get32(p), 2);
	assert_int_equal(tux_get32(p + 4), 1);
}

/* A message that is settled, or has nothing to say, is in no list. */
static void requeue__only_with_work(void **state)
{
	struct duo *d = *state;
	struct tux_messages *g = d->a.c->msg;
	struct tux_msg_pick k, o;

	duo_hand_in(&d->a, 50, 0, 'a');
	duo_hand_in(&d->a, 300, 0, 'b');
	assert_true(next(d, 1000, &k));
	assert_true(next(d, 200, &o));
	tux_message_requeue(g, 0, k.m, true);
	assert_true(tux_list_empty(&k.m->work));
	tux_frag_cover(&tux_message_parts(g, k.m)->lost, 0, 5);
	tux_message_requeue(g, 0, k.m, false);
	assert_ptr_equal(g->tx[0].work.next, &o.m->work);
	tux_message_requeue(g, 0, k.m, true);
	assert_ptr_equal(g->tx[0].work.next, &k.m->work);
	k.m->live = false;
	tux_message_requeue(g, 0, k.m, true);
	assert_true(tux_list_empty(&k.m->work));
	k.m->live = k.m->cancelled = true;
	tux_message_requeue(g, 0, k.m, true);
	assert_true(tux_list_empty(&k.m->work));
	k.m->cancel_due = true;
	tux_message_requeue(g, 0, k.m, true);
	assert_false(tux_list_empty(&k.m->work));
}

int main(void)
{
#define T(name) \
	cmocka_unit_test_setup_teardown(name, duo_setup_messages, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(begin__says_what_it_is),
		T(begin__a_few_at_a_time),
		T(begin__cancelled),
		T(pick__as_much_as_fits),
		T(pick__worth_it),
		T(pick__lost_first),
		T(pick__small_before_bulk),
		T(add__bulk_beside_small_ones),
		T(pick__no_lead_over_nobody),
		T(take__notes_the_fragment),
		T(copy__from_its_place),
		T(add__until_it_is_full),
		T(add__while_it_can_be_noted),
		T(end__counts_what_has_begun),
		T(requeue__only_with_work),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
