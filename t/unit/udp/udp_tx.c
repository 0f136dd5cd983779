/* SPDX-License-Identifier: BSD-2-Clause */
#include "udp/udp_tx.h"

#include <netinet/udp.h>
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

static void set(int fd, int level, int name, int v)
{
	assert_int_equal(setsockopt(fd, level, name, &v, sizeof(v)), 0);
}

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

static void put__joins_equal_lengths(void **state)
{
	struct rig *r = *state;

	set(r->in, SOL_UDP, UDP_GRO, 1);
	put(r, LEN);
	put(r, LEN);
	put(r, LEN);
	assert_int_equal(r->tx.n, 1);
	flush(r);
	/* A socket that takes them joined sees that they came joined. */
	assert_int_equal(next(r->in), 3 * LEN);
	assert_true(empty(r->in));
}

static void flush__sends_datagrams_as_they_were_put(void **state)
{
	struct rig *r = *state;

	put(r, LEN);
	put(r, LEN);
	put(r, TAIL);
	assert_int_equal(r->tx.n, 1);
	flush(r);
	assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), TAIL);
	assert_true(empty(r->in));
}

static void put__shorter_ends_the_row(void **state)
{
	struct rig *r = *state;

	put(r, LEN);
	put(r, LEN);
	put(r, TAIL);
	put(r, TAIL);
	assert_int_equal(r->tx.n, 2);
	put(r, LEN);
	assert_int_equal(r->tx.n, 3);
	flush(r);
	assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), TAIL);
	assert_int_equal(next(r->in), TAIL);
	assert_int_equal(next(r->in), LEN);
}

/* As a probe of the path MTU is. */
static void put__long_goes_apart(void **state)
{
	struct rig *r = *state;

	put(r, LEN);
	put(r, LEN);
	put(r, LEN + 400);
	put(r, LEN);
	put(r, LEN);
	assert_int_equal(r->tx.n, 3);
	flush(r);
	assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), LEN + 400);
	assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), LEN);
}

static void put__another_destination_ends_the_row(void **state)
{
	struct rig *r = *state;

	put(r, LEN);
	put_as(r, LEN, r->to_other, r->from, TUX_ECN_NONE);
	put(r, LEN);
	assert_int_equal(r->tx.n, 3);
	flush(r);
	assert_int_equal(next(r->other), LEN);
	assert_true(empty(r->other));
	assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), LEN);
}

static void put__another_source_ends_the_row(void **state)
{
	struct rig *r = *state;
	struct tux_addr from = r->from;

	from.ip[15] = 7;
	put(r, LEN);
	put_as(r, LEN, r->to, from, TUX_ECN_NONE);
	assert_int_equal(r->tx.n, 2);
}

/* AF_XDP gives each connection a port of its own; here it changes nothing. */
static void put__another_port_of_ours_does_not(void **state)
{
	struct rig *r = *state;
	struct tux_addr from = r->from;

	from.port++;
	put(r, LEN);
	put_as(r, LEN, r->to, from, TUX_ECN_NONE);
	assert_int_equal(r->tx.n, 1);
}

static void put__another_mark_ends_the_row(void **state)
{
	struct rig *r = *state;

	put(r, LEN);
	put_as(r, LEN, r->to, r->from, TUX_ECN_ECT0);
	put_as(r, LEN, r->to, r->from, TUX_ECN_ECT0);
	put(r, LEN);
	assert_int_equal(r->tx.n, 3);
}

static void put__row_fits_into_one_packet(void **state)
{
	enum { LONG = 1472, MOST = 65507 / LONG };
	struct rig *r = *state;
	unsigned i;

	for (i = 0; i < TUX_LINK_BATCH; i++)
		put(r, LONG);
	assert_int_equal(r->tx.n, 2);
	assert_int_equal(r->tx.iov[0].iov_len, MOST * LONG);
	flush(r);
	for (i = 0; i < TUX_LINK_BATCH; i++)
		assert_int_equal(next(r->in), LONG);
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

/* The kernel does not segment for a socket that sends no checksums. */
static void flush__loses_nothing_when_rows_are_refused(void **state)
{
	struct rig *r = *state;
	unsigned i;

	set(r->out, SOL_SOCKET, SO_NO_CHECK, 1);
	for (i = 0; i < 5; i++)
		put(r, LEN);
	put(r, TAIL);
	put_as(r, LEN, r->to_other, r->from, TUX_ECN_NONE);
	put_as(r, LEN, r->to_other, r->from, TUX_ECN_NONE);
	flush(r);
	for (i = 0; i < 5; i++)
		assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), TAIL);
	assert_int_equal(next(r->other), LEN);
	assert_int_equal(next(r->other), LEN);
	assert_true(empty(r->in) && empty(r->other));

	put(r, LEN);
	put(r, LEN);
	assert_int_equal(r->tx.n, 2);	/* no rows any more */
	flush(r);
	assert_int_equal(next(r->in), LEN);
	assert_int_equal(next(r->in), LEN);
}

/* What no datagram is taken for says nothing about segments. */
static void flush__keeps_rows_when_datagrams_are_refused(void **state)
{
	struct rig *r = *state;
	struct tux_addr nowhere = r->to;

	nowhere.port = 0;
	put_as(r, LEN, nowhere, r->from, TUX_ECN_NONE);
	put_as(r, LEN, nowhere, r->from, TUX_ECN_NONE);
	put(r, LEN);
	flush(r);
	assert_int_equal(next(r->in), LEN);
	assert_true(empty(r->in));
	put(r, LEN);
	put(r, LEN);
	assert_int_equal(r->tx.n, 1);
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, rig_up, rig_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		RIG_TEST(put__joins_equal_lengths),
		RIG_TEST(flush__sends_datagrams_as_they_were_put),
		RIG_TEST(put__shorter_ends_the_row),
		RIG_TEST(put__long_goes_apart),
		RIG_TEST(put__another_destination_ends_the_row),
		RIG_TEST(put__another_source_ends_the_row),
		RIG_TEST(put__another_port_of_ours_does_not),
		RIG_TEST(put__another_mark_ends_the_row),
		RIG_TEST(put__row_fits_into_one_packet),
		RIG_TEST(buffer__ends_with_the_batch),
		RIG_TEST(flush__loses_nothing_when_rows_are_refused),
		RIG_TEST(flush__keeps_rows_when_datagrams_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
