/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages out: what became of them.
 */
#include <errno.h>

#include "conn/message_begin.h"
#include "conn/message_fate.h"
#include "conn/message_tx.h"
#include "conn/settle.h"
#include "duo.h"

/* The next fragment of a message leaves in a packet of its own, which is *@s. */
static void leave(struct duo *d, size_t room, struct tux_sent *s)
{
	struct tux_messages *g = d->a.c->msg;
	struct tux_msg_pick k;
	uint16_t n = 0;

	*s = (struct tux_sent){ .frag_at = g->sent_next, .frag_n = 1 };
	assert_true(duo_pick(d->a.c, room + tux_message_hdr_len(0),
				     &k));
	tux_message_take(d->a.c, &k, &n);
}

static struct tux_msg_out *out(struct duo *d, unsigned i)
{
	return &d->a.c->msg->slot[i].out;
}

static struct tux_msg_parts *parts(struct duo *d, unsigned i)
{
	return tux_message_parts(d->a.c->msg, out(d, i));
}

static uint32_t state_of(struct duo *d, unsigned i)
{
	return atomic_load(&d->a.box->slot[i].note.state);
}

/* What follows from what a handler did to a. */
static void settle(struct duo *d)
{
	tux_conn_settle(d->a.c, d->now);
	duo_effects(&d->a);
}

/* ---- arrived ---- */

static void acked__when_all_of_it_is(void **state)
{
	struct duo *d = *state;
	struct tux_sent s[3];

	duo_hand_in(&d->a, 300, 0, 'm');
	leave(d, 128, &s[0]);
	leave(d, 128, &s[1]);
	leave(d, 128, &s[2]);
	tux_message_acked(d->a.c, &s[2]);
	tux_message_acked(d->a.c, &s[0]);
	assert_int_equal(state_of(d, 0), TUX_NOTE_READY);
	assert_int_equal(d->a.c->stats.msgs_tx, 0);
	settle(d);
	d->a.ready_n = 0;
	tux_message_acked(d->a.c, &s[1]);
	settle(d);
	assert_int_equal(state_of(d, 0), TUX_NOTE_SENT);
	assert_int_equal(d->a.c->stats.msgs_tx, 1);
	assert_int_equal(d->a.ready_n, 1);
	assert_int_equal(d->a.c->msg->tx[0].first, 1);
	/* Old news. */
	tux_message_acked(d->a.c, &s[1]);
	tux_message_lost(d->a.c, &s[0]);
	assert_int_equal(d->a.c->stats.msgs_tx, 1);
	assert_false(tux_message_waits(d->a.c));
}

/* Empty ones have no bytes: that it has been sent must be known. */
static void acked__empty(void **state)
{
	struct duo *d = *state;
	struct tux_sent s;

	duo_hand_in(&d->a, 0, 0, 'm');
	leave(d, 0, &s);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 0);
	tux_message_lost(d->a.c, &s);
	assert_true(out(d, 0)->fresh);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 1);
	/* Twice is the same as once. */
	tux_message_lost(d->a.c, &s);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 1);
	tux_message_acked(d->a.c, &s);
	assert_int_equal(state_of(d, 0), TUX_NOTE_READY);
	leave(d, 0, &s);
	tux_message_acked(d->a.c, &s);
	assert_int_equal(state_of(d, 0), TUX_NOTE_SENT);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 0);
}

/* The oldest gives way for those behind it that were settled before. */
static void acked__out_of_order(void **state)
{
	struct duo *d = *state;
	struct tux_sent s[3];
	unsigned i;

	for (i = 0; i < 3; i++) {
		duo_hand_in(&d->a, 10, 0, 'm');
		leave(d, 128, &s[i]);
	}
	tux_message_acked(d->a.c, &s[1]);
	assert_int_equal(d->a.c->msg->tx[0].first, 0);
	tux_message_acked(d->a.c, &s[0]);
	assert_int_equal(d->a.c->msg->tx[0].first, 2);
	tux_message_acked(d->a.c, &s[2]);
	assert_int_equal(d->a.c->msg->tx[0].first, 3);
}

/* More gaps than can be noted: what arrived goes once more. */
static void acked__cannot_be_noted(void **state)
{
	struct duo *d = *state;
	struct tux_sent s[2 * TUX_FRAG_MAX + 2];
	unsigned i;

	duo_hand_in(&d->a, 128 * (2 * TUX_FRAG_MAX + 2), 0, 'm');
	for (i = 0; i < N_OF(s); i++)
		leave(d, 128, &s[i]);
	for (i = 0; i < TUX_FRAG_MAX; i++)
		tux_message_acked(d->a.c, &s[2 * i]);
	assert_false(tux_message_waits(d->a.c));
	tux_message_acked(d->a.c, &s[2 * i]);
	assert_true(tux_message_waits(d->a.c));
	assert_int_equal(parts(d, 0)->lost.r[0].start, 128 * 2 * i);
	assert_int_equal(parts(d, 0)->lost.r[0].end, 128 * 2 * i + 128);
}

/* ---- lost ---- */

static void lost__what_is_not_there_goes_again(void **state)
{
	struct duo *d = *state;
	struct tux_sent s[3];

	duo_hand_in(&d->a, 600, 0, 'm');
	leave(d, 200, &s[0]);
	leave(d, 200, &s[1]);
	leave(d, 200, &s[2]);
	/* Bytes 200 to 300 have come in another packet. */
	tux_frag_add(&parts(d, 0)->acked, 200, 300, TUX_FRAG_MAX);
	tux_message_lost(d->a.c, &s[1]);
	assert_int_equal(parts(d, 0)->lost.n, 1);
	assert_int_equal(parts(d, 0)->lost.r[0].start, 300);
	assert_int_equal(parts(d, 0)->lost.r[0].end, 400);
	assert_false(tux_list_empty(&d->a.c->sendq));
	assert_int_equal(d->log_a.n[TUX_TRACE_MSG_LOST], 1);
	tux_message_lost(d->a.c, &s[2]);
	assert_int_equal(parts(d, 0)->lost.r[0].end, 600);
}

/* The ring has forgotten what the packet carried. */
static void lost__long_ago(void **state)
{
	struct duo *d = *state;
	struct tux_sent s;

	duo_hand_in(&d->a, 300, 0, 'm');
	leave(d, 128, &s);
	d->a.c->msg->sent_next = s.frag_at + TUX_MSG_SENT + 1;
	tux_message_lost(d->a.c, &s);
	tux_message_acked(d->a.c, &s);
	assert_int_equal(parts(d, 0)->lost.n, 0);
	assert_int_equal(parts(d, 0)->acked.n, 0);
	d->a.c->msg->sent_next--;
	tux_message_lost(d->a.c, &s);
	assert_int_equal(parts(d, 0)->lost.n, 1);
}

/* A packet of several. */
static void lost__each_fragment(void **state)
{
	struct duo *d = *state;
	struct tux_sent s, t;

	duo_hand_in(&d->a, 10, 0, 'm');
	duo_hand_in(&d->a, 20, 0, 'm');
	leave(d, 128, &s);
	leave(d, 128, &t);
	s.frag_n = 2;
	tux_message_lost(d->a.c, &s);
	assert_int_equal(parts(d, 0)->lost.n, 1);
	assert_int_equal(parts(d, 1)->lost.n, 1);
	tux_message_acked(d->a.c, &s);
	assert_int_equal(state_of(d, 0), TUX_NOTE_SENT);
	assert_int_equal(state_of(d, 1), TUX_NOTE_SENT);
}

/* Whole messages of one packet. */
static void lost__whole_ones(void **state)
{
	static const uint32_t len[] = { 10, 0, 30, 40 };
	struct duo *d = *state;
	struct tux_messages *g = d->a.c->msg;
	struct tux_sent s = { .frag_at = g->sent_next };
	struct tux_msg_pick k;
	struct tux_writer w;
	uint8_t buf[1000];
	unsigned i;

	for (i = 0; i < N_OF(len); i++)
		duo_hand_in(&d->a, len[i], 0, 'm');
	tux_writer_init(&w, buf, sizeof(buf));
	tux_message_begin_whole(d->a.c, &w, &s.frag_n);
	assert_int_equal(s.frag_n, 1);
	assert_true(tux_list_empty(&g->tx[0].work));
	tux_message_lost(d->a.c, &s);
	for (i = 0; i < N_OF(len); i++)
		assert_false(tux_list_empty(&out(d, i)->work));
	assert_true(out(d, 1)->fresh);
	/* It was only late.  The empty one is under way to be sent again. */
	tux_message_acked(d->a.c, &s);
	for (i = 0; i < N_OF(len); i++)
		assert_int_equal(state_of(d, i), i == 1 ? TUX_NOTE_READY :
							  TUX_NOTE_SENT);
	assert_true(duo_pick(d->a.c, 150, &k));
	assert_int_equal(k.h.id, 1);
}

/* ---- cancelled ---- */

/* Short of its last byte it can be taken back: the peer is told, and its answer
 * ends it. */
static void cancel__of_one_under_way(void **state)
{
	struct duo *d = *state;
	struct tux_sent data, s;
	uint64_t ref = duo_hand_in(&d->a, 300, 0, 'm'), told;
	int err = 0;

	leave(d, 128, &data);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 1);
	assert_true(tux_msgbox_cancel(d->a.box, ref));
	tux_message_cancels(d->a.c);
	assert_true(out(d, 0)->cancelled);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 0);
	/* Looked at once. */
	assert_int_equal(atomic_load(&d->a.box->cancels), 0);
	tux_message_cancels(d->a.c);
	leave(d, 128, &s);
	assert_true(tux_message_sent(d->a.c->msg, s.frag_at)->cancel);
	assert_false(out(d, 0)->cancel_due);
	/* Its bytes matter no more. */
	tux_message_lost(d->a.c, &data);
	tux_message_acked(d->a.c, &data);
	assert_false(tux_message_waits(d->a.c));
	tux_message_lost(d->a.c, &s);
	assert_true(out(d, 0)->cancel_due);
	leave(d, 128, &s);
	tux_message_acked(d->a.c, &s);
	assert_int_equal(state_of(d, 0), TUX_NOTE_FAILED);
	assert_int_equal(d->log_a.n[TUX_TRACE_MSG_FAILED], 1);
	assert_int_equal(d->a.c->stats.msgs_tx, 0);
	assert_true(tux_msgbox_settled(d->a.box, &told, &err));
	assert_true(told == ref);
	assert_int_equal(err, ECANCELED);
}

static void cancel__too_late(void **state)
{
	struct duo *d = *state;
	struct tux_sent s;
	uint64_t ref = duo_hand_in(&d->a, 100, 0, 'm');

	leave(d, 128, &s);
	assert_true(tux_msgbox_cancel(d->a.box, ref));
	tux_message_cancels(d->a.c);
	assert_false(out(d, 0)->cancelled);
	tux_message_acked(d->a.c, &s);
	assert_int_equal(state_of(d, 0), TUX_NOTE_SENT);
}

/* It has been sent, though it will be sent again. */
static void cancel__too_late_for_an_empty_one(void **state)
{
	struct duo *d = *state;
	struct tux_sent s;
	uint64_t ref = duo_hand_in(&d->a, 0, 0, 'm');

	leave(d, 128, &s);
	tux_message_lost(d->a.c, &s);
	assert_true(out(d, 0)->fresh);
	assert_true(tux_msgbox_cancel(d->a.box, ref));
	tux_message_cancels(d->a.c);
	assert_false(out(d, 0)->cancelled);
}

/* In the lane of long ones, with one before it that stays. */
static void cancel__finds_it(void **state)
{
	struct duo *d = *state;
	struct tux_sent s;
	uint64_t ref;

	duo_hand_in(&d->a, 20000, 0, 'm');
	leave(d, 128, &s);
	ref = duo_hand_in(&d->a, 20000, 0, 'm');
	leave(d, 128, &s);
	leave(d, 128, &s);
	assert_true(tux_msgbox_cancel(d->a.box, ref));
	tux_message_cancels(d->a.c);
	assert_false(out(d, TUX_MSG_SMALL_N)->cancelled);
	assert_true(out(d, TUX_MSG_SMALL_N + 1)->cancelled);
}

/* In the lane of short messages, the second one.  The first stays. */
static void cancel__finds_a_short_one(void **state)
{
	struct duo *d = *state;
	struct tux_sent s;
	uint64_t ref;

	duo_hand_in(&d->a, 300, 0, 'm');
	leave(d, 128, &s);
	ref = duo_hand_in(&d->a, 300, 0, 'm');
	leave(d, 128, &s);
	leave(d, 128, &s);		/* their turn goes round */
	assert_true(tux_msgbox_cancel(d->a.box, ref));
	tux_message_cancels(d->a.c);
	assert_false(out(d, 0)->cancelled);
	assert_true(out(d, 1)->cancelled);
}

/* A note is the application's memory: what was settled is not taken back because
 * it says so. */
static void cancel__of_a_settled_one(void **state)
{
	struct duo *d = *state;
	struct tux_sent s[2];

	duo_hand_in(&d->a, 300, 0, 'm');
	leave(d, 128, &s[0]);
	duo_hand_in(&d->a, 10, 0, 'm');
	leave(d, 128, &s[0]);
	leave(d, 128, &s[1]);		/* their turn goes round */
	tux_message_acked(d->a.c, &s[1]);
	assert_false(out(d, 1)->live);
	atomic_store(&d->a.box->slot[1].note.state, TUX_NOTE_CANCEL);
	atomic_store(&d->a.box->cancels, 1);
	tux_message_cancels(d->a.c);
	assert_false(out(d, 1)->cancelled);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 1);
}

/* An empty one that has not left. */
static void cancel__of_a_fresh_one(void **state)
{
	struct duo *d = *state;
	struct tux_msg_pick k;
	uint64_t ref = duo_hand_in(&d->a, 0, 0, 'm');

	assert_true(duo_pick(d->a.c, 100, &k));
	assert_true(out(d, 0)->fresh);
	assert_true(tux_msgbox_cancel(d->a.box, ref));
	tux_message_cancels(d->a.c);
	assert_true(out(d, 0)->cancelled);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 0);
}

/* ---- frames, and failure ---- */

static void framed__is_as_good_as_arrived(void **state)
{
	struct duo *d = *state;
	struct tux_msg_pick k;

	duo_hand_in(&d->a, 100, 0, 'm');
	assert_true(duo_pick(d->a.c, 1000, &k));
	tux_message_take(d->a.c, &k, NULL);
	tux_message_framed(d->a.c, &k);
	assert_int_equal(state_of(d, 0), TUX_NOTE_SENT);
}

static void framed__cancel(void **state)
{
	struct duo *d = *state;
	struct tux_sent s;
	struct tux_msg_pick k;

	duo_hand_in(&d->a, 300, 0, 'm');
	leave(d, 128, &s);
	tux_msgbox_cancel(d->a.box, 0);
	tux_message_cancels(d->a.c);
	assert_true(duo_pick(d->a.c, 1000, &k));
	tux_message_take(d->a.c, &k, NULL);
	tux_message_framed(d->a.c, &k);
	assert_int_equal(state_of(d, 0), TUX_NOTE_FAILED);
}

/* Of one that has not all been sent, others may begin in its place. */
static void settle__gives_its_turn_back(void **state)
{
	struct duo *d = *state;
	struct tux_sent s;

	duo_hand_in(&d->a, 300, 0, 'm');
	leave(d, 128, &s);
	settle(d);
	d->a.ready_n = 0;
	tux_message_settle(d->a.c, 0, out(d, 0), TUX_NOTE_FAILED, EIO);
	settle(d);
	assert_int_equal(d->a.c->msg->tx[0].open_n, 0);
	assert_int_equal(state_of(d, 0), TUX_NOTE_FAILED);
	assert_int_equal(d->a.box->slot[0].note.err, EIO);
	assert_false(tux_message_waits(d->a.c));
	assert_int_equal(d->a.ready_n, 1);
}

/* ---- room ---- */

static int room(struct duo *d, uint32_t cap, uint32_t ids, uint32_t limit)
{
	const struct tux_room r[TUX_LANES] = {
		{ cap, ids, limit },
		{ DUO_BULK, TUX_MSG_BULK_N, DUO_BULK },
	};
	uint8_t p[TUX_ROOM_LEN];

	tux_room_encode(r, p);
	return tux_message_room(d->a.c, p, sizeof(p));
}

static void room__moves_on(void **state)
{
	struct duo *d = *state;
	struct tux_msg_lane_tx *l = &d->a.c->msg->tx[0];

	assert_int_equal(l->ids, TUX_MSG_SMALL_N);
	assert_int_equal(room(d, DUO_SMALL, 300, DUO_SMALL + 640), 0);
	assert_int_equal(l->ids, 300);
	assert_int_equal(l->limit, DUO_SMALL + 640);
	assert_false(tux_list_empty(&d->a.c->sendq));
	/* Never back. */
	assert_int_equal(room(d, DUO_SMALL, 299, DUO_SMALL + 576), 0);
	assert_int_equal(l->ids, 300);
	assert_int_equal(l->limit, DUO_SMALL + 640);
}

/* TCP is told if frames carry what waited for it. */
static void room__lets_frames_go(void **state)
{
	struct duo *d = *state;

	duo_hand_in(&d->a, 100, 0, 'm');
	settle(d);
	d->a.tcp_n = 0;
	assert_int_equal(room(d, DUO_SMALL, 300, DUO_SMALL + 640), 0);
	settle(d);
	assert_int_equal(d->a.tcp_n, 0);	/* packets do */
	tux_conn_stall(d->a.c, d->now);
	duo_effects(&d->a);
	d->a.tcp_n = 0;
	assert_int_equal(room(d, DUO_SMALL, 301, DUO_SMALL + 704), 0);
	settle(d);
	assert_int_equal(d->a.tcp_n, 1);
}

/* So much no honest peer has. */
static void room__beyond_reason(void **state)
{
	struct duo *d = *state;
	struct tux_msg_lane_tx *l = &d->a.c->msg->tx[0];

	assert_int_equal(room(d, DUO_SMALL, TUX_MSG_IN + 1,
			      2 * DUO_SMALL + TUX_MESSAGE_ALIGN), 0);
	assert_int_equal(l->ids, TUX_MSG_SMALL_N);
	assert_int_equal(l->limit, DUO_SMALL);
	assert_int_equal(room(d, DUO_SMALL, TUX_MSG_IN, 2 * DUO_SMALL), 0);
	assert_int_equal(l->ids, TUX_MSG_IN);
	assert_int_equal(l->limit, 2 * DUO_SMALL);
	/* A lane has one size. */
	assert_int_equal(room(d, 2 * DUO_SMALL, TUX_MSG_IN, 2 * DUO_SMALL),
			 -EBADMSG);
}

static void room__malformed(void **state)
{
	struct duo *d = *state;
	uint8_t p[TUX_ROOM_LEN] = { 0 };

	assert_int_equal(tux_message_room(d->a.c, p, sizeof(p)), -EBADMSG);
	assert_int_equal(tux_message_room(d->a.c, p, sizeof(p) - 1), -EBADMSG);
}

/* A smaller lane there takes shorter messages. */
static void room__longest_message(void **state)
{
	struct duo *d = *state;

	d->a.c->msg->tx[0].cap = 0;
	atomic_store(&d->a.box->tx[0].max, DUO_SMALL);
	assert_int_equal(room(d, TUX_LANE_MIN, TUX_MSG_SMALL_N, DUO_SMALL), 0);
	assert_int_equal(atomic_load(&d->a.box->tx[0].max), TUX_LANE_MIN / 2);
	d->a.c->msg->tx[0].cap = 0;
	assert_int_equal(room(d, 2 * TUX_LANE_MIN, TUX_MSG_SMALL_N, DUO_SMALL),
			 0);
	assert_int_equal(atomic_load(&d->a.box->tx[0].max), TUX_LANE_MIN / 2);
}

int main(void)
{
#define T(name) \
	cmocka_unit_test_setup_teardown(name, duo_setup_messages, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(acked__when_all_of_it_is),
		T(acked__empty),
		T(acked__out_of_order),
		T(acked__cannot_be_noted),
		T(lost__what_is_not_there_goes_again),
		T(lost__long_ago),
		T(lost__each_fragment),
		T(lost__whole_ones),
		T(cancel__of_one_under_way),
		T(cancel__too_late),
		T(cancel__too_late_for_an_empty_one),
		T(cancel__finds_it),
		T(cancel__finds_a_short_one),
		T(cancel__of_a_settled_one),
		T(cancel__of_a_fresh_one),
		T(framed__is_as_good_as_arrived),
		T(framed__cancel),
		T(settle__gives_its_turn_back),
		T(room__moves_on),
		T(room__lets_frames_go),
		T(room__beyond_reason),
		T(room__malformed),
		T(room__longest_message),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
