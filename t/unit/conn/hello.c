/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The opening exchange, HELLO by HELLO.
 */
#include "duo.h"

#include "conn/hello.h"
#include "base/bytes.h"
#include "base/sip.h"

enum { KNOWS = TUX_HELLO_PLAIN | TUX_HELLO_AGAIN | TUX_HELLO_LEAVE };

/* The HELLO of @k, as it was before it was masked. */
static struct tux_hello hello_of(const struct duo_pkt *k,
				 const struct tux_conn *c)
{
	const struct tux_record *rec = duo_rec(k, TUX_REC_HELLO);
	struct tux_hello h;

	assert_non_null(rec);
	assert_int_equal(tux_hello_decode(&h, rec), 0);
	tux_hello_mask(&h, &c->key);
	return h;
}

/* What @from would say to @to, for a test to change. */
static struct tux_hello say(const struct duo_end *from)
{
	return (struct tux_hello){
		.flags = TUX_HELLO_WANT |
			 (from->c->active ? TUX_HELLO_ACTIVE : 0),
		.version = TUX_WIRE_VERSION,
		.port = from->addr.port,
		.id = from->c->id,
		.seq = (uint32_t)from->c->first,
		.window = 1000,
		.nonce = from->c->nonce,
		.pkt_max = 1400,
		.delay = 10,
		.tuple = from->c->tuple,
	};
}

static void hear(struct duo_end *to, const struct tux_hello *h)
{
	tux_hello_recv(to->c, &to->peer->addr, h, *to->now);
	duo_derive(to, 0);
}

/* ---- who begins ---- */

static void start__active_asks_passive_waits(void **state)
{
	struct duo *d = *state;
	struct tux_hello h;
	struct duo_pkt k;

	assert_int_equal(duo_out(&d->b, &k), 0);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(k.h.flags, TUX_PKT_OPEN);
	assert_int_equal(k.to.port, 6379);	/* no other is known */
	h = hello_of(&k, d->a.c);
	assert_int_equal(h.flags, TUX_HELLO_WANT | TUX_HELLO_ACTIVE |
			 KNOWS);
	assert_int_equal(h.port, DUO_PORT);
	assert_int_equal(h.id, d->a.c->id);
	assert_int_equal(h.seq, (uint32_t)d->a.c->first);
	assert_int_equal(h.window, DUO_RING);
	assert_true(h.nonce == d->a.c->nonce);
	assert_true(h.echo == 0);
	assert_int_equal(h.pkt_max, TUX_PKT_MAX);
	assert_int_equal(h.delay, 10);
	assert_int_equal(duo_out(&d->a, &k), 0);
}

/* The handshake has told the passive end where to: it need not wait. */
static void start__announced_both_ask(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	tux_conn_close(d->b.c, d->now);
	d->b.announced = DUO_PORT;
	duo_open(&d->b, false);
	assert_true(duo_out(&d->b, &k) > 0);
	assert_int_equal(k.to.port, DUO_PORT);
	assert_int_equal(k.from.port, 40000);
	assert_int_equal(hello_of(&k, d->b.c).port, DUO_PORT + 1);
	assert_int_equal(hello_of(&k, d->b.c).flags,
			 TUX_HELLO_WANT | KNOWS);
}

/* ---- the exchange ---- */

static void recv__three_prove_both(void **state)
{
	struct duo *d = *state;
	struct tux_hello h;
	struct duo_pkt k;

	assert_int_equal(duo_carry(&d->a), 1);
	assert_int_equal(d->b.c->life, TUX_LIFE_OPENING);
	assert_int_equal(d->b.own_n, 0);
	assert_true(duo_out(&d->b, &k) > 0);
	h = hello_of(&k, d->b.c);
	assert_int_equal(h.flags, TUX_HELLO_WANT | KNOWS);
	assert_true(h.echo == d->a.c->nonce);
	duo_in(&d->a, &k);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
	assert_int_equal(d->a.own_n, 1);
	assert_true(duo_out(&d->a, &k) > 0);
	h = hello_of(&k, d->a.c);
	assert_int_equal(h.flags, TUX_HELLO_ACTIVE | KNOWS);
	assert_true(h.echo == d->b.c->nonce);
	duo_in(&d->b, &k);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
	assert_true(d->a.c->seal.k0 == d->b.c->seal.k0 &&
		    d->a.c->seal.k1 == d->b.c->seal.k1);
	assert_true(d->a.c->session.k0 == d->b.c->session.k0 &&
		    d->a.c->session.k1 == d->b.c->session.k1);
	assert_true(d->a.c->seal.k0 != d->a.c->session.k0);
	assert_true(d->a.c->open.at == TUX_NEVER);
}

/* The active end's nonce, then the passive end's, behind what it is for. */
static uint64_t half_key(const struct duo *d, uint8_t label)
{
	uint8_t in[17];

	in[0] = label;
	tux_put64(in + 1, d->a.c->nonce);
	tux_put64(in + 9, d->b.c->nonce);
	return tux_sip(&d->a.c->key, in, sizeof(in));
}

static void recv__keys_of_both_nonces(void **state)
{
	struct duo *d = *state;

	duo_settle(d);
	assert_true(d->a.c->session.k0 == half_key(d, 0));
	assert_true(d->a.c->session.k1 == half_key(d, 1));
	assert_true(d->a.c->seal.k0 == half_key(d, 6));
	assert_true(d->a.c->seal.k1 == half_key(d, 7));
}

/* The third is lost: a packet with a number says the same. */
static void recv__packet_proves(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	duo_carry(&d->a);
	duo_carry(&d->b);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_HELLO));
	assert_true(duo_next(&k));
	assert_int_equal(k.h.flags & TUX_PKT_OPEN, 0);
	duo_in(&d->b, &k);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
	assert_int_equal(d->b.c->stats.pkts_rx, 1);
}

static void recv__what_the_peer_says_of_itself(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = say(&d->b);

	h.pkt_max = 1300;
	h.token = 77;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->peer_id, d->b.c->id);
	assert_int_equal(d->a.c->peer.port, DUO_PORT + 1);
	assert_int_equal(d->a.c->pkt_max, 1300);
	assert_int_equal(d->a.c->tx.window, 1000);
	assert_int_equal(d->a.c->rtt.ack_delay, TUX_MSEC(1));
	assert_true(d->a.c->peer_first == d->b.c->first);
	assert_true(d->a.c->ackq.next == d->b.c->first);
	assert_non_null(d->a.c->pair);
	assert_false(d->a.c->peer_messages);
	assert_int_equal(d->a.c->todo & TUX_DO_HELLO, TUX_DO_HELLO);
}

/* More than we take ourselves, it need not. */
static void recv__shortest_packet_counts(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = say(&d->b);

	d->a.core->pkt_max = 1200;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->pkt_max, 1200);
}

static void recv__refuses_nonsense(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = say(&d->b), bad[4] = { h, h, h, h };
	unsigned i;

	bad[0].nonce = 0;
	bad[1].id = 0;
	bad[2].pkt_max = TUX_PKT_HDR + 255;
	bad[3].port = 0;
	for (i = 0; i < 4; i++)
		hear(&d->a, &bad[i]);
	assert_int_equal(d->a.c->stats.dropped, 4);
	assert_true(d->a.c->peer_nonce == 0);
	bad[2].pkt_max++;
	hear(&d->a, &bad[2]);
	assert_true(d->a.c->peer_nonce == h.nonce);
}

/* The first word may be an older connection's: the last counts, until the path
 * is proved; then no other does. */
static void recv__last_word_until_proved(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = say(&d->b);

	h.nonce = 99;
	h.id = 98;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->peer_id, 98);
	h = say(&d->b);
	h.echo = d->a.c->nonce;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->peer_id, d->b.c->id);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
	assert_int_equal(d->a.core->pairs.n, 1);
	h.nonce = 99;
	h.id = 98;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->peer_id, d->b.c->id);
	assert_int_equal(d->a.c->stats.dropped, 1);
}

static void recv__somebody_elses_echo_proves_nothing(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = say(&d->b);

	h.echo = d->a.c->nonce + 1;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->life, TUX_LIFE_OPENING);
	assert_int_equal(d->a.own_n, 0);
}

/* Who does not ask is not answered. */
static void recv__answers_who_asks(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = say(&d->a);

	h.flags = TUX_HELLO_ACTIVE;
	hear(&d->b, &h);
	assert_int_equal(d->b.c->todo & TUX_DO_HELLO, 0);
	h.flags |= TUX_HELLO_WANT;
	hear(&d->b, &h);
	assert_int_equal(d->b.c->todo & TUX_DO_HELLO, TUX_DO_HELLO);
}

/* An end that had given up begins its timer again, if it is one that may. */
static void recv__asks_by_timer_again(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = say(&d->b);

	d->a.c->open.tries = 0;
	d->a.c->open.at = TUX_NEVER;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->open.tries, 1);
	assert_true(d->a.c->open.at == d->now + TUX_MSEC(4));
	h = say(&d->a);
	hear(&d->b, &h);
	assert_int_equal(d->b.c->open.tries, 0);
}

/* No memory for what the peer shares: as if it had not spoken. */
static void recv__no_memory(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = say(&d->b);

	h.echo = d->a.c->nonce;
	d->mem.left = 0;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->life, TUX_LIFE_OPENING);
	assert_int_equal(d->a.c->reason, TUX_REASON_NO_MEMORY);
	assert_null(d->a.c->pair);
	assert_true(d->a.c->peer_nonce == 0);
	d->mem.left = -1;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
	assert_int_equal(d->a.c->reason, TUX_REASON_NONE);
}

/* ---- refusals ---- */

/* What b would say to a, to refuse. */
static struct tux_hello refusal(const struct duo *d, unsigned why)
{
	struct tux_hello h = say(&d->b);

	h.flags = 0;
	h.why = (uint8_t)why;
	h.nonce ^= 2;		/* not of the connection itself */
	h.echo = d->a.c->nonce;
	return h;
}

static void recv__refused(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = refusal(d, TUX_REASON_PINNED);

	duo_drop(&d->a);
	hear(&d->a, &h);
	assert_int_equal(d->a.c->life, TUX_LIFE_OPENING);
	assert_int_equal(d->a.c->reason, TUX_REASON_PINNED);
	assert_true(d->a.c->open.at == TUX_NEVER);
	assert_true(d->a.c->peer_nonce == 0);
	duo_pass(d, TUX_SEC(1));
	duo_ring(&d->a, TUX_DOORBELL_TOUCH);
	assert_int_equal(duo_drop(&d->a), 0);
	/* The peer has changed its mind. */
	h = say(&d->b);
	hear(&d->a, &h);
	assert_int_equal(duo_carry(&d->a), 1);
	duo_settle(d);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
	assert_int_equal(d->a.c->reason, TUX_REASON_NONE);
}

static void recv__refused_for_a_new_reason(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = refusal(d, TUX_REASON_N);

	hear(&d->a, &h);
	assert_int_equal(d->a.c->reason, TUX_REASON_PEER_RAW);
}

static void recv__refused_without_echo(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = refusal(d, TUX_REASON_PINNED);

	h.echo ^= 1;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->reason, TUX_REASON_NONE);
	assert_int_equal(d->a.c->stats.dropped, 1);
	assert_int_equal(duo_carry(&d->a), 1);
}

/* Once the path is proved, only the connection behind it refuses. */
static void recv__refused_late(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = refusal(d, TUX_REASON_PINNED);

	hear(&d->a, &h);
	assert_int_equal(d->a.c->reason, TUX_REASON_NONE);
	h.nonce = d->b.c->nonce;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->reason, TUX_REASON_PINNED);
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
}

static void recv__refused_too_late(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = refusal(d, TUX_REASON_PINNED);

	h.nonce = d->b.c->nonce;
	hear(&d->a, &h);
	assert_int_equal(d->a.c->reason, TUX_REASON_NONE);
}

/* ---- a proved path ---- */

static void proved__without_a_handle_of_tcp(void **state)
{
	struct duo *d = *state;

	d->a.own_err = -24;
	duo_settle(d);
	assert_int_equal(d->a.own_n, 1);
	assert_int_equal(d->a.c->life, TUX_LIFE_REFUSED);
	assert_int_equal(d->a.c->reason, TUX_REASON_NO_FD);
	assert_true(d->a.c->tx.announce_at == TUX_NEVER);
	/* It does not try again, whoever asks. */
	d->a.own_err = 0;
	duo_pass(d, TUX_SEC(1));
	duo_settle(d);
	tux_hello_again(d->a.c, d->now);
	duo_pass(d, TUX_SEC(10));
	duo_settle(d);
	assert_int_equal(d->a.own_n, 1);
}

static void proved__once(void **state)
{
	struct duo *d = *state;

	tux_hello_proved(d->a.c);
	duo_derive(&d->a, 0);
	assert_int_equal(d->a.own_n, 0);
	assert_int_equal(d->log_a.n[TUX_TRACE_PROVED], 0);
}

/* What another connection has measured on this path is known to the next. */
static void proved__knows_the_way(void **state)
{
	struct duo *d = *state;
	struct tux_hello h = say(&d->b);

	h.token = 7;
	hear(&d->a, &h);
	d->a.c->pair->rtt.min = d->a.c->pair->rtt.srtt = TUX_MSEC(3);
	d->a.c->pair->rtt.backoff = 2;
	h.nonce++;
	h.delay = 20;
	/* Its pair is kept by one more, as by another connection. */
	tux_pair_get(&d->a.core->pairs, tux_conn_local(d->a.c)->ip,
		     d->a.c->peer.ip, 7, 100);
	hear(&d->a, &h);
	assert_int_equal(d->a.c->rtt.srtt, TUX_MSEC(3));
	assert_int_equal(d->a.c->rtt.ack_delay, TUX_MSEC(2));
	assert_int_equal(d->a.c->rtt.backoff, 0);
	tux_pair_put(&d->a.core->pairs, d->a.c->pair);
}

/* ---- time ---- */

static void expire__not_before_its_time(void **state)
{
	struct duo *d = *state;
	struct tux_conn *c = d->a.c;
	unsigned tries = c->open.tries;

	tux_hello_expire(c, c->open.at - 1);
	assert_int_equal(c->open.tries, tries);
	tux_hello_expire(c, c->open.at);
	assert_int_equal(c->open.tries, tries + 1);
}

/* 4 ms, and five times longer after each; then it is on TCP, and says so. */
static void expire__five_tries(void **state)
{
	static const uint64_t gap[] = { 4, 20, 100, 500, 2500 };
	struct duo *d = *state;
	unsigned i;

	for (i = 0; i < 5; i++) {
		assert_int_equal(duo_drop(&d->a), 1);
		assert_int_equal(d->a.c->open.tries, i + 1);
		assert_true(d->a.c->open.at == d->now + TUX_MSEC(gap[i]));
		duo_pass(d, TUX_MSEC(gap[i]) - 1);
		assert_int_equal(duo_drop(&d->a), 0);
		assert_int_equal(d->a.c->reason, TUX_REASON_NONE);
		duo_pass(d, 1);
	}
	assert_int_equal(duo_drop(&d->a), 0);
	assert_int_equal(d->a.c->reason, TUX_REASON_PEER_SILENT);
	assert_true(tux_core_deadline(d->a.core) == TUX_NEVER);
}

static void expire__passive_hears_nothing(void **state)
{
	struct duo *d = *state;

	duo_pass(d, TUX_SEC(3) - 1);
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
	duo_pass(d, 1);
	assert_int_equal(d->b.c->reason, TUX_REASON_PEER_SILENT);
	/* It may hear something yet. */
	duo_drop(&d->a);
	tux_conn_unstall(d->a.c, d->now);
	duo_pass(d, 0);
	duo_settle(d);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
}

/* Plain I/O asks once more, but not all the time. */
static void touch__half_a_millisecond_apart(void **state)
{
	struct duo *d = *state;

	duo_drop(&d->a);
	duo_pass(d, TUX_USEC(500) - 1);
	tux_hello_touch(d->a.c, d->now);
	assert_int_equal(duo_drop(&d->a), 0);
	duo_pass(d, 1);
	tux_hello_touch(d->a.c, d->now);
	assert_int_equal(duo_drop(&d->a), 1);
	tux_hello_touch(d->b.c, d->now);
	assert_int_equal(d->b.c->todo & TUX_DO_HELLO, 0);
}

static void touch__not_when_proved(void **state)
{
	struct duo *d = *state;

	d->now += TUX_SEC(1);
	tux_hello_touch(d->a.c, d->now);
	assert_int_equal(d->a.c->todo & TUX_DO_HELLO, 0);
}

static void again__only_who_may_and_must(void **state)
{
	struct duo *d = *state;

	duo_drop(&d->a);
	d->a.c->open.tries = 5;
	tux_hello_again(d->a.c, d->now);
	assert_int_equal(d->a.c->open.tries, 0);
	assert_true(d->a.c->open.at == d->now);
	tux_hello_again(d->b.c, d->now);
	assert_true(d->b.c->open.at == d->now + TUX_SEC(3));
	duo_pass(d, 0);
	duo_settle(d);
	tux_hello_again(d->a.c, d->now);
	assert_true(d->a.c->open.at == TUX_NEVER);
}

/* ---- how long ---- */

static void build__no_room(void **state)
{
	struct duo *d = *state;
	uint8_t buf[TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN];

	assert_int_equal(tux_hello_build(d->a.c, buf, sizeof(buf) - 1, d->now),
			 0);
	assert_int_equal(d->a.c->todo & TUX_DO_HELLO, TUX_DO_HELLO);
	assert_int_equal(tux_hello_build(d->a.c, buf, sizeof(buf), d->now),
			 sizeof(buf));
	assert_int_equal(d->a.c->todo & TUX_DO_HELLO, 0);
	assert_true(d->a.c->open.sent_at == d->now);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(start__active_asks_passive_waits, duo_setup),
		T(start__announced_both_ask, duo_setup),
		T(recv__three_prove_both, duo_setup),
		T(recv__keys_of_both_nonces, duo_setup),
		T(recv__packet_proves, duo_setup),
		T(recv__what_the_peer_says_of_itself, duo_setup),
		T(recv__shortest_packet_counts, duo_setup),
		T(recv__refuses_nonsense, duo_setup),
		T(recv__last_word_until_proved, duo_setup),
		T(recv__somebody_elses_echo_proves_nothing, duo_setup),
		T(recv__answers_who_asks, duo_setup),
		T(recv__asks_by_timer_again, duo_setup),
		T(recv__no_memory, duo_setup),
		T(recv__refused, duo_setup),
		T(recv__refused_for_a_new_reason, duo_setup),
		T(recv__refused_without_echo, duo_setup),
		T(recv__refused_late, duo_setup_proved),
		T(recv__refused_too_late, duo_setup_switched),
		T(proved__without_a_handle_of_tcp, duo_setup),
		T(proved__once, duo_setup_proved),
		T(proved__knows_the_way, duo_setup),
		T(expire__not_before_its_time, duo_setup),
		T(expire__five_tries, duo_setup),
		T(expire__passive_hears_nothing, duo_setup),
		T(touch__half_a_millisecond_apart, duo_setup),
		T(touch__not_when_proved, duo_setup_proved),
		T(again__only_who_may_and_must, duo_setup),
		T(build__no_room, duo_setup),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
