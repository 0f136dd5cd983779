/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers to HELLOs for connections that this end will not move.
 */
#include "conn/refuse.h"

#include <string.h>

#include "duo.h"

#define WHY TUX_REASON_PINNED

/* b's connection is no more; *@k is the HELLO that a has for it. */
static void ask(struct duo *d, struct duo_pkt *k)
{
	if (d->b.c)
		tux_conn_close(d->b.c, d->now);
	d->b.c = NULL;
	assert_true(duo_out(&d->a, k) > 0);
}

static bool refuse(struct duo *d, const struct duo_pkt *k)
{
	return tux_core_refuse(d->b.core, &d->a.addr, k->p, k->len,
			       &d->a.c->key, WHY);
}

/* ---- what asks ---- */

/* The question that the @len bytes at @p begin with, if they are one. */
static bool asks(const uint8_t *p, size_t len, struct tux_question *q)
{
	return tux_core_asked(&p, &len, q);
}

static void asked__names_the_connection(void **state)
{
	struct duo *d = *state;
	struct tux_question q;
	struct duo_pkt k;

	ask(d, &k);
	assert_true(asks(k.p, k.len, &q));
	assert_false(q.active);
	assert_true(tux_tuple_same(&q.tuple, &d->a.c->tuple));
	assert_ptr_equal(q.p, k.p);
	assert_int_equal(q.len, k.len);
	assert_false(asks(k.p, k.len - 1, &q));
	assert_false(asks(k.p, 0, &q));
	/* A refusal asks for nothing. */
	assert_true(refuse(d, &k));
	assert_true(duo_out(&d->b, &k) > 0);
	assert_false(asks(k.p, k.len, &q));
}

static void asked__not_by_a_packet(void **state)
{
	struct duo *d = *state;
	struct tux_question q;
	struct duo_pkt k;

	duo_ring(&d->a, TUX_DOORBELL_TOUCH);
	tux_conn_do(d->a.c, TUX_DO_PING);
	assert_true(duo_out(&d->a, &k) > 0);
	assert_false(asks(k.p, k.len, &q));
}

/* A datagram has packets of several connections; here, what a refusal and two
 * HELLOs would be. */
static void asked__by_each_of_a_datagram(void **state)
{
	struct duo *d = *state;
	struct tux_question q;
	struct duo_pkt hello, no;
	uint8_t buf[3 * TUX_REFUSAL_LEN];
	const uint8_t *p = buf;
	size_t len = sizeof(buf), one = TUX_REFUSAL_LEN;

	ask(d, &hello);
	assert_int_equal(hello.len, one);
	assert_true(refuse(d, &hello));
	assert_int_equal(duo_out(&d->b, &no), one);
	memcpy(buf, hello.p, one);
	memcpy(buf + one, no.p, one);
	memcpy(buf + 2 * one, hello.p, one);
	assert_true(tux_core_asked(&p, &len, &q));
	assert_ptr_equal(q.p, buf);
	assert_true(tux_core_asked(&p, &len, &q));
	assert_ptr_equal(q.p, buf + 2 * one);
	assert_int_equal(q.len, one);
	assert_int_equal(len, 0);
	assert_false(tux_core_asked(&p, &len, &q));
}

/* ---- the answer ---- */

static void refuse__once_and_as_long(void **state)
{
	struct duo *d = *state;
	struct duo_pkt q, k;
	int live;

	ask(d, &q);
	live = d->mem.live;
	assert_true(refuse(d, &q));
	assert_int_equal(d->mem.live, live);
	assert_int_equal(duo_out(&d->b, &k), q.len);
	assert_true(tux_addr_same(&k.to, &d->a.addr));
	assert_true(tux_addr_same_ip(&k.from, &d->b.addr));
	assert_int_equal(k.from.port, 40000);
	assert_int_equal(k.ecn, TUX_ECN_NONE);
	assert_true(tux_hello_mac_ok(k.p, &k.h, &d->a.c->key));
	assert_int_equal(duo_out(&d->b, &q), 0);
	duo_in(&d->a, &k);
	assert_int_equal(d->a.c->reason, WHY);
	assert_int_equal(d->a.c->life, TUX_LIFE_OPENING);
}

static void refuse__only_with_the_key(void **state)
{
	struct duo *d = *state;
	struct tux_key other = { d->a.c->key.k0, d->a.c->key.k1 ^ 1 };
	struct tux_addr elsewhere = d->a.addr;
	struct duo_pkt k;

	ask(d, &k);
	elsewhere.ip[15] ^= 1;
	assert_false(tux_core_refuse(d->b.core, &d->a.addr, k.p, k.len, &other,
				     WHY));
	assert_false(tux_core_refuse(d->b.core, &elsewhere, k.p, k.len,
				     &d->a.c->key, WHY));
	assert_int_equal(tux_core_stats(d->b.core)->bad_mac, 2);
	assert_int_equal(duo_out(&d->b, &k), 0);
}

static void refuse__few_at_a_time(void **state)
{
	struct duo *d = *state;
	struct duo_pkt q, k;
	unsigned i;

	ask(d, &q);
	for (i = 0; i < TUX_REFUSALS; i++)
		assert_true(refuse(d, &q));
	assert_false(refuse(d, &q));
	for (i = 0; i < TUX_REFUSALS; i++)
		assert_true(duo_out(&d->b, &k) > 0);
	assert_int_equal(duo_out(&d->b, &k), 0);
	assert_true(refuse(d, &q));
}

/* It leads before any connection does, and has no user. */
static void output__is_led_by_nobody(void **state)
{
	struct duo *d = *state;
	uint8_t buf[TUX_REFUSAL_LEN];
	struct duo_pkt k;
	struct tux_out o;

	ask(d, &k);
	assert_false(tux_refuse_lead(d->b.core, &o));
	assert_true(refuse(d, &k));
	assert_true(tux_core_lead(d->b.core, &o));
	assert_null(o.user);
	assert_int_equal(o.from.port, 40000);
	assert_int_equal(tux_core_output(d->b.core, buf, sizeof(buf), &o,
					 d->now), sizeof(buf));
	assert_false(tux_refuse_lead(d->b.core, &o));
}

int main(void)
{
#define T(name, setup) \
	cmocka_unit_test_setup_teardown(name, setup, duo_teardown)
	const struct CMUnitTest tests[] = {
		T(asked__names_the_connection, duo_setup),
		T(asked__not_by_a_packet, duo_setup_proved),
		T(asked__by_each_of_a_datagram, duo_setup),
		T(refuse__once_and_as_long, duo_setup),
		T(refuse__only_with_the_key, duo_setup),
		T(refuse__few_at_a_time, duo_setup),
		T(output__is_led_by_nobody, duo_setup),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
