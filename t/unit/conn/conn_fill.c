/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes into a numbered packet, record by record.
 */
#include "duo.h"

#include "conn/conn_fill.h"
#include "conn/message_room.h"

struct filled {				/* what came of a call of tux_fill() */
	struct duo_pkt k;
	struct tux_extent e;
	uint16_t frag_n;
	uint32_t what;
};

/* Fills a packet of @cap bytes at @e. */
static void fill(struct duo_end *e, size_t cap, struct filled *f)
{
	struct tux_pkt h = { .flags = TUX_PKT_ELICIT };
	struct tux_writer w;
	struct tux_reader r;

	memset(f, 0, sizeof(*f));
	tux_writer_init(&w, f->k.p, cap);
	tux_conn_next_extent(e->c, UINT32_MAX, &f->e);
	f->what = tux_fill(e->c, &w, &f->e, &f->frag_n);
	f->k.len = tux_writer_end(&w, &h, NULL);
	assert_true(f->k.len <= cap);
	assert_int_equal(tux_pkt_decode(&f->k.h, f->k.p, f->k.len), 0);
	tux_reader_init(&r, &f->k.h, f->k.p);
	while (tux_reader_next(&r, &f->k.rec[f->k.rec_n]) > 0)
		f->k.rec_n++;
}

/* The types of its records, in order, against @want, which ends with 0. */
static void holds(const struct filled *f, const uint8_t *want)
{
	unsigned i;

	for (i = 0; want[i]; i++) {
		assert_true(i < f->k.rec_n);
		assert_int_equal(f->k.rec[i].type, want[i]);
	}
	assert_int_equal(f->k.rec_n, i);
}

#define HOLDS(f, ...)	holds(f, (const uint8_t[]){ __VA_ARGS__, 0 })

/* ---- ranges ---- */

static void sack__highest_first(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint64_t next = c->ackq.next;
	uint32_t start, end;
	struct filled f;

	tux_ranges_add(&c->ackq.seen, next + 2, next + 3);
	tux_ranges_add(&c->ackq.seen, next + 5, next + 9);
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_SACK);
	assert_int_equal(f.what, 0);
	assert_int_equal(f.k.rec[0].len, 2 * TUX_SACK_EACH);
	tux_sack_get(&f.k.rec[0], 0, &start, &end);
	assert_true(start == (uint32_t)next + 5 && end == (uint32_t)next + 9);
	tux_sack_get(&f.k.rec[0], 1, &start, &end);
	assert_true(start == (uint32_t)next + 2 && end == (uint32_t)next + 3);
}

static void sack__the_highest_sixteen(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	uint64_t next = c->ackq.next;
	uint32_t start, end;
	struct filled f;
	unsigned i;

	for (i = 1; i <= 17; i++)
		tux_ranges_add(&c->ackq.seen, next + 2 * i, next + 2 * i + 1);
	fill(&d->a, 1000, &f);
	assert_int_equal(f.k.rec[0].len, 16 * TUX_SACK_EACH);
	tux_sack_get(&f.k.rec[0], 0, &start, &end);
	assert_int_equal(start, (uint32_t)next + 34);
	tux_sack_get(&f.k.rec[0], 15, &start, &end);
	assert_int_equal(start, (uint32_t)next + 4);
}

/* ---- what must be said ---- */

static void control__all_in_the_shortest_packet(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct filled f;
	unsigned i;

	for (i = 1; i <= TUX_SACK_MAX; i++)
		tux_ranges_add(&c->ackq.seen, c->ackq.next + 2 * i,
			       c->ackq.next + 2 * i + 1);
	c->tx.gen = 7;
	c->tx.gen_at = 1000;
	c->rx.answer = 8;
	c->tx.shared = true;
	c->todo = TUX_DO_NUMBERED | TUX_DO_ROOM | TUX_DO_ACK;
	fill(&d->a, TUX_HELLO_PKT_MIN, &f);
	HOLDS(&f, TUX_REC_SACK, TUX_REC_ROOM, TUX_REC_PREPARE,
	      TUX_REC_PREPARED, TUX_REC_PING, TUX_REC_RAW, TUX_REC_LEAVE);
	assert_int_equal(f.what, TUX_DO_NUMBERED | TUX_DO_ROOM);
	assert_int_equal(c->todo, TUX_DO_ACK);
	assert_int_equal(f.k.rec[2].gen, 7);
	assert_int_equal(f.k.rec[2].off, 1000);
	assert_int_equal(f.k.rec[3].gen, 8);
	assert_int_equal(d->log_a.n[TUX_TRACE_SEND_PREPARE], 1);
	assert_int_equal(d->log_a.n[TUX_TRACE_PROBE], 1);
}

/* It was lost, and the direction has become plain meanwhile. */
static void control__no_leave_of_a_plain_direction(void **state)
{
	struct duo *d = *state;
	struct filled f;

	d->a.c->todo = TUX_DO_LEAVE | TUX_DO_PING;
	fill(&d->a, TUX_HELLO_PKT_MIN, &f);
	HOLDS(&f, TUX_REC_PING);
	assert_int_equal(d->a.c->todo, 0);
}

static void control__nowhere(void **state)
{
	struct duo *d = *state;
	struct filled f;

	d->a.c->tx.gen = 7;
	d->a.c->tx.gen_at = TUX_NOWHERE;
	d->a.c->todo = TUX_DO_PREPARE;
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_PREPARE);
	assert_true(f.k.rec[0].off == UINT64_MAX);
	assert_int_equal(d->log_a.n[TUX_TRACE_SEND_NOWHERE], 1);
	assert_int_equal(d->log_a.n[TUX_TRACE_SEND_PREPARE], 0);
}

/* The generation came to nothing before the packet left. */
static void control__no_generation_is_open(void **state)
{
	struct duo *d = *state;
	struct filled f;

	d->a.c->tx.gen = 0;
	d->a.c->todo = TUX_DO_PREPARE;
	fill(&d->a, 1000, &f);
	assert_int_equal(f.k.rec_n, 0);
	assert_int_equal(d->a.c->todo, 0);
}

/* Room is told over the path that carries messages; over Tux, too, where TCP has
 * none of our frames any more. */
static void control__where_room_is_told(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct filled f;

	c->todo = TUX_DO_ROOM;
	c->tx.path = TUX_PATH_FRAMES;
	fill(&d->a, 1000, &f);
	assert_int_equal(f.what, 0);
	assert_int_equal(c->todo, TUX_DO_ROOM);
	c->out.raw = true;
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_ROOM);
	c->out.raw = false;
	c->todo = TUX_DO_ROOM;
	c->tx.path = TUX_PATH_PLAIN;
	c->tx.away_at = 5;		/* it does not answer */
	fill(&d->a, 1000, &f);
	assert_int_equal(f.what, 0);
	c->tx.away_at = TUX_NEVER;
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_ROOM);
	c->tx.path = TUX_PATH_TUX;
}

/* As many ids as are worth telling of, since ROOM was told last. */
static void free_some(struct tux_conn *c)
{
	struct tux_msg_lane_rx *l = &c->msg->rx[TUX_LANE_SMALL];

	l->told_ids = l->first - TUX_MSG_SMALL_N / 8;
}

/* An eighth of a lane has become free: the next packet with content says so, if
 * it has space; none leaves for that. */
static void news__rides(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct filled f;

	free_some(c);
	fill(&d->a, 1000, &f);
	assert_int_equal(f.k.rec_n, 0);
	c->todo = TUX_DO_PING;
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_PING);
	assert_true(tux_message_room_news(c));
	duo_send(&d->a, 100, 0, 'm');
	duo_send(&d->a, 100, 0, 'n');
	fill(&d->a, TUX_PKT_HDR + 4 + 8 + 100 + 4 + TUX_ROOM_LEN - 1, &f);
	HOLDS(&f, TUX_REC_MESSAGE);
	assert_true(tux_message_room_news(c));
	fill(&d->a, TUX_PKT_HDR + 4 + 8 + 100 + 4 + TUX_ROOM_LEN, &f);
	HOLDS(&f, TUX_REC_MESSAGE, TUX_REC_ROOM);
	assert_int_equal(f.what, TUX_DO_ROOM);
	assert_false(tux_message_room_news(c));
	duo_send(&d->a, 100, 0, 'o');
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_MESSAGE);
	assert_int_equal(f.what, 0);
	/* With bytes of the stream, too. */
	free_some(c);
	assert_int_equal(duo_write(&d->a, "s", 1), 1);
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_STREAM, TUX_REC_ROOM);
	/* Where TCP carries messages, it goes there. */
	free_some(c);
	c->tx.path = TUX_PATH_FRAMES;
	fill(&d->a, 1000, &f);
	assert_int_equal(f.k.rec_n, 0);
	c->tx.path = TUX_PATH_TUX;
}

static void control__no_room_to_tell_of(void **state)
{
	struct duo *d = *state;
	struct filled f;

	d->a.c->todo = TUX_DO_ROOM;
	d->a.c->tx.path = TUX_PATH_FRAMES;
	fill(&d->a, 1000, &f);
	assert_int_equal(f.what, 0);
	d->a.c->tx.path = TUX_PATH_TUX;
	fill(&d->a, 1000, &f);
	assert_int_equal(f.what, 0);
}

/* ---- content ---- */

static void stream__as_much_as_fits(void **state)
{
	struct duo *d = *state;
	char bytes[500];
	struct filled f;

	memset(bytes, 's', sizeof(bytes));
	assert_int_equal(duo_write(&d->a, bytes, 500), 500);
	fill(&d->a, 352, &f);
	HOLDS(&f, TUX_REC_STREAM);
	assert_int_equal(f.e.len, 300);
	assert_int_equal(f.e.off, 0);
	assert_int_equal(f.k.rec[0].flags, TUX_STREAM_ORDER);
	assert_int_equal(f.k.rec[0].data_len, 300);
	assert_memory_equal(f.k.rec[0].data, bytes, 300);
	assert_int_equal(d->a.c->stats.tux_tx, 300);
	fill(&d->a, 352, &f);
	assert_int_equal(f.e.off, 300);
	assert_int_equal(f.e.len, 200);
	assert_int_equal(f.what, 0);
	fill(&d->a, 352, &f);
	assert_int_equal(f.k.rec_n, 0);
}

/* The room for one byte is used, less is not. */
static void stream__least_room(void **state)
{
	struct duo *d = *state;
	struct filled f;

	assert_int_equal(duo_write(&d->a, "ab", 2), 2);
	fill(&d->a, TUX_PKT_HDR + TUX_REC_HDR + TUX_STREAM_HDR, &f);
	assert_int_equal(f.k.rec_n, 0);
	fill(&d->a, TUX_PKT_HDR + TUX_REC_HDR + TUX_STREAM_HDR + 1, &f);
	assert_int_equal(f.e.len, 1);
}

static void stream__fin_is_noted(void **state)
{
	struct duo *d = *state;
	struct filled f;

	assert_int_equal(duo_write(&d->a, "ab", 2), 2);
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_STREAM);
	assert_int_equal(f.k.rec[0].flags, TUX_STREAM_ORDER | TUX_STREAM_FIN);
	assert_int_equal(f.what, TUX_SENT_FIN);
	assert_int_equal(d->log_a.n[TUX_TRACE_SEND_FIN], 1);
	/* Alone, when it is lost. */
	tux_sendbuf_lost(&d->a.c->tx.buf, 2, 0, true);
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_STREAM);
	assert_int_equal(f.e.len, 0);
	assert_int_equal(f.what, TUX_SENT_FIN);
}

static void stream__not_while_on_tcp(void **state)
{
	struct duo *d = *state;
	struct filled f;

	assert_int_equal(duo_write(&d->a, "ab", 2), 2);
	d->a.c->tx.path = TUX_PATH_FRAMES;
	fill(&d->a, 1000, &f);
	assert_int_equal(f.k.rec_n, 0);
	d->a.c->tx.path = TUX_PATH_TUX;
}

/* With FIN the peer learns how many messages there are; before it. */
static void end__before_fin(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct filled f;

	duo_send(&d->a, 10, 0, 'm');
	duo_settle(d);
	duo_pass(d, TUX_MSEC(1));
	duo_settle(d);
	assert_int_equal(duo_write(&d->a, "ab", 2), 2);
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_STREAM);
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	tux_sendbuf_lost(&c->tx.buf, 0, 2, false);
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_END, TUX_REC_STREAM);
	assert_int_equal(tux_get32(f.k.rec[0].body), 1);
	assert_int_equal(tux_get32(f.k.rec[0].body + 4), 0);
	/* Not to a peer that takes none. */
	tux_sendbuf_lost(&c->tx.buf, 0, 2, false);
	c->peer_messages = false;
	fill(&d->a, 1000, &f);
	HOLDS(&f, TUX_REC_STREAM);
	c->peer_messages = true;
}

/* Where END finds no room, FIN finds none either. */
static void end__no_room(void **state)
{
	struct duo *d = *state;
	struct filled f;

	assert_int_equal(duo_write(&d->a, "ab", 2), 2);
	tux_duplex_shut(d->a.dx);
	duo_ring(&d->a, 0);
	fill(&d->a, TUX_PKT_HDR + TUX_REC_HDR + TUX_END_LEN - 1, &f);
	assert_int_equal(f.k.rec_n, 0);
	fill(&d->a, TUX_PKT_HDR + TUX_REC_HDR + TUX_END_LEN, &f);
	HOLDS(&f, TUX_REC_END);
	assert_int_equal(f.what, 0);
}

/* ---- messages and stream take turns ---- */

/* Both have much to send, and a packet has room for one. */
static void busy(struct duo_end *e)
{
	char bytes[2000] = { 0 };

	assert_int_equal(duo_write(e, bytes, sizeof(bytes)), sizeof(bytes));
	duo_send(e, 5000, 0, 'm');
}

static void balance__who_had_less_comes_first(void **state)
{
	struct duo *d = *state;
	int32_t *ahead = &d->a.c->msg->ahead;
	struct filled f;

	busy(&d->a);
	fill(&d->a, 400, &f);
	HOLDS(&f, TUX_REC_MESSAGE);
	assert_int_equal(f.frag_n, 1);
	assert_int_equal(*ahead, 400 - TUX_PKT_HDR - TUX_REC_HDR);
	fill(&d->a, 400, &f);
	HOLDS(&f, TUX_REC_STREAM);
	assert_int_equal(*ahead, TUX_STREAM_HDR);
	fill(&d->a, 400, &f);
	HOLDS(&f, TUX_REC_STREAM);
	assert_true(*ahead == TUX_STREAM_HDR - (int32_t)f.e.len);
	fill(&d->a, 400, &f);
	HOLDS(&f, TUX_REC_MESSAGE);
}

/* Also messages too short to be cut, of which none is under way when a packet is
 * full. */
static void balance__short_messages(void **state)
{
	char bytes[2000] = { 0 };
	struct duo *d = *state;
	struct filled f;
	unsigned i;

	assert_int_equal(duo_write(&d->a, bytes, sizeof(bytes)), sizeof(bytes));
	for (i = 0; i < 40; i++)
		duo_send(&d->a, 64, 0, 'm');
	fill(&d->a, 400, &f);
	assert_int_equal(f.k.rec[0].type, TUX_REC_MESSAGE);
	assert_true(d->a.c->msg->ahead > 0);
	fill(&d->a, 400, &f);
	HOLDS(&f, TUX_REC_STREAM);
}

/* Whoever is alone owes nobody. */
static void balance__forgotten_when_one_has_nothing(void **state)
{
	struct duo *d = *state;
	struct filled f;

	duo_send(&d->a, 5000, 0, 'm');
	d->a.c->msg->ahead = 77;
	fill(&d->a, 400, &f);
	assert_int_equal(f.frag_n, 1);
	assert_int_equal(d->a.c->msg->ahead, 0);
	assert_int_equal(duo_write(&d->a, "ab", 2), 2);
	d->a.c->msg->ahead = 77;
	fill(&d->a, 400, &f);
	HOLDS(&f, TUX_REC_STREAM, TUX_REC_MESSAGE);
	assert_int_equal(d->a.c->msg->ahead, 0);
}

static void balance__bounded(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct filled f;

	busy(&d->a);
	fill(&d->a, 400, &f);		/* bytes to lose, a byte at a time */
	c->tx.buf.next = 100;
	tux_sendbuf_lost(&c->tx.buf, 1, 1, false);
	tux_sendbuf_lost(&c->tx.buf, 3, 1, false);
	c->msg->ahead = 16384;
	fill(&d->a, 400, &f);
	HOLDS(&f, TUX_REC_STREAM, TUX_REC_MESSAGE);
	assert_int_equal(c->msg->ahead, 16384);
	/* Messages come first, but there is no place to note a fragment. */
	tux_conn_do(c, TUX_DO_PING);
	duo_narrow(c);
	assert_int_equal(duo_drop(&d->a), 1);
	assert_false(tux_sentq_empty(&c->sentq));
	c->msg->sent_next = tux_sentq_oldest(&c->sentq)->frag_at + TUX_MSG_SENT;
	c->tx.buf.next = 100;
	c->msg->ahead = -16384;
	fill(&d->a, 400, &f);
	HOLDS(&f, TUX_REC_STREAM);
	assert_true(c->msg->ahead == -16384);
}

/* While timers pass, what must be said goes without messages, and so does
 * anything behind it. */
static void messages__not_with_control_after_a_timeout(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct filled f;

	duo_send(&d->a, 5000, 0, 'm');
	c->rtt.backoff = 1;
	c->todo = TUX_DO_PING;
	fill(&d->a, 400, &f);
	HOLDS(&f, TUX_REC_PING);
	fill(&d->a, 400, &f);
	HOLDS(&f, TUX_REC_MESSAGE);
	c->rtt.backoff = 0;
	tux_conn_do(c, TUX_DO_PING);
	duo_narrow(c);
	duo_drop(&d->a);
	c->rtt.backoff = 1;
	fill(&d->a, 400, &f);
	assert_int_equal(f.frag_n, 0);
	c->rtt.backoff = 0;
	fill(&d->a, 400, &f);
	assert_int_equal(f.frag_n, 1);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(sack__highest_first, duo_setup_switched),
		T(sack__the_highest_sixteen, duo_setup_switched),
		T(control__all_in_the_shortest_packet, duo_setup_messages),
		T(control__no_leave_of_a_plain_direction, duo_setup_messages),
		T(control__nowhere, duo_setup_proved),
		T(control__no_generation_is_open, duo_setup_proved),
		T(control__where_room_is_told, duo_setup_messages),
		T(control__no_room_to_tell_of, duo_setup_switched),
		T(news__rides, duo_setup_messages),
		T(stream__as_much_as_fits, duo_setup_switched),
		T(stream__least_room, duo_setup_switched),
		T(stream__fin_is_noted, duo_setup_switched),
		T(stream__not_while_on_tcp, duo_setup_switched),
		T(end__before_fin, duo_setup_messages),
		T(end__no_room, duo_setup_messages),
		T(balance__who_had_less_comes_first, duo_setup_messages),
		T(balance__short_messages, duo_setup_messages),
		T(balance__forgotten_when_one_has_nothing, duo_setup_messages),
		T(balance__bounded, duo_setup_messages),
		T(messages__not_with_control_after_a_timeout,
		  duo_setup_messages),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
