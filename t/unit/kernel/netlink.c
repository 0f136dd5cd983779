/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/netlink.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"

static _Alignas(8) uint8_t msg[256];

static struct nlmsghdr *message(const char *hex)
{
	struct nlmsghdr *h = (void *)msg;

	memset(msg, 0xff, sizeof(msg));
	test_hex(msg, hex);
	return h;
}

/* A link, with an MTU of the right length, and one attribute of 2 bytes. */
static const char link_news[] =
	"30000000 1000 0000 01000000 00000000"
	"00 00 0100 02000000 00000000 00000000"
	"0800 0400 dc050000"
	"0600 0700 aaaa0000";

static void attrs_parse__finds_attributes(void **state)
{
	struct nlmsghdr *h = message(link_news);
	struct tux_attrs t;
	uint32_t mtu = 0;

	(void)state;
	assert_true(tux_attrs_parse(&t, h, sizeof(struct ifinfomsg)));
	assert_true(tux_attr_get(&t, IFLA_MTU, &mtu, sizeof(mtu)));
	assert_int_equal(mtu, 1500);
	assert_false(tux_attr_get(&t, IFLA_ADDRESS, &mtu, sizeof(mtu)));
}

static void attrs_parse__a_short_message_has_none(void **state)
{
	struct nlmsghdr *h = message("14000000 1000 0000 01000000 00000000"
				     "00 00 0100");
	struct tux_attrs t;

	(void)state;
	assert_false(tux_attrs_parse(&t, h, sizeof(struct ifinfomsg)));
	assert_null(t.at[0]);
}

static void attr_get__takes_no_other_length(void **state)
{
	struct nlmsghdr *h = message(link_news);
	struct tux_attrs t;
	uint32_t v = 7;

	(void)state;
	assert_true(tux_attrs_parse(&t, h, sizeof(struct ifinfomsg)));
	assert_false(tux_attr_get(&t, 7, &v, sizeof(v)));
	assert_int_equal(v, 7);
	assert_true(tux_attr_get(&t, 7, &v, 2));
}

static void on_message(void *arg, const struct nlmsghdr *h)
{
	(void)arg;
	(void)h;
	fail();
}

/* What the kernel would answer is in msg, @len bytes. */
static int ask(size_t len)
{
	static char buf[TUX_NETLINK_BUF];
	struct tux_netlink n = { .buf = buf };
	int fd[2], err;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0,
				    fd), 0);
	n.fd = fd[0];
	assert_int_equal(send(fd[1], msg, len, 0), len);
	err = tux_netlink_ask(&n, tux_netlink_request(&n, RTM_GETLINK, 0, 16),
			      on_message, NULL);
	close(fd[0]);
	close(fd[1]);
	return err;
}

static void ask__a_length_beyond_int_max_is_none(void **state)
{
	(void)state;
	message("f0ffffff 1000 0000 02000000 00000000");
	assert_int_equal(ask(16), -EAGAIN);
}

static void ask__an_error_without_its_number(void **state)
{
	(void)state;
	message("10000000 0200 0000 01000000 00000000");
	assert_int_equal(ask(16), -EPROTO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attrs_parse__finds_attributes),
		cmocka_unit_test(attrs_parse__a_short_message_has_none),
		cmocka_unit_test(attr_get__takes_no_other_length),
		cmocka_unit_test(ask__a_length_beyond_int_max_is_none),
		cmocka_unit_test(ask__an_error_without_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
