/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel says of policies, as it was heard after the commands of
 * iproute2 that stand beside it.
 */
#include "kernel/xfrm.h"

#include <errno.h>
#include <linux/xfrm.h>
#include <sys/socket.h>

#include "../../filter.h"
#include "../test.h"

/* No limits, and nothing counted yet: struct xfrm_lifetime_cfg and _cur. */
#define LIFE \
	"ffffffffffffffff ffffffffffffffff ffffffffffffffff ffffffffffffffff" \
	"0000000000000000 0000000000000000 0000000000000000 0000000000000000" \
	"0000000000000000 0000000000000000 6c60036b00000000 0000000000000000"

#define SELECTOR \
	"0a4d0000 000000000000000000000000 0a4d0001 000000000000000000000000" \
	"1538ffff 00000000 0200 18 20 06 000000 00000000 00000000"

/* add dir out src 10.77.0.1 dst 10.77.0.0/24 proto tcp dport 5432 priority 7
 *	tmpl src 10.77.0.1 dst 10.77.0.2 proto esp mode transport level use */
static const char added[] =
	"08010000 1300 0000 6d60036b 00000000"
	SELECTOR LIFE
	"07000000 01000000 01 00 00 00 00000000"
	"4400 0500 0a4d0002000000000000000000000000 00000000 32 000000"
	"0200 0000 0a4d0001000000000000000000000000 00000000 00 00 01 00"
	"ffffffff ffffffff ffffffff"
	"0a00 1000 00 00 0000 00 00 0000";

/* update ... priority 8, without a template */
static const char updated[] =
	"c4000000 1900 0000 6e60036b 00000000"
	SELECTOR LIFE
	"08000000 01000000 01 00 00 00 00000000"
	"0a00 1000 00 00 0000 00 00 0000";

/* del ... */
static const char deleted[] =
	"08010000 1400 0000 6e60036b 00000000"
	SELECTOR "00000000 01 000000"
	"ac00 0700" SELECTOR LIFE
	"08000000 01000000 01 00 00 00 00000000"
	"0a00 1000 00 00 0000 00 00 0000";

/* add dir in src fd77::/64 dst ::/0 index 16 priority 3 action block */
static const char blocked[] =
	"c4000000 1300 0000 6e60036b 00000000"
	"00000000000000000000000000000000 fd770000000000000000000000000000"
	"00000000 00000000 0a00 00 40 00 000000 00000000 00000000" LIFE
	"03000000 10000000 00 01 00 00 00000000"
	"0a00 1000 00 00 0000 00 00 0000";

/* add dir out src 10.77.0.1 dst 10.77.0.0/24 proto tcp dport 5432
 *	limit time-hard 1; a second later */
static const char expired[] =
	"cc000000 1b00 0000 00000000 00000000"
	SELECTOR LIFE
	"00000000 01000000 01 00 00 00 00000000"
	"01 00000000000000"
	"0a00 1000 00 00 0000 00 00 0000";

/* setdefault out block */
static const char defaults[] =
	"14000000 2800 0000 00000000 00000000 02 02 01 00";

/* flush */
static const char flushed[] =
	"1c000000 1d00 0000 6e60036b 00000000"
	"0a00 1000 00 00 0000 00 00 0000";

static struct tux_xfrm x;
static _Alignas(8) uint8_t msg[512];

static int setup(void **state)
{
	(void)state;
	memset(&x, 0, sizeof(x));
	x.notify.fd = -1;
	return tux_spd_init(&x.spd);
}

static int teardown(void **state)
{
	(void)state;
	tux_xfrm_close(&x);
	return 0;
}

static struct nlmsghdr *message(const char *hex)
{
	memset(msg, 0xff, sizeof(msg));
	test_hex(msg, hex);
	return (void *)msg;
}

static bool hear(const char *hex)
{
	x.changed = false;
	tux_xfrm_hear(&x, message(hex));
	return x.changed;
}

static struct tux_addr v4(uint8_t last, uint16_t port)
{
	return (struct tux_addr){
		{ [10] = 0xff, 0xff, 10, 77, 0, last }, port,
	};
}

static enum tux_reason refuses(uint16_t port, bool bypass)
{
	struct tux_addr local = v4(1, 1000), peer = v4(9, port);

	return tux_xfrm_refuses(&x, &local, &peer, bypass);
}

static void hear__a_policy(void **state)
{
	const struct tux_spd_entry *p = x.spd.at;

	(void)state;
	assert_true(hear(added));
	assert_int_equal(x.spd.n, 1);
	assert_int_equal(p->index, 1);
	assert_int_equal(p->priority, 7);
	assert_int_equal(p->dir, TUX_SPD_OUT);
	assert_int_equal(p->proto, 6);
	assert_int_equal(p->to.port, 5432);
	assert_int_equal(p->to.port_mask, 0xffff);
	assert_int_equal(p->to.len, 96 + 24);
	assert_int_equal(p->from.len, 96 + 32);
	assert_true(p->v4 && p->sure && !p->pass && !p->socket);
	assert_int_equal(refuses(5432, true), TUX_REASON_IPSEC);
	assert_int_equal(refuses(5432, false), TUX_REASON_IPSEC);
	assert_int_equal(refuses(5433, true), TUX_REASON_NONE);
}

static void hear__a_policy_replaced(void **state)
{
	(void)state;
	hear(added);
	assert_true(hear(updated));
	assert_int_equal(x.spd.n, 1);
	assert_true(x.spd.at[0].pass);
	assert_int_equal(x.spd.at[0].priority, 8);
	assert_int_equal(refuses(5432, true), TUX_REASON_NONE);
}

static void hear__a_policy_deleted(void **state)
{
	(void)state;
	hear(added);
	assert_true(hear(deleted));
	assert_int_equal(x.spd.n, 0);
}

static void hear__a_policy_expired(void **state)
{
	struct nlmsghdr *h;

	(void)state;
	hear(added);
	h = message(expired);
	msg[sizeof(*h) + sizeof(struct xfrm_userpolicy_info)] = 0;
	tux_xfrm_hear(&x, h);		/* soft: it stays */
	assert_int_equal(x.spd.n, 1);
	assert_true(hear(expired));
	assert_int_equal(x.spd.n, 0);
}

static void hear__a_policy_of_ipv6(void **state)
{
	struct tux_addr a = { { 0xfd, 0x77, [15] = 1 }, 1 };
	struct tux_addr b = { { 0xfd, 0x77, [15] = 2 }, 2 };
	struct tux_addr c = { { 0xfd, 0x78, [15] = 2 }, 2 };

	(void)state;
	assert_true(hear(blocked));
	assert_int_equal(tux_xfrm_refuses(&x, &a, &b, true), TUX_REASON_IPSEC);
	assert_int_equal(tux_xfrm_refuses(&x, &c, &a, true), TUX_REASON_IPSEC);
	assert_int_equal(tux_xfrm_refuses(&x, &a, &c, true), TUX_REASON_NONE);
	assert_int_equal(refuses(5432, true), TUX_REASON_NONE);
}

static void hear__all_deleted(void **state)
{
	(void)state;
	hear(added);
	hear(blocked);
	assert_true(hear(flushed));
	assert_int_equal(x.spd.n, 0);
}

static void hear__the_default(void **state)
{
	(void)state;
	assert_true(hear(defaults));
	assert_true(x.spd.blocks[TUX_SPD_OUT]);
	assert_false(x.spd.blocks[TUX_SPD_IN]);
	assert_int_equal(refuses(5432, true), TUX_REASON_IPSEC);
}

/* Keys come and go all the time. */
static void hear__nothing_of_keys(void **state)
{
	(void)state;
	assert_false(hear("10000000 1800 0000 00000000 00000000"));
}

/* What came before them is not forgotten. */
static void hear__keys_after_a_policy(void **state)
{
	(void)state;
	assert_true(hear(added));
	tux_xfrm_hear(&x, message("10000000 1800 0000 00000000 00000000"));
	assert_true(x.changed);
}

/* @attr behind the policy, which lets packets pass, or is of direction @dir. */
static void with(const char *attr, size_t len, uint8_t dir)
{
	struct nlmsghdr *h = message(updated);
	struct xfrm_userpolicy_info *i = (void *)(msg + sizeof(*h));

	test_hex(msg + h->nlmsg_len, attr);
	h->nlmsg_len += (uint32_t)len;
	i->dir = dir;
	tux_xfrm_hear(&x, h);
}

static void hear__what_is_not_sure(void **state)
{
	(void)state;
	with("", 0, XFRM_POLICY_OUT);
	assert_true(x.spd.at[0].sure);
	with("0c00 1500 05000000 ff000000", 12, XFRM_POLICY_OUT);
	assert_false(x.spd.at[0].sure);
	with("0c00 1500 00000000 00000000", 12, XFRM_POLICY_OUT);
	assert_true(x.spd.at[0].sure);
	with("0800 0800 08000000", 8, XFRM_POLICY_OUT);
	assert_false(x.spd.at[0].sure);
}

/* A policy that is now for an xfrm interface is not for connections any more. */
static void hear__not_of_xfrm_interfaces(void **state)
{
	(void)state;
	hear(added);
	with("0800 1f00 09000000", 8, XFRM_POLICY_OUT);
	assert_int_equal(x.spd.n, 0);
	with("0800 1f00 00000000", 8, XFRM_POLICY_OUT);
	assert_int_equal(x.spd.n, 1);
}

static void hear__not_what_is_forwarded(void **state)
{
	(void)state;
	with("", 0, XFRM_POLICY_FWD);
	assert_int_equal(x.spd.n, 0);
}

static void hear__a_policy_of_a_socket(void **state)
{
	(void)state;
	with("", 0, XFRM_POLICY_MAX + XFRM_POLICY_OUT);
	assert_int_equal(x.spd.n, 1);
	assert_int_equal(x.spd.at[0].dir, TUX_SPD_OUT);
	assert_true(x.spd.at[0].socket);
	assert_false(x.spd.at[0].sure);
}

/* Whatever is cut off: a policy that cannot be read may protect anything. */
static void hear__cut_off(void **state)
{
	static const char *const all[] = {
		added, updated, deleted, blocked, expired, defaults, flushed,
	};
	unsigned i;

	(void)state;
	for (i = 0; i < N_OF(all); i++) {
		struct nlmsghdr *h = message(all[i]);
		uint32_t len = h->nlmsg_len;

		for (; len >= sizeof(*h); len--) {
			bool policy = h->nlmsg_type == XFRM_MSG_NEWPOLICY ||
				      h->nlmsg_type == XFRM_MSG_UPDPOLICY;
			bool whole = len >= sizeof(*h) +
				     sizeof(struct xfrm_userpolicy_info);

			tux_spd_clear(&x.spd);
			h->nlmsg_len = len;
			tux_xfrm_hear(&x, h);
			assert_int_equal(x.spd.lost, policy && !whole);
			assert_int_equal(x.spd.n, policy && whole);
		}
	}
}

/* The longest prefixes that fit, if the kernel named longer ones. */
static void hear__prefixes_that_are_too_long(void **state)
{
	struct nlmsghdr *h = message(added);
	struct xfrm_userpolicy_info *i = (void *)(msg + sizeof(*h));

	(void)state;
	i->sel.prefixlen_d = i->sel.prefixlen_s = 255;
	tux_xfrm_hear(&x, h);
	assert_int_equal(x.spd.at[0].from.len, 128);
	i->sel.family = 10;
	tux_xfrm_hear(&x, h);
	assert_int_equal(x.spd.at[0].to.len, 128);
	assert_int_equal(x.spd.n, 1);
}

static void refuses__what_it_cannot_see(void **state)
{
	(void)state;
	x.blind = true;
	assert_int_equal(refuses(5432, true), TUX_REASON_NO_PRIVILEGE);
	assert_int_equal(refuses(5432, false), TUX_REASON_NONE);
}

/* Whatever this process may: there are policies to see, or it is blind. */
static void open__works_everywhere(void **state)
{
	struct tux_xfrm y;

	(void)state;
	assert_int_equal(tux_xfrm_open(&y), 0);
	if (y.notify.fd >= 0) {
		assert_false(y.blind);
		assert_non_null(y.spd.at);
		tux_xfrm_read(&y);
	} else {
		assert_int_equal(y.spd.n, 0);
	}
	tux_xfrm_close(&y);
	assert_int_equal(y.notify.fd, -1);
}

/* The last one: it stays so. */
static void open__without_netlink(void **state)
{
	struct tux_xfrm y;

	(void)state;
	if (!filter_refuse(SYS_socket, UINT32_MAX, AF_NETLINK, EAFNOSUPPORT, 0))
		skip();
	assert_int_equal(tux_xfrm_open(&y), 0);
	assert_true(y.open && y.blind);
	tux_xfrm_close(&y);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(hear__a_policy),
		CASE(hear__a_policy_replaced),
		CASE(hear__a_policy_deleted),
		CASE(hear__a_policy_expired),
		CASE(hear__a_policy_of_ipv6),
		CASE(hear__all_deleted),
		CASE(hear__the_default),
		CASE(hear__nothing_of_keys),
		CASE(hear__keys_after_a_policy),
		CASE(hear__what_is_not_sure),
		CASE(hear__not_of_xfrm_interfaces),
		CASE(hear__not_what_is_forwarded),
		CASE(hear__a_policy_of_a_socket),
		CASE(hear__cut_off),
		CASE(hear__prefixes_that_are_too_long),
		CASE(refuses__what_it_cannot_see),
		CASE(open__works_everywhere),
		CASE(open__without_netlink),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
