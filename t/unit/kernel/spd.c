/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/spd.h"

#include <netinet/in.h>

#include "../test.h"

enum { IN = TUX_SPD_IN, OUT = TUX_SPD_OUT };

static struct tux_spd t;

static int setup(void **state)
{
	(void)state;
	return tux_spd_init(&t);
}

static int teardown(void **state)
{
	(void)state;
	tux_spd_fini(&t);
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

	return tux_spd_guard(&t, &local, &peer, bypass);
}

/* A policy of @dir, which protects all of IPv4. */
static struct tux_spd_entry all(uint8_t dir)
{
	static uint32_t index;
	struct tux_spd_entry p = {
		.index = ++index, .priority = 10, .dir = dir, .v4 = true,
		.sure = true,
	};

	p.from.ip[10] = p.from.ip[11] = p.to.ip[10] = p.to.ip[11] = 0xff;
	p.from.len = p.to.len = 96;
	return p;
}

static void add(struct tux_spd_entry p)
{
	tux_spd_add(&t, &p);
}

/* One policy that protects @proto outwards. */
static void only(uint8_t proto)
{
	struct tux_spd_entry p = all(OUT);

	tux_spd_clear(&t);
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
	tux_spd_clear(&t);
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
	struct tux_spd_entry p = all(OUT);

	(void)state;
	p.to.port = 5432;
	p.to.port_mask = 0xffff;
	add(p);
	assert_true(guards(true));
	assert_true(guards(false));
}

static void guard__another_policy_for_some_udp(void **state)
{
	struct tux_spd_entry p = all(OUT);

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
	tux_spd_del(&t, 500);
	p.pass = false;
	add(p);
	assert_true(guards(false));
}

/* Of each type, one policy is applied. */
static void guard__another_policy_of_another_type(void **state)
{
	struct tux_spd_entry p = all(OUT);

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
	struct tux_spd_entry p = all(OUT);

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
	struct tux_spd_entry p = all(OUT);
	unsigned i;

	(void)state;
	for (i = 0; i < N_OF(want); i++) {
		tux_spd_clear(&t);
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
	struct tux_spd_entry p = all(OUT);

	(void)state;
	add(p);
	assert_false(tux_spd_guard(&t, &local, &peer, true));
	tux_spd_clear(&t);
	p.v4 = false;
	p.from.len = p.to.len = 0;
	add(p);
	assert_false(guards(true));
	assert_true(tux_spd_guard(&t, &local, &peer, true));
}

static void guard__the_first_by_priority(void **state)
{
	struct tux_spd_entry p = all(OUT);

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
	struct tux_spd_entry p = all(OUT);

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
	struct tux_spd_entry p = all(OUT);

	(void)state;
	p.sure = false;
	add(p);
	assert_true(guards(false));
}

/* Daemons let their own sockets pass: that says nothing of others. */
static void guard__policies_of_sockets(void **state)
{
	struct tux_spd_entry p = all(OUT);

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
	struct tux_spd_entry p = all(OUT);

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
	for (i = 0; i <= TUX_SPD_ENTRIES; i++) {
		struct tux_spd_entry p = all(OUT);

		p.pass = true;
		assert_false(t.lost);
		add(p);
	}
	assert_true(t.lost);
	assert_true(guards(true));
	assert_true(guards(false));
}

/* ---- what the kernel would do ---- */

enum { POLICIES = 5, TABLES = 20000, TRIES = 20 };

/* What is not known here, for one packet: which of the policies that are not
 * sure apply to it; and for all packets, which of two with one rank is older. */
struct hidden {
	bool applies[POLICIES];
	uint32_t age[POLICIES];
};

struct done {				/* to a packet */
	const struct tux_spd_entry *by[TUX_SPD_TYPES];	/* NULL: none */
	bool harmed;			/* protected, or blocked */
};

static bool port_fits(const struct tux_spd_side *s, uint16_t port)
{
	return (port & s->port_mask) == (s->port & s->port_mask);
}

static bool fits(const struct tux_spd_entry *p, uint8_t dir, uint8_t proto,
		 uint16_t from, uint16_t to, const struct hidden *h)
{
	return p->dir == dir && (!p->proto || p->proto == proto) &&
	       port_fits(&p->from, from) && port_fits(&p->to, to) &&
	       (p->sure || h->applies[p - t.at]);
}

/* Does the kernel ask @p before @q? */
static bool sooner(const struct tux_spd_entry *p, const struct tux_spd_entry *q,
		   const struct hidden *h)
{
	if (p->socket != q->socket)
		return p->socket;
	if (!p->socket && p->priority != q->priority)
		return p->priority < q->priority;
	return h->age[p - t.at] < h->age[q - t.at];
}

static struct done kernel(uint8_t dir, uint8_t proto, uint16_t from,
			  uint16_t to, const struct hidden *h)
{
	struct done d = { { NULL }, false };
	bool any = false;
	uint32_t i;

	for (i = 0; i < t.n; i++) {
		const struct tux_spd_entry *p = &t.at[i], **by = &d.by[p->type];

		if (fits(p, dir, proto, from, to, h) &&
		    (!*by || sooner(p, *by, h)))
			*by = p;
	}
	for (i = 0; i < TUX_SPD_TYPES; i++) {
		any |= d.by[i] != NULL;
		d.harmed |= d.by[i] && !d.by[i]->pass;
	}
	d.harmed |= !any && t.blocks[dir];
	return d;
}

static struct tux_spd_entry any_policy(uint64_t *seed)
{
	static const uint8_t protos[] = { 0, 0, IPPROTO_TCP, IPPROTO_UDP };
	struct tux_spd_entry p = all((uint8_t)test_below(seed, 2));

	p.priority = test_below(seed, 3);
	p.type = test_below(seed, 4) == 0;
	p.proto = protos[test_below(seed, 4)];
	p.pass = test_below(seed, 2);
	p.socket = test_below(seed, 10) == 0;
	p.sure = !p.socket && test_below(seed, 4);
	p.from.port = (uint16_t)(1000 + test_below(seed, 2));
	p.from.port_mask = test_below(seed, 5) ? 0 : 0xffff;
	p.to.port = (uint16_t)(5432 + test_below(seed, 2));
	p.to.port_mask = test_below(seed, 5) ? 0 : 0xffff;
	return p;
}

static void hide(struct hidden *h, uint64_t *seed)
{
	unsigned i;

	for (i = 0; i < POLICIES; i++)
		h->applies[i] = test_below(seed, 2);
}

/* Whatever is hidden: what may go as @bypass says is not harmed by it. */
static bool right(bool bypass, struct hidden *h, uint64_t *seed)
{
	uint8_t dir;

	for (dir = IN; dir <= OUT; dir++) {
		bool out = dir == OUT;
		uint16_t port[2] = { 1000, 5432 };
		struct done tcp, udp;

		hide(h, seed);
		tcp = kernel(dir, IPPROTO_TCP, port[!out], port[out], h);
		if (!bypass) {
			port[0] = (uint16_t)(1000 + test_below(seed, 3));
			port[1] = (uint16_t)(5432 + test_below(seed, 3));
		}
		hide(h, seed);
		udp = kernel(dir, IPPROTO_UDP, port[!out], port[out], h);
		if (bypass ? tcp.harmed || udp.harmed :
			     tcp.harmed && memcmp(tcp.by, udp.by,
						  sizeof(tcp.by)) != 0)
			return false;
	}
	return true;
}

static void guard__never_less_than_the_kernel(void **state)
{
	unsigned i, k, may[2] = { 0, 0 };
	uint64_t seed = 1;

	(void)state;
	for (i = 0; i < TABLES; i++) {
		unsigned bypass, n = 1 + test_below(&seed, POLICIES);
		struct hidden h;

		tux_spd_clear(&t);
		for (k = 0; k < n; k++)
			add(any_policy(&seed));
		t.blocks[OUT] = test_below(&seed, 8) == 0;
		for (bypass = 0; bypass < 2; bypass++) {
			if (guards(bypass))
				continue;
			may[bypass]++;
			for (k = 0; k < POLICIES; k++)
				h.age[k] = test_below(&seed, 1000);
			for (k = 0; k < TRIES; k++)
				assert_true(right(bypass, &h, &seed));
		}
	}
	assert_true(may[0] > TABLES / 10 && may[1] > TABLES / 20);
}

static void del__by_index(void **state)
{
	struct tux_spd_entry p[3] = { all(OUT), all(OUT), all(OUT) };
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++)
		add(p[i]);
	tux_spd_del(&t, p[0].index);
	tux_spd_del(&t, p[2].index);
	tux_spd_del(&t, p[2].index);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.at[0].index, p[1].index);
}

static void flush__a_type(void **state)
{
	struct tux_spd_entry p = all(OUT);

	(void)state;
	add(p);
	p.type = 1;
	add(p);
	p.type = 0;
	add(p);
	p.socket = true;
	add(p);
	tux_spd_flush(&t, 0);
	assert_int_equal(t.n, 2);
	tux_spd_flush(&t, 1);
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
		CASE(guard__never_less_than_the_kernel),
		CASE(del__by_index),
		CASE(flush__a_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
