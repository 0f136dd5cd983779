/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/udp_tx.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"

enum { LEN = 1000, TAIL = 300, ROOM = 1 << 16, WAIT_MS = 1000 };

/* A socket on 127.0.0.1; *@at becomes its address. */
static int open_socket(struct tux_addr *at)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sin, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	*at = (struct tux_addr){ .ip = { [10] = 0xff, 0xff, 127, 0, 0, 1 },
				 .port = ntohs(sin.sin_port) };
	return fd;
}

struct rig {
	struct tux_udp_tx tx;
	int out, in, other;	/* out sends; the others receive */
	struct tux_addr from, to, to_other;
};

static int rig_up(void **state)
{
	struct rig *r = test_calloc(1, sizeof(*r));

	assert_int_equal(tux_udp_tx_init(&r->tx), 0);
	r->out = open_socket(&r->from);
	r->in = open_socket(&r->to);
	r->other = open_socket(&r->to_other);
	*state = r;
	return 0;
}

static int rig_down(void **state)
{
	struct rig *r = *state;

	close(r->out);
	close(r->in);
	close(r->other);
	tux_udp_tx_fini(&r->tx);
	test_free(r);
	return 0;
}

static void put_as(struct rig *r, size_t len, struct tux_addr to,
		   struct tux_addr from, uint8_t ecn)
{
	size_t cap;
	uint8_t *p = tux_udp_tx_buffer(&r->tx, &cap);

	assert_non_null(p);
	assert_true(len <= cap);
	memset(p, (int)(len & 0xff), len);
	tux_udp_tx_put(&r->tx, AF_INET, len, &to, &from, ecn);
}

static void put(struct rig *r, size_t len)
{
	put_as(r, len, r->to, r->from, TUX_ECN_NONE);
}

static void flush(struct rig *r)
{
	assert_true(tux_udp_tx_flush(&r->tx, r->out));
}

/* The next datagram's length; 0: none comes. */
static size_t next(int fd)
{
	static uint8_t p[ROOM];
	struct pollfd wait = { fd, POLLIN, 0 };
	ssize_t n;

	if (poll(&wait, 1, WAIT_MS) != 1)
		return 0;
	n = recv(fd, p, sizeof(p), MSG_DONTWAIT);
	return n < 0 ? 0 : (size_t)n;
}

static bool empty(int fd)
{
	struct pollfd wait = { fd, POLLIN, 0 };

	return poll(&wait, 1, 0) == 0;
}

static void flush__sends_each_to_its_destination(void **state)
{
	struct rig *r = *state;

	put(r, LEN);
	put_as(r, LEN, r->to_other, r->from, TUX_ECN_NONE);
	put(r, TAIL);
	flush(r);
	assert_int_equal(next(r->other), LEN);
	assert_true(empty(r->other));
	assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), TAIL);
}

static void buffer__ends_with_the_batch(void **state)
{
	struct rig *r = *state;
	size_t cap;
	unsigned i;

	for (i = 0; i < TUX_LINK_BATCH; i++)
		put(r, LEN);
	assert_null(tux_udp_tx_buffer(&r->tx, &cap));
	flush(r);
	assert_non_null(tux_udp_tx_buffer(&r->tx, &cap));
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, rig_up, rig_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(flush__sends_each_to_its_destination),
		RIG_TEST(buffer__ends_with_the_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
