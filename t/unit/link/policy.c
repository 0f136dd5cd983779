/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/policy.h"

#include <netinet/in.h>

#include "../test.h"

enum { IN = TUX_POLICY_IN, OUT = TUX_POLICY_OUT };

static struct tux_policies t;

static int setup(void **state)
{
	(void)state;
	return tux_policies_init(&t);
}

static int teardown(void **state)
{
	(void)state;
	tux_policies_fini(&t);
	return 0;
}

static struct tux_addr v4(uint8_t last, uint16_t port)
{
	return (struct tux_addr){
		{ [10] = 0xff, 0xff, 10, 77, 0, last }, port,
	};
}

static struct tux_addr v6(uint8_t last, uint16_t port)
{
	return (struct tux_addr){ { 0xfd, 0x77, [15] = last }, port };
}

/* Would the connection from 10.77.0.1:1000 to 10.77.0.2:5432 stay on TCP? */
static bool guards(bool bypass)
{
	struct tux_addr local = v4(1, 1000), peer = v4(2, 5432);

	return tux_policies_guard(&t, &local, &peer, bypass);
}

/* A policy of @dir, which protects all of IPv4. */
static struct tux_policy all(uint8_t dir)
{
	static uint32_t index;
	struct tux_policy p = {
		.index = ++index, .priority = 10, .dir = dir, .v4 = true,
		.sure = true,
	};

	p.from.ip[10] = p.from.ip[11] = p.to.ip[10] = p.to.ip[11] = 0xff;
	p.from.len = p.to.len = 96;
	return p;
}

static void add(struct tux_policy p)
{
	tux_policies_add(&t, &p);
}

/* One policy that protects @proto outwards. */
static void only(uint8_t proto)
{
	struct tux_policy p = all(OUT);

	tux_policies_clear(&t);
	p.proto = proto;
	add(p);
}

static void guard__nothing_without_policies(void **state)
{
	(void)state;
	assert_false(guards(true));
	assert_false(guards(false));
}

static void guard__either_direction(void **state)
{
	(void)state;
	add(all(IN));
	assert_true(guards(true));
	tux_policies_clear(&t);
	add(all(OUT));
	assert_true(guards(true));
}

static void guard__either_protocol_if_ipsec_is_bypassed(void **state)
{
	(void)state;
	only(IPPROTO_TCP);
	assert_true(guards(true));
	only(IPPROTO_UDP);
	assert_true(guards(true));
	only(IPPROTO_SCTP);
	assert_false(guards(true));
}

static void guard__tcp_alone_if_it_is_not(void **state)
{
	(void)state;
	only(IPPROTO_TCP);
	assert_true(guards(false));
	only(IPPROTO_UDP);
	assert_false(guards(false));
	only(0);
	assert_false(guards(false));
}

/* UDP has other ports, and is protected only if its ports do not matter. */
static void guard__a_port_of_tcp(void **state)
{
	struct tux_policy p = all(OUT);

	(void)state;
	p.to.port = 5432;
	p.to.port_mask = 0xffff;
	add(p);
	assert_true(guards(true));
	assert_true(guards(false));
}

static void guard__another_policy_for_some_udp(void **state)
{
	struct tux_policy p = all(OUT);

	(void)state;
	add(p);
	p = all(OUT);
	p.proto = IPPROTO_UDP;
	p.from.port = 500;
	p.from.port_mask = 0xffff;
	p.priority = 11;
	add(p);
	assert_false(guards(false));
	p.index = 500;
	p.pass = true;
	p.priority = 10;
	add(p);
	assert_true(guards(false));
	tux_policies_del(&t, 500);
	p.pass = false;
	add(p);
	assert_true(guards(false));
}

/* Of each type, one policy is applied. */
static void guard__another_policy_of_another_type(void **state)
{
	struct tux_policy p = all(OUT);

	(void)state;
	add(p);
	p = all(OUT);
	p.type = 1;
	p.priority = 99;
	p.proto = IPPROTO_TCP;
	add(p);
	assert_true(guards(false));
}

static void guard__ports_with_masks(void **state)
{
	struct tux_policy p = all(OUT);

	(void)state;
	p.to.port = 5432 & 0xfff0;
	p.to.port_mask = 0xfff0;
	p.from.port = 1000;
	p.from.port_mask = 0xffff;
	add(p);
	assert_true(guards(true));
	t.at[0].to.port ^= 0x10;
	assert_false(guards(true));
	t.at[0].to.port ^= 0x10;
	t.at[0].from.port = 1001;
	assert_false(guards(true));
}

static void guard__prefixes(void **state)
{
	static const struct {
		uint8_t last, len;
		bool guarded;
	} want[] = {
		{ 2, 128, true }, { 3, 128, false }, { 3, 127, true },
		{ 1, 127, false }, { 1, 126, true }, { 6, 126, false },
		{ 255, 120, true }, { 255, 121, false }, { 9, 96, true },
	};
	struct tux_policy p = all(OUT);
	unsigned i;

	(void)state;
	for (i = 0; i < N_OF(want); i++) {
		tux_policies_clear(&t);
		memcpy(p.to.ip, v4(want[i].last, 0).ip, 16);
		p.to.len = want[i].len;
		add(p);
		assert_int_equal(guards(true), want[i].guarded);
	}
}

/* ::/0 does not select IPv4, nor 0.0.0.0/0 IPv6. */
static void guard__its_family(void **state)
{
	struct tux_addr local = v6(1, 1000), peer = v6(2, 5432);
	struct tux_policy p = all(OUT);

	(void)state;
	add(p);
	assert_false(tux_policies_guard(&t, &local, &peer, true));
	tux_policies_clear(&t);
	p.v4 = false;
	p.from.len = p.to.len = 0;
	add(p);
	assert_false(guards(true));
	assert_true(tux_policies_guard(&t, &local, &peer, true));
}

static void guard__the_first_by_priority(void **state)
{
	struct tux_policy p = all(OUT);

	(void)state;
	add(p);
	p = all(OUT);
	p.pass = true;
	p.priority = 9;
	add(p);
	assert_false(guards(true));
	assert_false(guards(false));
	t.at[1].priority = 11;
	assert_true(guards(true));
	t.at[1].priority = 10;		/* which is older is not known */
	assert_true(guards(true));
}

/* The mark of a packet, say, is not known: such a policy may apply or not. */
static void guard__what_is_not_sure(void **state)
{
	struct tux_policy p = all(OUT);

	(void)state;
	p.sure = false;
	add(p);
	assert_true(guards(true));
	t.at[0].pass = true;
	t.at[0].priority = 1;
	assert_false(guards(true));
	add(all(OUT));
	assert_true(guards(true));
}

static void guard__what_is_not_sure_is_not_alike(void **state)
{
	struct tux_policy p = all(OUT);

	(void)state;
	p.sure = false;
	add(p);
	assert_true(guards(false));
}

/* Daemons let their own sockets pass: that says nothing of others. */
static void guard__policies_of_sockets(void **state)
{
	struct tux_policy p = all(OUT);

	(void)state;
	p.sure = false;
	p.socket = p.pass = true;
	add(p);
	assert_false(guards(true));
	add(all(OUT));
	assert_true(guards(true));
	t.at[1].pass = true;
	t.at[1].priority = 0;
	assert_false(guards(true));
	t.at[0].pass = false;
	assert_true(guards(true));
}

static void guard__a_default_that_blocks(void **state)
{
	struct tux_policy p = all(OUT);

	(void)state;
	t.blocks[OUT] = true;
	assert_true(guards(true));
	p.pass = true;
	add(p);
	assert_false(guards(true));
	t.at[0].sure = false;
	assert_true(guards(true));
	t.at[0].sure = true;
	t.at[0].proto = IPPROTO_TCP;	/* UDP is blocked */
	assert_true(guards(true));
	assert_false(guards(false));
	t.blocks[OUT] = false;
	t.blocks[IN] = true;
	assert_true(guards(true));
}

static void guard__everything_if_the_table_is_not_whole(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i <= TUX_POLICIES; i++) {
		struct tux_policy p = all(OUT);

		p.pass = true;
		assert_false(t.lost);
		add(p);
	}
	assert_true(t.lost);
	assert_true(guards(true));
	assert_true(guards(false));
}

static void del__by_index(void **state)
{
	struct tux_policy p[3] = { all(OUT), all(OUT), all(OUT) };
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++)
		add(p[i]);
	tux_policies_del(&t, p[0].index);
	tux_policies_del(&t, p[2].index);
	tux_policies_del(&t, p[2].index);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.at[0].index, p[1].index);
}

static void flush__a_type(void **state)
{
	struct tux_policy p = all(OUT);

	(void)state;
	add(p);
	p.type = 1;
	add(p);
	p.type = 0;
	add(p);
	p.socket = true;
	add(p);
	tux_policies_flush(&t, 0);
	assert_int_equal(t.n, 2);
	tux_policies_flush(&t, 1);
	assert_int_equal(t.n, 1);
	assert_true(t.at[0].socket);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(guard__nothing_without_policies),
		CASE(guard__either_direction),
		CASE(guard__either_protocol_if_ipsec_is_bypassed),
		CASE(guard__tcp_alone_if_it_is_not),
		CASE(guard__a_port_of_tcp),
		CASE(guard__another_policy_for_some_udp),
		CASE(guard__another_policy_of_another_type),
		CASE(guard__ports_with_masks),
		CASE(guard__prefixes),
		CASE(guard__its_family),
		CASE(guard__the_first_by_priority),
		CASE(guard__what_is_not_sure),
		CASE(guard__what_is_not_sure_is_not_alike),
		CASE(guard__policies_of_sockets),
		CASE(guard__a_default_that_blocks),
		CASE(guard__everything_if_the_table_is_not_whole),
		CASE(del__by_index),
		CASE(flush__a_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
