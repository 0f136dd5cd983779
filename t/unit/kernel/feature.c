/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/feature.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <net/if.h>

#include "../test.h"

/* What Linux 6.18 says of a virtio_net interface, in the byte order of a little
 * machine; with a bit in xsk-features, and an attribute that we do not know. */
static const char virtio[] =
	"54000000 2000 0000 01000000 00000000"	/* nlmsghdr */
	"01 01 0000"				/* genlmsghdr */
	"0800 0100 02000000"			/* ifindex 2 */
	"0c00 0300 2b00000000000000"		/* xdp-features */
	"0c00 0500 0000000000000000"		/* xdp-rx-metadata-features */
	"0c00 0600 0200000000000000"		/* xsk-features */
	"0800 0400 01000000"			/* xdp-zc-max-segs */
	"0c00 0700 0000000000000000";		/* one that we do not know */

static _Alignas(8) uint8_t msg[256];

static struct nlmsghdr *message(const char *hex)
{
	struct nlmsghdr *h = (void *)msg;

	h->nlmsg_len = (uint32_t)test_hex(msg, hex);
	return h;
}

static void parse__reads_what_the_kernel_tells(void **state)
{
	struct tux_feature f = { 0 };

	(void)state;
	tux_feature_parse(&f, message(virtio));
	assert_true(f.known);
	assert_int_equal(f.xdp, TUX_FEATURE_BASIC | TUX_FEATURE_REDIRECT |
			 TUX_FEATURE_ZEROCOPY | TUX_FEATURE_RX_SG);
	assert_int_equal(f.zc_segs, 1);
	assert_int_equal(f.xsk, 2);
}

static void parse__knows_nothing_without_the_attribute(void **state)
{
	struct tux_feature f = { 0 };

	(void)state;
	tux_feature_parse(&f, message("1c000000 2000 0000 01000000 00000000"
				      "01 01 0000 0800 0100 02000000"));
	assert_false(f.known);
	assert_int_equal(f.xdp, 0);
}

static void may__is_yes_where_nothing_is_known(void **state)
{
	struct tux_feature f = { .xdp = 0 };

	(void)state;
	assert_true(tux_feature_may(&f, TUX_FEATURE_ZEROCOPY));
	f.known = true;
	assert_false(tux_feature_may(&f, TUX_FEATURE_ZEROCOPY));
	f.xdp = TUX_FEATURE_BASIC | TUX_FEATURE_REDIRECT;
	assert_true(tux_feature_may(&f, TUX_FEATURE_BASIC));
	assert_true(tux_feature_may(&f, TUX_FEATURE_BASIC |
				    TUX_FEATURE_REDIRECT));
	assert_false(tux_feature_may(&f, TUX_FEATURE_BASIC |
				     TUX_FEATURE_ZEROCOPY));
}

/* The kernel may be too old to know; if it does, loopback has none. */
static void ask__of_loopback(void **state)
{
	struct tux_feature f;

	(void)state;
	assert_int_equal(tux_feature_ask(&f, if_nametoindex("lo")), 0);
	assert_int_equal(f.xdp, 0);
}

static void ask__of_no_interface(void **state)
{
	struct tux_feature f;
	int err = tux_feature_ask(&f, 0x7ffffff0);

	(void)state;
	assert_true(err == -ENODEV || err == 0);
	assert_false(f.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		cmocka_unit_test(parse__reads_what_the_kernel_tells),
		cmocka_unit_test(parse__knows_nothing_without_the_attribute),
#endif
		cmocka_unit_test(may__is_yes_where_nothing_is_known),
		cmocka_unit_test(ask__of_loopback),
		cmocka_unit_test(ask__of_no_interface),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
