/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet out: whether one may leave, of what kind, and what its header says.
 */
#include <errno.h>

#include "duo.h"

#include "conn/conn_ack.h"
#include "conn/conn_life.h"
#include "conn/conn_send.h"

/* @e's next packet into *@k, as if it stood behind @before bytes and had @cap;
 * its length. */
static size_t next(struct duo_end *e, struct duo_pkt *k, size_t before,
		   size_t cap, bool *more)
{
	struct tux_reader r;

	e->core->ecn_tx = -1;
	k->rec_n = 0;
	k->len = tux_conn_send(e->c, k->p, before, cap, more, *e->now);
	if (!k->len)
		return 0;
	assert_int_equal(tux_pkt_decode(&k->h, k->p, k->len), 0);
	tux_reader_init(&r, &k->h, k->p);
	while (tux_reader_next(&r, &k->rec[k->rec_n]) > 0)
		k->rec_n++;
	return k->len;
}

/* @n bytes are written and the loop knows. */
static void write_n(struct duo_end *e, size_t n)
{
	char buf[DUO_RING] = { 0 };

	assert_int_equal(duo_write(e, buf, n), n);
}

/* ---- the header ---- */

static void header__says_where_we_are(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;

	assert_int_equal(duo_write(&d->b, "hello", 5), 5);
	duo_carry(&d->b);
	d->now += TUX_USEC(160);
	write_n(&d->a, 3);
	c->sentq.floor -= 7;		/* an old one is still waited for */
	c->sentq.ring[c->sentq.floor % TUX_SENTQ_CAP].state = TUX_SENT_FLIGHT;
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(k.h.flags, TUX_PKT_ELICIT);
	assert_int_equal(k.h.id, d->b.c->id);
	assert_int_equal(k.h.seq, (uint32_t)c->sentq.next - 1);
	assert_int_equal(k.h.span, 7);
	assert_int_equal(k.h.ack, (uint32_t)d->b.c->sentq.next);
	assert_int_equal(k.h.got, 5);
	assert_int_equal(k.h.window, DUO_RING - 5);
	assert_int_equal(k.h.delay, 10);	/* of 16 us */
	assert_int_equal(c->ackq.owed_n, 0);
	assert_int_equal(c->stats.pkts_tx, 1);
	/* The application rings when half of the ring is free again. */
	assert_true(atomic_load(&d->a.dx->wake_at) ==
		    DUO_RING - DUO_RING / 2);
}

/* What is said only once is not, before the direction has switched. */
static void header__before_the_switch(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	atomic_store(&d->a.dx->wake_at, 77);
	d->now += TUX_SEC(10);
	tux_conn_do(d->a.c, TUX_DO_PING);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(k.h.got, 0);
	assert_int_equal(k.h.window, 0);
	assert_int_equal(k.h.delay, UINT16_MAX);
	assert_true(atomic_load(&d->a.dx->wake_at) == 77);
}

/* TCP waits for room, and has asked to be rung for each byte. */
static void header__leaves_a_starved_ring_alone(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	d->a.c->in.starved = true;
	atomic_store(&d->a.dx->wake_at, 0);
	tux_conn_do(d->a.c, TUX_DO_PING);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_true(atomic_load(&d->a.dx->wake_at) == 0);
}

/* Without a number: it tells the floor that was told already. */
static void header__of_an_acknowledgment(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	uint64_t seq = d->a.c->sentq.next;

	d->a.c->sentq.closed = seq - 9;
	tux_conn_do(d->a.c, TUX_DO_ACK);
	assert_int_equal(duo_out(&d->a, &k), TUX_PKT_HDR);
	assert_int_equal(k.h.flags, 0);
	assert_int_equal(k.h.span, 9);
	assert_true(d->a.c->sentq.next == seq);
	assert_int_equal(d->a.c->todo, 0);
	assert_int_equal(d->log_a.n[TUX_TRACE_SEND_ACK], 1);
	assert_int_equal(duo_out(&d->a, &k), 0);
}

/* A small window, half of it in flight: the peer may not hold back its word. */
static void header__hurries(void **state)
{
	struct duo *d = *state;
	struct tux_pair *p = d->a.c->pair;
	struct duo_pkt k;
	unsigned i;

	for (i = 0; i < 3; i++) {
		p->cc.w.cwnd = 32 * p->cc.mss - (i < 2);
		p->in_flight = p->cc.w.cwnd / 2 - (i == 0);
		tux_conn_do(d->a.c, TUX_DO_PING);
		assert_true(duo_out(&d->a, &k) > 0);
		assert_int_equal(k.h.flags & TUX_PKT_NOW,
				 i == 1 ? TUX_PKT_NOW : 0);
	}
	p->in_flight = d->a.c->sentq.in_flight;
}

/* ---- of what kind? ---- */

static void send__not_before_the_peer_is_known(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	bool more;

	tux_conn_do(d->b.c, TUX_DO_HELLO);
	assert_int_equal(next(&d->b, &k, 0, DUO_MTU, &more), 0);
	assert_false(more);
	assert_int_equal(d->b.c->todo, TUX_DO_HELLO);
}

static void send__hello_comes_first(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	bool more;

	tux_conn_do(d->a.c, TUX_DO_HELLO | TUX_DO_PING);
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 0);
	assert_int_equal(k.h.flags, TUX_PKT_OPEN);
	assert_true(more);
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_PING));
	assert_false(more);
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
	assert_false(more);
}

static void send__reset_once(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	bool more;

	write_n(&d->a, 100);
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 0);
	tux_conn_die(d->a.c, EPROTO, TUX_REASON_PROTOCOL);
	duo_derive(&d->a, 0);
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 0);
	assert_int_equal(duo_rec(&k, TUX_REC_RESET)->reason,
			 TUX_REASON_PROTOCOL);
	assert_int_equal(k.h.flags, TUX_PKT_ELICIT);
	assert_true(d->log_a.last[TUX_TRACE_SEND_RESET].n[0] ==
		    TUX_REASON_PROTOCOL);
	assert_int_equal(d->a.c->pair->in_flight, 0);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.gone_n, 0);	/* nobody has closed it */
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
}

static void send__reset_of_a_closed_one(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	bool more;

	duo_ring(&d->a, TUX_DOORBELL_CLOSE);
	tux_conn_die(d->a.c, EPROTO, TUX_REASON_PROTOCOL);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.gone_n, 0);
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 0);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.gone_n, 1);
	assert_true(d->a.gone_reset);
}

/* What the peer said could not be kept, but where it is, is known. */
static void send__reset_without_a_pair(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	bool more;

	duo_carry(&d->a);
	assert_true(duo_out(&d->b, &k) > 0);
	d->mem.left = 0;
	duo_in(&d->a, &k);
	d->mem.left = -1;
	assert_null(d->a.c->pair);
	d->a.c->life = TUX_LIFE_PROVED;
	tux_conn_die(d->a.c, EPROTO, TUX_REASON_PROTOCOL);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.c->todo, TUX_DO_RESET);
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_RESET));
	assert_int_equal(k.h.flags, TUX_PKT_ELICIT);
}

/* ---- may it leave? ---- */

static void open__window_of_the_pair(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;
	bool more;

	duo_narrow(c);
	write_n(&d->a, 3000);
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 1000);
	assert_true(more);
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
	assert_false(more);
	assert_true(c->pair->full);
	assert_ptr_equal(c->pair->waitq.next, &c->waitq);
	/* What is only an acknowledgment goes nevertheless. */
	tux_conn_do(c, TUX_DO_ACK);
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), TUX_PKT_HDR);
	/* And the tail's probe. */
	c->tx.tail = true;
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 1000);
	assert_false(c->tx.tail);
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
}

/* The others of the pair fill its window, and its pace is late. */
static void crowd(struct tux_pair *p, tux_time now)
{
	p->in_flight += p->cc.w.cwnd;
	p->pace.per_byte = 1 << 20;
	p->pace.next = now + TUX_SEC(1);
}

static bool asks(struct duo_end *e)
{
	struct duo_pkt k;
	bool more;

	tux_conn_do(e->c, TUX_DO_PING);
	return next(e, &k, 0, DUO_MTU, &more) > 0;
}

/* As over TCP, it has ten packets of its own; the pace does not count them. */
static void open__own_packets_beside_others(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_pair *p = c->pair;
	uint64_t own = tux_cc_own(&p->cc);

	crowd(p, d->now);
	write_n(&d->a, 4000);
	while (asks(&d->a))
		;
	assert_in_range(c->sentq.in_flight, own - p->cc.mss + 1, own);
	assert_true(p->pace.next == d->now + TUX_SEC(1));
	assert_true(p->full);
	assert_ptr_equal(p->waitq.next, &c->waitq);
}

static void open__one_packet_beside_others(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	crowd(c->pair, d->now);
	c->pair->cc.recover_at = 1;
	assert_true(asks(&d->a));
	assert_false(asks(&d->a));
	assert_ptr_equal(c->pair->waitq.next, &c->waitq);
}

/* A connection that has nothing to send waits in no line. */
static void open__nothing_to_wait_for(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;
	bool more;

	c->pair->cc.recover_at = 1;
	tux_conn_do(c, TUX_DO_PING);
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 0);
	c->pair->cc.w.cwnd = 0;
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
	assert_true(tux_list_empty(&c->waitq));
	c->todo = TUX_DO_ROOM;
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
	assert_true(tux_list_empty(&c->waitq));
	c->todo = TUX_DO_PING;
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
	assert_false(tux_list_empty(&c->waitq));
}

/* As many as can be remembered, whatever the window says. */
static void open__places_of_the_queue(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;
	bool more;
	unsigned n = 0;

	c->pair->cc.w.cwnd = 1 << 20;
	do
		tux_conn_do(c, TUX_DO_PING);
	while (next(&d->a, &k, 0, DUO_MTU, &more) && ++n);
	assert_int_equal(n, TUX_SENTQ_CAP);
	assert_true(tux_list_empty(&c->waitq));
	/* Nor is it the pair that holds it back, nor is there one for a probe. */
	c->pair->full = true;
	c->pair->pmtu.len = 600;
	c->pair->pmtu.at = d->now;
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
	assert_true(tux_list_empty(&c->waitq));
}

static void launch__is_noted(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct tux_sent *s;
	uint32_t ect = c->ecn.sent_n;
	struct duo_pkt k;
	bool more;

	write_n(&d->a, 100);
	tux_conn_do(c, TUX_DO_PING);
	assert_true(next(&d->a, &k, 50, 1000, &more) > 0);
	s = tux_sentq_newest(&c->sentq);
	assert_true(s->at == d->now && s->off == 0 && s->len == 100);
	assert_int_equal(s->size, k.len);
	assert_int_equal(s->reach, k.len + 50);
	assert_int_equal(s->what, TUX_DO_PING);
	assert_true(s->ect);
	assert_true(c->sentq.in_flight == k.len);
	assert_int_equal(c->ecn.sent_n, ect + 1);
}

/* Who has waited for nothing so far waits from now on; others go on waiting. */
static void launch__begins_to_wait(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	tux_time then;

	d->now += TUX_MSEC(5);
	then = d->now;
	tux_conn_do(c, TUX_DO_PING);
	duo_drop(&d->a);
	assert_true(c->progress_at == then);
	d->now += TUX_MSEC(1);
	tux_conn_do(c, TUX_DO_PING);
	duo_drop(&d->a);
	assert_true(c->progress_at == then);
	tux_conn_lose_all(c, d->now);
	c->rtt.backoff = 1;
	tux_conn_do(c, TUX_DO_PING);
	duo_drop(&d->a);
	assert_true(c->progress_at == then);
}

/* The time in which nobody sends is no time in which the window grows. */
static void launch__behind_a_long_rest(void **state)
{
	struct duo *d = *state;
	struct tux_pair *p = d->a.c->pair;

	p->cc.w.cubic.epoch_at = 1000;
	p->ack_at = d->now;
	d->now += TUX_SEC(100);
	p->in_flight = 1;		/* another one's */
	tux_conn_do(d->a.c, TUX_DO_PING);
	duo_drop(&d->a);
	assert_true(p->cc.w.cubic.epoch_at == 1000);
	assert_int_equal(tux_conn_lose_all(d->a.c, d->now), 1);
	p->in_flight = 0;
	tux_conn_do(d->a.c, TUX_DO_PING);
	duo_drop(&d->a);
	assert_true(p->cc.w.cubic.epoch_at == 1000 + TUX_SEC(100));
}

/* ---- does it fit behind others? ---- */

static void fits__whole_or_not_at_all(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;
	bool more;

	write_n(&d->a, 500);
	assert_int_equal(next(&d->a, &k, 900, 72 + 511, &more), 0);
	assert_true(more);
	assert_true(next(&d->a, &k, 700, 72 + 512, &more) > 500);
	assert_int_equal(duo_rec(&k, TUX_REC_STREAM)->data_len, 500);
	/* No room for what must be said. */
	tux_conn_do(c, TUX_DO_PREPARED);
	assert_int_equal(next(&d->a, &k, 1400, TUX_PKT_HDR + 20, &more), 0);
	assert_true(more);
	assert_true(next(&d->a, &k, 1300, TUX_PKT_HDR + 32, &more) > 0);
	/* A HELLO has its own length. */
	c->todo = TUX_DO_HELLO;
	assert_int_equal(next(&d->a, &k, 1300, 139, &more), 0);
	assert_int_equal(next(&d->a, &k, 1300, 140, &more), 140);
}

/* What is missing is told in full. */
static void fits__with_ranges(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;
	struct duo_pkt k;
	bool more;

	duo_forge(&f, &d->a);
	duo_forge_skip(&f, 2);
	assert_true(duo_forge_in(&f));
	assert_int_equal(next(&d->a, &k, 1000, 203, &more), 0);
	assert_true(more);
	assert_true(next(&d->a, &k, 1000, 204, &more) > 0);
	assert_int_equal(duo_rec(&k, TUX_REC_SACK)->len, TUX_SACK_EACH);
}

static void fits__message_whole(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	bool more;

	duo_send(&d->a, 300, 0, 'm');
	assert_int_equal(next(&d->a, &k, 1000, 72 + 311, &more), 0);
	assert_true(more);
	assert_true(next(&d->a, &k, 1000, 72 + 312, &more) > 0);
	assert_int_equal(duo_rec(&k, TUX_REC_MESSAGE)->len,
			 TUX_MESSAGE_HDR_MIN + 300);
}

/* Nobody is asked again who has sent all there was. */
static void more__only_if_there_is_some(void **state)
{
	struct duo *d = *state;
	struct tux_msg_lane_tx *l = &d->a.c->msg->tx[TUX_LANE_SMALL];
	struct duo_pkt k;
	bool more;

	duo_send(&d->a, 100, 0, 'm');
	duo_send(&d->a, 100, 0, 'n');
	assert_true(next(&d->a, &k, 0, 1400, &more) > 0);
	assert_int_equal(k.rec_n, 2);
	assert_false(more);
	/* What does not fit comes next, begun or not. */
	duo_send(&d->a, 100, 0, 'o');
	duo_send(&d->a, 1000, 0, 'p');
	assert_true(next(&d->a, &k, 0, 72 + 112, &more) > 0);
	assert_true(more);
	assert_true(next(&d->a, &k, 0, 1400, &more) > 0);
	assert_false(more);
	l->ids = l->next + 1;
	duo_send(&d->a, 100, 0, 'q');
	duo_send(&d->a, 100, 0, 'r');
	assert_true(next(&d->a, &k, 0, 1400, &more) > 0);
	assert_int_equal(k.rec_n, 1);
	assert_true(more);
	assert_int_equal(next(&d->a, &k, 0, 1400, &more), 0);
	assert_false(more);
}

/* Room for messages goes over Tux where TCP carries no frames of ours. */
static void fits__room_beside_tcp(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;
	bool more;

	c->tx.path = TUX_PATH_FRAMES;
	c->out.raw = true;
	c->todo = TUX_DO_ROOM | TUX_DO_PREPARED;
	assert_int_equal(next(&d->a, &k, 1000, 72 + 27, &more), 0);
	assert_true(more);
	assert_true(next(&d->a, &k, 1000, 72 + 28, &more) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_ROOM));
	assert_non_null(duo_rec(&k, TUX_REC_PREPARED));
}

/* Only the first of a datagram may be as long as the path may carry more. */
static void probe__alone_and_behind_others(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;
	bool more;

	c->pair->pmtu.len = 600;
	c->pair->pmtu.at = d->now;
	/* Not on an idle path. */
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
	tux_conn_do(c, TUX_DO_PING);
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 0);
	assert_true(more);
	assert_int_equal(next(&d->a, &k, 48, 552, &more), 0);
	assert_true(more);
	/* Nor while timers pass, nor too early. */
	c->rtt.backoff = 1;
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
	c->rtt.backoff = 0;
	c->pair->pmtu.at = d->now + 1;
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 0);
	c->pair->pmtu.at = d->now;
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), TUX_PMTU_BASE);
	assert_int_equal(k.rec_n, 1);
	assert_int_equal(tux_sentq_newest(&c->sentq)->what, TUX_SENT_PROBE);
	assert_int_equal(d->log_a.n[TUX_TRACE_MTU_PROBE], 1);
}

/* The path may carry more, and is in use. */
static void probe_is_due(struct duo *d)
{
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;
	bool more;

	c->pair->pmtu.len = 600;
	c->pair->pmtu.at = d->now;
	tux_conn_do(c, TUX_DO_PING);
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 0);
}

/* It takes no place from messages, for which it has none. */
static void probe__has_no_messages(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;
	bool more;

	probe_is_due(d);
	c->msg->sent_next = 3 * TUX_MSG_SENT;
	assert_true(next(&d->a, &k, 0, DUO_MTU, &more) > 0);
	assert_int_equal(tux_sentq_newest(&c->sentq)->what, TUX_SENT_PROBE);
	assert_int_equal(tux_sentq_newest(&c->sentq)->frag_at,
			 3 * TUX_MSG_SENT);
}

/* Never longer than the buffer, or than the peer takes. */
static void probe__bounded(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;
	bool more;

	probe_is_due(d);
	c->pkt_max = 900;
	assert_int_equal(next(&d->a, &k, 0, DUO_MTU, &more), 900);
	c->pair->pmtu.at = d->now;
	c->pair->pmtu.probe = 0;
	assert_int_equal(next(&d->a, &k, 0, 800, &more), 800);
}

/* ---- nothing in flight would bring news ---- */

static void news__of_a_closed_window(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_pkt k;
	tux_time rto;

	c->tx.buf.limit = 0;
	write_n(&d->a, 10);
	rto = tux_rtt_rto(&c->rtt);
	assert_int_equal(duo_out(&d->a, &k), 0);
	assert_true(c->tx.probe_at == d->now + rto);
	assert_true(c->tx.probe_in == 2 * rto);
	/* Not anew at each look. */
	d->now++;
	tux_conn_kick(c);
	assert_int_equal(duo_out(&d->a, &k), 0);
	assert_true(c->tx.probe_at == d->now - 1 + rto);
	d->now += rto - 1;
	tux_core_expire(d->a.core, d->now);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_PING));
	/* While that is in flight, its timer does. */
	assert_true(c->tx.probe_at == TUX_NEVER);
}

static void news__longest_wait(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;

	c->tx.buf.limit = 0;
	write_n(&d->a, 10);
	c->tx.probe_at = TUX_NEVER;
	c->tx.probe_in = TUX_SEC(50);
	tux_conn_kick(c);
	duo_drop(&d->a);
	assert_true(c->tx.probe_at == d->now + TUX_SEC(50));
	assert_true(c->tx.probe_in == TUX_SEC(60));
}

/* All has arrived, but the peer has not said that it has the bytes. */
static void news__of_what_the_peer_has(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	struct duo_forge f;

	write_n(&d->a, 10);
	duo_drop(&d->a);
	assert_true(c->tx.probe_at == TUX_NEVER);
	duo_forge(&f, &d->a);
	f.h.flags = 0;
	f.h.ack = (uint32_t)c->sentq.next;
	assert_true(duo_forge_in(&f));
	duo_drop(&d->a);
	assert_true(c->tx.probe_at != TUX_NEVER);
	duo_forge(&f, &d->a);
	f.h.flags = 0;
	f.h.got = 10;
	assert_true(duo_forge_in(&f));
	duo_drop(&d->a);
	assert_true(c->tx.probe_at == TUX_NEVER);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(header__says_where_we_are, duo_setup_switched),
		T(header__before_the_switch, duo_setup_proved),
		T(header__leaves_a_starved_ring_alone, duo_setup_switched),
		T(header__of_an_acknowledgment, duo_setup_switched),
		T(header__hurries, duo_setup_switched),
		T(send__not_before_the_peer_is_known, duo_setup),
		T(send__hello_comes_first, duo_setup_proved),
		T(send__reset_once, duo_setup_switched),
		T(send__reset_of_a_closed_one, duo_setup_switched),
		T(send__reset_without_a_pair, duo_setup),
		T(open__window_of_the_pair, duo_setup_switched),
		T(open__own_packets_beside_others, duo_setup_switched),
		T(open__one_packet_beside_others, duo_setup_switched),
		T(open__nothing_to_wait_for, duo_setup_switched),
		T(open__places_of_the_queue, duo_setup_switched),
		T(launch__is_noted, duo_setup_switched),
		T(launch__begins_to_wait, duo_setup_switched),
		T(launch__behind_a_long_rest, duo_setup_switched),
		T(fits__whole_or_not_at_all, duo_setup_switched),
		T(fits__with_ranges, duo_setup_switched),
		T(fits__message_whole, duo_setup_messages),
		T(more__only_if_there_is_some, duo_setup_messages),
		T(fits__room_beside_tcp, duo_setup_messages),
		T(probe__alone_and_behind_others, duo_setup_switched),
		T(probe__has_no_messages, duo_setup_messages),
		T(probe__bounded, duo_setup_switched),
		T(news__of_a_closed_window, duo_setup_switched),
		T(news__longest_wait, duo_setup_switched),
		T(news__of_what_the_peer_has, duo_setup_switched),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
