/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many connections as one engine: whose packet it is, what shares a datagram,
 * whose turn it is, and memory that runs out.
 */
#include <errno.h>

#include "duo.h"
#include "wire/pkt_sum.h"

/* ---- birth ---- */

static void new__no_memory(void **state)
{
	struct tux_core_opts o = { .port = 1 };
	struct tux_core *core = NULL;
	struct test_mem mem;

	(void)state;
	test_mem_init(&mem, 0);
	o.mem = &mem.mem;
	assert_int_equal(tux_core_new(&core, &o), -ENOMEM);
	assert_null(core);
	tux_core_free(NULL);
}

/* Numbers that nobody chose: two cores of one seed are alike, of two not. */
static void new__seed_decides(void **state)
{
	struct duo *d = *state;
	struct tux_core_opts o = {
		.mem = &d->mem.mem,
		.seed = { 1, 2 }, .pkt_max = 1400,
	};
	struct tux_core *core;

	assert_int_equal(tux_core_new(&core, &o), 0);
	assert_true(core->token == d->a.core->token);
	assert_true(core->token != d->b.core->token);
	assert_int_equal(core->pkt_max, 1400);
	assert_int_equal(d->a.core->pkt_max, TUX_PKT_MAX);
	assert_ptr_equal(core->pairs.cc, &tux_cc_cubic);
	tux_core_free(core);
}

static void new__congestion_control(void **state)
{
	struct tux_core_opts o = { .cc = &tux_cc_newreno };
	struct tux_core *core;
	struct test_mem mem;

	(void)state;
	test_mem_init(&mem, -1);
	o.mem = &mem.mem;
	assert_int_equal(tux_core_new(&core, &o), 0);
	assert_ptr_equal(core->pairs.cc, &tux_cc_newreno);
	tux_core_free(core);
	assert_int_equal(mem.live, 0);
}

/* ---- whose packet? ---- */

/* The counters that differ from those at @was, each by one. */
static void counted(struct tux_core *core, struct tux_core_stats *was,
		    const uint64_t *one)
{
	const struct tux_core_stats *s = tux_core_stats(core);

	assert_true(s->damaged == was->damaged + (one == &s->damaged));
	assert_true(s->strangers == was->strangers + (one == &s->strangers));
	assert_true(s->bad_mac == was->bad_mac + (one == &s->bad_mac));
	assert_true(s->wrong_version ==
		    was->wrong_version + (one == &s->wrong_version));
	*was = *s;
}

static void input__hello_of_whom(void **state)
{
	struct duo *d = *state;
	struct tux_core *b = d->b.core;
	struct tux_core_stats was = *tux_core_stats(b);
	struct tux_addr other = d->a.addr;
	struct duo_pkt k, bad;

	duo_out(&d->a, &k);
	bad = k;
	bad.p[60] ^= 1;
	duo_in(&d->b, &bad);
	counted(b, &was, &b->stats.damaged);
	/* The address is not the other end's. */
	other.ip[15]++;
	assert_null(tux_core_input(b, &other, k.p, k.len, 0, d->now));
	counted(b, &was, &b->stats.bad_mac);
	/* Somebody who has not the key. */
	d->b.c->key.k0++;
	duo_in(&d->b, &k);
	counted(b, &was, &b->stats.bad_mac);
	d->b.c->key.k0--;
	/* Its connection is gone. */
	d->b.c->life = TUX_LIFE_GONE;
	duo_in(&d->b, &k);
	counted(b, &was, &b->stats.bad_mac);
	d->b.c->life = TUX_LIFE_OPENING;
	/* It is from an end like ours. */
	tux_core_input(d->a.core, &d->b.addr, k.p, k.len, 0, d->now);
	assert_int_equal(tux_core_stats(d->a.core)->strangers, 1);
	duo_in(&d->b, &k);
	counted(b, &was, NULL);
	assert_true(d->b.c->peer_nonce == d->a.c->nonce);
	assert_int_equal(b->stats.datagrams_rx, 5);
	assert_int_equal(b->stats.packets_rx, 4);
}

static void input__hello_of_no_connection(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	duo_out(&d->a, &k);
	tux_conn_close(d->b.c, d->now);
	d->b.c = NULL;
	duo_in(&d->b, &k);
	assert_int_equal(d->b.core->stats.strangers, 1);
}

/* The hash of the tuple may be another's: then the tuple tells. */
static void input__hash_is_not_enough(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	duo_out(&d->a, &k);
	d->b.c->tuple.active.port++;
	duo_in(&d->b, &k);
	assert_int_equal(d->b.core->stats.strangers, 1);
	d->b.c->tuple.active.port--;
}

/* With OPEN, but without a HELLO at its beginning. */
static void input__opening_without_hello(void **state)
{
	struct duo *d = *state;
	struct tux_core_stats was = *tux_core_stats(d->b.core);
	struct tux_pkt h = { .flags = TUX_PKT_OPEN };
	uint8_t buf[256];
	struct tux_writer w;
	unsigned i;

	for (i = 0; i < 3; i++) {
		tux_writer_init(&w, buf, sizeof(buf));
		if (i == 1)
			tux_writer_add(&w, TUX_REC_PING, 0, 0);
		if (i == 2)		/* too short */
			memset(tux_writer_add(&w, TUX_REC_HELLO, 0, 95), 0, 95);
		tux_core_input(d->b.core, &d->a.addr, buf,
			       tux_writer_end(&w, &h, NULL), 0, d->now);
		counted(d->b.core, &was, &d->b.core->stats.damaged);
	}
}

static void input__by_id(void **state)
{
	struct duo *d = *state;
	struct tux_core *b = d->b.core;
	struct tux_core_stats was = *tux_core_stats(b);
	struct duo_forge f;

	duo_forge(&f, &d->b);
	assert_true(duo_forge_in(&f));
	assert_int_equal(d->b.c->stats.pkts_rx, 1);
	duo_forge(&f, &d->b);
	f.h.id++;
	duo_forge_in(&f);
	counted(b, &was, &b->stats.strangers);
	f.h.id = 0;
	duo_forge_in(&f);
	counted(b, &was, &b->stats.strangers);
	f.h.id = d->b.c->id;
	d->b.c->seal.k1++;
	assert_null(tux_core_input(b, &d->a.addr, f.p,
				   tux_writer_end(&f.w, &f.h, &d->a.c->seal),
				   0, d->now));
	counted(b, &was, &b->stats.damaged);
	d->b.c->seal.k1--;
	d->b.c->life = TUX_LIFE_GONE;
	duo_forge_in(&f);
	counted(b, &was, &b->stats.strangers);
	assert_int_equal(d->b.c->stats.pkts_rx, 1);
}

/* All packets of a datagram, up to the first that is damaged. */
static void input__packets_of_a_datagram(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;
	uint8_t buf[4 * TUX_PKT_HDR];
	size_t len = 0;
	unsigned i;

	for (i = 0; i < 4; i++) {
		duo_forge(&f, &d->b);
		duo_forge_skip(&f, i);
		len += tux_writer_end(&f.w, &f.h, &d->b.c->seal);
		memcpy(buf + len - TUX_PKT_HDR, f.p, TUX_PKT_HDR);
	}
	buf[2 * TUX_PKT_HDR + 30] ^= 1;
	assert_ptr_equal(tux_core_input(d->b.core, &d->a.addr, buf, len, 0,
					d->now), &d->b);
	assert_int_equal(d->b.c->stats.pkts_rx, 2);
	assert_int_equal(d->b.core->stats.damaged, 1);
	/* What is behind one of another connection is looked at. */
	f.h.id++;
	tux_writer_end(&f.w, &f.h, &d->b.c->seal);
	memcpy(buf, f.p, TUX_PKT_HDR);
	memcpy(buf + TUX_PKT_HDR, buf + 3 * TUX_PKT_HDR, TUX_PKT_HDR);
	assert_null(tux_core_input(d->b.core, &d->a.addr, buf, 2 * TUX_PKT_HDR,
				   0, d->now));
	assert_int_equal(d->b.c->stats.pkts_rx, 3);
}

/* The packet at @p is for @id, and of the next version. */
static void next_version(uint8_t *p, uint32_t id)
{
	p[2] = TUX_WIRE_VERSION + 1;
	tux_put32(p + 8, id);
	tux_put32(p + TUX_PKT_CRC, tux_pkt_crc(p, tux_get16(p + 4)));
}

static void input__another_version(void **state)
{
	struct duo *d = *state;
	struct tux_core *b = d->b.core;
	struct tux_core_stats was = *tux_core_stats(b);
	struct duo_pkt k;

	duo_out(&d->a, &k);
	next_version(k.p, 0);
	duo_in(&d->b, &k);
	counted(b, &was, &b->stats.wrong_version);
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
	next_version(k.p, d->b.c->id + 1);
	duo_in(&d->b, &k);
	counted(b, &was, &b->stats.wrong_version);
	next_version(k.p, d->b.c->id);
	d->b.c->life = TUX_LIFE_GONE;
	duo_in(&d->b, &k);
	counted(b, &was, &b->stats.wrong_version);
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
	d->b.c->life = TUX_LIFE_OPENING;
	duo_in(&d->b, &k);
	counted(b, &was, &b->stats.wrong_version);
	assert_int_equal(d->b.c->reason, TUX_REASON_VERSION);
}

/* Who has proved the path knows better. */
static void input__another_version_too_late(void **state)
{
	struct duo *d = *state;
	struct duo_forge f;

	duo_forge(&f, &d->b);
	tux_writer_end(&f.w, &f.h, &d->b.c->seal);
	next_version(f.p, d->b.c->id);
	tux_core_input(d->b.core, &d->a.addr, f.p, TUX_PKT_HDR, 0, d->now);
	assert_int_equal(d->b.core->stats.wrong_version, 1);
	assert_int_equal(d->b.c->reason, TUX_REASON_NONE);
}

/* ---- whose first HELLO it is ---- */

static void *first_heard(const struct duo_end *e, const struct duo_pkt *k,
			 const struct tux_addr *from)
{
	const uint8_t *p = k->p;
	size_t len = k->len;

	return tux_core_first_heard(e->core, from, &p, &len);
}

static void first_heard__of_the_passive_end(void **state)
{
	struct duo *d = *state;
	struct tux_core_stats was = *tux_core_stats(d->b.core);
	struct tux_addr other = d->a.addr;
	struct duo_pkt k;

	other.ip[15]++;
	duo_out(&d->a, &k);
	assert_ptr_equal(first_heard(&d->b, &k, &d->a.addr), &d->b);
	assert_null(first_heard(&d->b, &k, &other));
	assert_null(first_heard(&d->a, &k, &d->b.addr));
	d->b.c->key.k0++;
	assert_null(first_heard(&d->b, &k, &d->a.addr));
	d->b.c->key.k0--;
	assert_memory_equal(tux_core_stats(d->b.core), &was, sizeof(was));
	/* Once it has heard one, no other is the first. */
	duo_in(&d->b, &k);
	assert_null(first_heard(&d->b, &k, &d->a.addr));
	/* What the passive end answers is for the active one, which stays. */
	duo_out(&d->b, &k);
	assert_null(first_heard(&d->a, &k, &d->b.addr));
}

/* ---- cores with one port ---- */

static void open__an_id_says_the_number(void **state)
{
	struct duo *d = *state;
	struct duo_end o;
	unsigned i;

	for (i = 1; i <= TUX_PORT_CORES; i++) {
		d->a.core->number = i;
		duo_beside(&o, &d->a, false);
		assert_int_equal(duo_end_open(&o, 40001, DUO_MTU), 0);
		assert_int_equal(o.c->id % TUX_PORT_CORES, i - 1);
		duo_close(&o);
	}
}

static void owners__of_the_first_packet_are_all(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;

	duo_out(&d->a, &k);
	assert_int_equal(tux_core_owners(k.p, k.len), 0xffff);
	next_version(k.p, 0);
	assert_int_equal(tux_core_owners(k.p, k.len), 0);
}

/* A packet for @id, at @p. */
static void packet_for(struct duo *d, uint8_t *p, uint32_t id)
{
	struct duo_forge f;

	duo_forge(&f, &d->b);
	f.h.id = id;
	tux_writer_end(&f.w, &f.h, &d->b.c->seal);
	memcpy(p, f.p, TUX_PKT_HDR);
}

static void owners__are_those_of_the_ids(void **state)
{
	struct duo *d = *state;
	uint8_t p[2 * TUX_PKT_HDR];

	packet_for(d, p, 0);
	assert_int_equal(tux_core_owners(p, TUX_PKT_HDR), 0);
	packet_for(d, p, 0x12345670);
	packet_for(d, p + TUX_PKT_HDR, 0x1234567f);
	assert_int_equal(tux_core_owners(p, sizeof(p)), 0x8001);
	assert_int_equal(tux_core_owners(p, sizeof(p) - 1), 1);
	next_version(p + TUX_PKT_HDR, 0x12345675);
	assert_int_equal(tux_core_owners(p, sizeof(p)), 0x0021);
	p[0]++;
	assert_int_equal(tux_core_owners(p, sizeof(p)), 0);
}

/* ---- what shares a datagram? ---- */

static unsigned packets(struct duo_pkt *k)
{
	unsigned n = 1;

	while (duo_next(k))
		n++;
	return n;
}

static void output__same_loop_shares(void **state)
{
	struct duo *d = *state;
	struct duo_end a, b;
	struct duo_pkt k;

	duo_other(d, &a, &b);
	assert_true(d->a.c->peer_token == d->b.core->token);
	/* Another port, but the same loop. */
	a.c->peer.port++;
	tux_conn_do(d->a.c, TUX_DO_PING);
	tux_conn_do(a.c, TUX_DO_PING);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(k.to.port, DUO_PORT + 1);
	assert_int_equal(k.from.ip[15], 1);
	assert_int_equal(packets(&k), 2);
	assert_int_equal(duo_out(&d->a, &k), 0);
	duo_other_close(&a, &b);
}

static void output__each_reason_to_part(void **state)
{
	struct duo *d = *state;
	struct duo_end a, b;
	struct duo_pkt k;
	unsigned i;

	duo_other(d, &a, &b);
	for (i = 0; i < 5; i++) {
		struct tux_conn was = *a.c;

		if (i == 0)		/* another loop */
			a.c->peer_token++;
		if (i == 1)		/* none that is known */
			a.c->peer_token = d->a.c->peer_token = 0;
		if (i == 2)		/* another host */
			a.c->peer.ip[15]++;
		if (i == 3)		/* another address of ours */
			a.c->tuple.active.ip[15]++;
		a.c->peer.port++;
		tux_conn_do(d->a.c, TUX_DO_PING);
		/* HELLO names no id yet, and so goes to its own port. */
		tux_conn_do(a.c, i == 4 ? TUX_DO_HELLO : TUX_DO_PING);
		assert_true(duo_out(&d->a, &k) > 0);
		assert_int_equal(packets(&k), 1);
		assert_true(duo_out(&d->a, &k) > 0);
		assert_int_equal(k.to.port, DUO_PORT + 2);
		assert_int_equal(packets(&k), 1);
		assert_int_equal(duo_out(&d->a, &k), 0);
		a.c->peer_token = d->a.c->peer_token = was.peer_token;
		a.c->peer = was.peer;
		a.c->tuple = was.tuple;
	}
	duo_other_close(&a, &b);
}

/* The shorter datagram of its first counts, and it is counted. */
static void output__no_longer_than_the_path(void **state)
{
	struct duo *d = *state;
	struct duo_end a, b;
	struct duo_pkt k;

	duo_other(d, &a, &b);
	tux_conn_set_mtu(d->a.c, 2 * TUX_PKT_HDR, d->now);
	d->a.core->stats.datagrams_tx = d->a.core->stats.packets_tx = 0;
	tux_conn_do(d->a.c, TUX_DO_PING);
	tux_conn_do(a.c, TUX_DO_PING);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(packets(&k), 1);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(d->a.core->stats.datagrams_tx, 2);
	assert_int_equal(d->a.core->stats.packets_tx, 2);
	duo_other_close(&a, &b);
}

static void output__ecn_as_the_first_chose(void **state)
{
	struct duo *d = *state;
	struct duo_end a, b;
	struct duo_pkt k;

	duo_other(d, &a, &b);
	tux_conn_do(d->a.c, TUX_DO_ACK);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(k.ecn, TUX_ECN_NONE);
	tux_conn_do(d->a.c, TUX_DO_PING);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(k.ecn, TUX_ECN_ECT0);
	d->a.c->tx.tail = true;
	tux_conn_do(d->a.c, TUX_DO_PING);
	tux_conn_do(a.c, TUX_DO_PING);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_int_equal(packets(&k), 2);
	assert_int_equal(k.ecn, TUX_ECN_NONE);
	duo_other_close(&a, &b);
}

/* Each sends one packet, and waits behind the others for the next. */
static void output__in_turn(void **state)
{
	struct duo *d = *state;
	struct duo_end a, b;
	struct duo_pkt k;
	uint32_t first;

	duo_other(d, &a, &b);
	tux_conn_do(d->a.c, TUX_DO_HELLO);
	tux_conn_do(a.c, TUX_DO_HELLO);
	tux_conn_do(d->a.c, TUX_DO_PING);
	assert_true(duo_out(&d->a, &k) > 0);
	first = k.h.flags;
	assert_int_equal(first, TUX_PKT_OPEN);
	assert_true(duo_next(&k));
	assert_int_equal(k.h.flags, TUX_PKT_OPEN);
	assert_true(duo_next(&k));
	assert_int_equal(k.h.flags & TUX_PKT_ELICIT, TUX_PKT_ELICIT);
	duo_other_close(&a, &b);
}

/* A connection that has nothing to send after all leads no more, and the next one
 * does. */
static void lead__the_first_that_can_send(void **state)
{
	struct duo *d = *state;
	uint8_t buf[TUX_PKT_MAX];
	struct duo_end a, b;
	struct tux_out o;

	duo_other(d, &a, &b);
	tux_conn_kick(d->a.c);
	tux_conn_do(a.c, TUX_DO_PING);
	assert_true(tux_core_lead(d->a.core, &o));
	assert_ptr_equal(o.user, tux_conn_user(d->a.c));
	assert_true(tux_addr_same(&o.to, &d->a.c->peer));
	assert_int_equal(tux_core_output(d->a.core, buf, sizeof(buf), &o,
					 d->now), 0);
	assert_true(tux_core_lead(d->a.core, &o));
	assert_ptr_equal(o.user, tux_conn_user(a.c));
	assert_true(tux_core_output(d->a.core, buf, sizeof(buf), &o, d->now) >
		    0);
	assert_false(tux_core_lead(d->a.core, &o));
	duo_other_close(&a, &b);
}

/* ---- time ---- */

static void expire__only_what_is_due(void **state)
{
	struct duo *d = *state;

	duo_drop(&d->a);
	assert_true(tux_core_deadline(d->a.core) == d->now + TUX_MSEC(4));
	assert_false(tux_core_expire(d->a.core, d->now + TUX_MSEC(4) - 1));
	assert_true(tux_core_expire(d->a.core, d->now + TUX_MSEC(4)));
	assert_false(tux_core_expire(d->a.core, d->now + TUX_MSEC(4)));
	assert_true(tux_core_deadline(d->a.core) == d->now + TUX_MSEC(24));
	tux_conn_close(d->a.c, d->now);
	d->a.c = NULL;
	assert_true(tux_core_deadline(d->a.core) == TUX_NEVER);
}

/* A timer that was set early, and whose deadline has moved on, goes back. */
static void expire__later_than_it_was(void **state)
{
	struct duo *d = *state;

	duo_drop(&d->a);
	tux_core_deadline(d->a.core);
	d->a.c->open.at = d->now + TUX_MSEC(9);
	assert_false(tux_core_expire(d->a.core, d->now + TUX_MSEC(4)));
	assert_true(tux_core_deadline(d->a.core) == d->now + TUX_MSEC(9));
}

/* An idle path is asked by one of its users, 20 to 30 seconds later. */
static void expire__rested_pair_asks(void **state)
{
	struct duo *d = *state;
	struct duo_pkt k;
	tux_time at;

	at = tux_core_deadline(d->a.core);
	assert_true(at >= d->now && at <= d->now + TUX_SEC(30));
	assert_true(tux_core_expire(d->a.core, at) ||
		    tux_core_deadline(d->a.core) > at);
	d->now = tux_core_deadline(d->a.core);
	assert_true(d->now >= at + TUX_SEC(20) && d->now < at + TUX_SEC(30));
	assert_true(tux_core_expire(d->a.core, d->now));
	assert_true(duo_out(&d->a, &k) > 0);
	assert_non_null(duo_rec(&k, TUX_REC_PING));
}

/* ---- effects ---- */

/* In the order in which the connections asked first, each once. */
static void effects__each_connection_in_turn(void **state)
{
	struct duo *d = *state;
	struct tux_core *core = d->a.core;
	struct duo_end a, b;
	uint32_t effects = 0;

	duo_other(d, &a, &b);
	assert_null(tux_core_effects(core, &effects));
	tux_conn_rung(a.c, TUX_DOORBELL_RAW, d->now);
	tux_conn_rung(d->a.c, TUX_DOORBELL_CLOSE, d->now);
	tux_conn_rung(a.c, TUX_DOORBELL_ABORT, d->now);
	assert_ptr_equal(tux_core_effects(core, &effects), a.c);
	assert_int_equal(effects, TUX_EFFECT_PATH | TUX_EFFECT_READY |
			 TUX_EFFECT_GONE | TUX_EFFECT_RESET);
	assert_ptr_equal(tux_core_effects(core, &effects), d->a.c);
	assert_int_equal(effects & (TUX_EFFECT_GONE | TUX_EFFECT_RESET),
			 TUX_EFFECT_GONE);
	assert_null(tux_core_effects(core, &effects));
	duo_other_close(&a, &b);
}

/* ---- no memory, at every place where some is asked for ---- */

enum { MANY = 24 };			/* tables and the heap grow twice */

struct crowd {
	struct duo *d;
	struct duo_end end[2][MANY];	/* every fourth takes messages */
	unsigned refused;		/* by tux_core_open() */
};

static void open_one(struct crowd *w, unsigned side, unsigned i)
{
	struct duo_end *e = &w->end[side][i];
	int live = w->d->mem.live, err;

	duo_beside(e, side ? &w->d->b : &w->d->a, i % 4 == 0);
	err = duo_end_open(e, (uint16_t)(1000 + i), DUO_MTU);
	if (!err)
		return;
	assert_int_equal(err, -ENOMEM);
	assert_int_equal(e->core->conn_n, i);
	assert_true(w->d->mem.live <= live + 2);	/* what grew first */
	w->refused++;
	assert_int_equal(duo_end_open(e, (uint16_t)(1000 + i), DUO_MTU), 0);
}

/* Everybody is proved in the end, even if a pair was made at second try. */
static void prove_all(struct crowd *w)
{
	unsigned i;

	for (i = 0; i < 4; i++) {
		duo_settle(w->d);
		duo_pass(w->d, TUX_MSEC(25));
	}
	for (i = 0; i < 2 * MANY; i++) {
		const struct tux_conn *c = w->end[i % 2][i / 2].c;

		assert_int_equal(c->life, TUX_LIFE_PROVED);
		assert_int_equal(c->reason, TUX_REASON_NONE);
	}
}

/* One connection more, which is to be used. */
static void open_both(struct crowd *w)
{
	if (duo_open(&w->d->a, true)) {
		w->refused++;
		assert_int_equal(duo_open(&w->d->a, true), 0);
	}
	if (duo_open(&w->d->b, true)) {
		w->refused++;
		assert_int_equal(duo_open(&w->d->b, true), 0);
	}
}

static void use_both(struct duo *d)
{
	struct tux_msg m;
	char buf[8];

	assert_int_equal(duo_write(&d->a, "hello", 5), 5);
	duo_send(&d->a, 3000, 0, 'm');
	duo_settle(d);
	assert_true(tux_conn_rx_on_tux(d->b.c));
	assert_int_equal(duo_read(&d->b, buf, sizeof(buf)), 5);
	assert_int_equal(tux_msgbox_take(d->b.box, &m, 1), 1);
	assert_int_equal(m.len, 3000);
}

/* True: an allocation has failed. */
static bool crowd_at(int fail_at, unsigned *refused)
{
	struct crowd w = { .d = duo_new() };
	bool failed;
	unsigned i;

	w.d->mem.asked = 0;
	w.d->mem.fail_at = fail_at;
	for (i = 0; i < 2 * MANY; i++)
		open_one(&w, i % 2, i / 2);
	open_both(&w);
	prove_all(&w);
	use_both(w.d);
	failed = w.d->mem.asked >= fail_at;
	*refused += w.refused;
	for (i = 0; i < 2 * MANY; i++)
		duo_close(&w.end[i % 2][i / 2]);
	duo_free(w.d);
	return failed;
}

static void memory__fails_at_each_allocation(void **state)
{
	unsigned refused = 0;
	int at = 1;

	(void)state;
	while (crowd_at(at, &refused))
		at++;
	/* All but those of the two pairs are told to who opens. */
	assert_true(refused > 2 * MANY);
	assert_true(at - 1 - (int)refused <= 8);
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new__no_memory),
		T(new__seed_decides, duo_setup),
		cmocka_unit_test(new__congestion_control),
		T(input__hello_of_whom, duo_setup),
		T(input__hello_of_no_connection, duo_setup),
		T(input__hash_is_not_enough, duo_setup),
		T(input__opening_without_hello, duo_setup),
		T(input__by_id, duo_setup_proved),
		T(input__packets_of_a_datagram, duo_setup_proved),
		T(input__another_version, duo_setup),
		T(input__another_version_too_late, duo_setup_proved),
		T(first_heard__of_the_passive_end, duo_setup),
		T(open__an_id_says_the_number, duo_setup),
		T(owners__of_the_first_packet_are_all, duo_setup),
		T(owners__are_those_of_the_ids, duo_setup_proved),
		T(output__same_loop_shares, duo_setup_proved),
		T(output__each_reason_to_part, duo_setup_proved),
		T(output__no_longer_than_the_path, duo_setup_proved),
		T(output__ecn_as_the_first_chose, duo_setup_proved),
		T(output__in_turn, duo_setup_proved),
		T(lead__the_first_that_can_send, duo_setup_proved),
		T(expire__only_what_is_due, duo_setup),
		T(expire__later_than_it_was, duo_setup),
		T(expire__rested_pair_asks, duo_setup_switched),
		T(effects__each_connection_in_turn, duo_setup_proved),
		cmocka_unit_test(memory__fails_at_each_allocation),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
