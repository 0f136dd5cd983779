/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams through tux.h, over 127.0.0.1: to a stack, and to plain TCP, over each
 * backend that needs no privilege.
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../unit/test.h"
#include "duet.h"

enum {
	TOTAL = 16 << 20,
	CHUNK = 65536,
	CHURN = 1000,
	CROWD = 300,
};

static struct {
	_Atomic unsigned opened, gone, wrong, ended, told;
	_Atomic int err;
	_Atomic unsigned on_tux;
} seen[2];

enum { SERVER, CLIENT };

static void on_open(struct tux_connection *c, void *arg)
{
	(void)c;
	atomic_fetch_add(&seen[(intptr_t)arg].opened, 1);
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	struct tux_connection_stats st;

	if (tux_connection_stats(c, &st, sizeof(st)))
		atomic_fetch_add(&seen[(intptr_t)arg].wrong, 1);
	if (st.tux_tx || st.tux_rx)
		atomic_fetch_add(&seen[(intptr_t)arg].on_tux, 1);
	atomic_store(&seen[(intptr_t)arg].err, err);
	atomic_fetch_add(&seen[(intptr_t)arg].gone, 1);
}

static uint8_t byte_at(uint64_t off)
{
	return (uint8_t)(off * 31 + (off >> 9));
}

/* ---- a server that echoes ---- */

struct echo {
	char buf[CHUNK];
	size_t from, to;
	bool ended;
};

static void on_echo_open(struct tux_connection *c, void *arg)
{
	tux_set_user(c, calloc(1, sizeof(struct echo)));
	on_open(c, arg);
}

static void echo_on(struct tux_connection *c)
{
	struct echo *e = tux_user(c);

	for (;;) {
		ssize_t k;

		while (e->from < e->to) {
			k = tux_write(c, e->buf + e->from, e->to - e->from);
			if (k <= 0)
				return;		/* room tells */
			e->from += (size_t)k;
		}
		k = tux_read(c, e->buf, sizeof(e->buf));
		if (k <= 0) {
			if (k == 0 && !e->ended)
				tux_disconnect(c);
			e->ended |= k == 0;
			return;
		}
		e->from = 0;
		e->to = (size_t)k;
	}
}

static void on_echo(struct tux_connection *c, void *arg)
{
	(void)arg;
	echo_on(c);
}

static void on_echo_gone(struct tux_connection *c, int err, void *arg)
{
	free(tux_user(c));
	on_gone(c, err, arg);
}

static void up(struct duet *d, enum tux_backend backend)
{
	memset(seen, 0, sizeof(seen));
	duet_open(d, backend);
	tux_on_open(d->server.s, on_echo_open, (void *)SERVER);
	tux_on_stream(d->server.s, on_echo, NULL);
	tux_on_room(d->server.s, on_echo, NULL);
	tux_on_gone(d->server.s, on_echo_gone, (void *)SERVER);
	tux_on_open(d->client.s, on_open, (void *)CLIENT);
	tux_on_gone(d->client.s, on_gone, (void *)CLIENT);
}

/* ---- much of it ---- */

static struct {
	uint64_t out, in, total;
} flow;

static void pour(struct tux_connection *c)
{
	static uint8_t p[CHUNK];

	while (flow.out < flow.total) {
		size_t i, n = sizeof(p);
		ssize_t k;

		if (n > flow.total - flow.out)
			n = (size_t)(flow.total - flow.out);
		for (i = 0; i < n; i++)
			p[i] = byte_at(flow.out + i);
		k = tux_write(c, p, n);
		if (k <= 0)
			return;
		flow.out += (uint64_t)k;
	}
	if (flow.out == flow.total && tux_shut(c) == 0)
		flow.out++;
}

static void on_pour(struct tux_connection *c, void *arg)
{
	if (arg)
		on_open(c, arg);
	pour(c);
}

static void on_drink(struct tux_connection *c, void *arg)
{
	static uint8_t p[CHUNK], q[100];
	ssize_t k, i, peeked;

	(void)arg;
	peeked = tux_peek(c, q, sizeof(q));
	while ((k = tux_read(c, p, sizeof(p))) > 0) {
		if (peeked > k || (peeked > 0 && memcmp(p, q, (size_t)peeked)))
			atomic_fetch_add(&seen[CLIENT].wrong, 1);
		for (i = 0; i < k && flow.total; i++)
			if (p[i] != byte_at(flow.in + (uint64_t)i))
				atomic_fetch_add(&seen[CLIENT].wrong, 1);
		flow.in += (uint64_t)k;
		peeked = 0;
	}
	if (k == 0) {
		atomic_fetch_add(&seen[CLIENT].ended, 1);
		tux_disconnect(c);
	}
}

static const char *listen_at = "127.0.0.1", *connect_to = "127.0.0.1";

static void exchange(enum tux_backend backend)
{
	struct duet d;

	up(&d, backend);
	d.listen_at = listen_at;
	d.connect_to = connect_to;
	flow.out = flow.in = 0;
	flow.total = TOTAL;
	tux_on_open(d.client.s, on_pour, (void *)CLIENT);
	tux_on_room(d.client.s, on_pour, NULL);
	tux_on_stream(d.client.s, on_drink, NULL);
	duet_start(&d);
	duet_connect(&d, NULL);
	await(&seen[CLIENT].gone, 1);
	await(&seen[SERVER].gone, 1);
	assert_int_equal(flow.in, TOTAL);
	assert_int_equal(seen[CLIENT].wrong, 0);
	assert_int_equal(seen[CLIENT].ended, 1);
	assert_int_equal(seen[CLIENT].err, 0);
	assert_int_equal(seen[SERVER].err, 0);
	assert_int_equal(seen[CLIENT].on_tux, backend == TUX_BACKEND_UDP);
	assert_int_equal(seen[SERVER].on_tux, backend == TUX_BACKEND_UDP);
	duet_close(&d);
}

static void echo__udp(void **state)
{
	(void)state;
	exchange(TUX_BACKEND_UDP);
}

static bool has(const char *host)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6,
				  .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool yes = fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a));

	close(fd);
	return yes || !strchr(host, ':');
}

/* From a listener of any address, over both families. */
static void echo__any_address(void **state)
{
	static const char *const hosts[] = { "127.0.0.1", "::1" };
	unsigned i;

	(void)state;
	for (i = 0; i < N_OF(hosts) && has(hosts[i]); i++) {
		listen_at = NULL;
		connect_to = hosts[i];
		exchange(TUX_BACKEND_UDP);
	}
	listen_at = connect_to = "127.0.0.1";
}

static void echo__tcp(void **state)
{
	(void)state;
	exchange(TUX_BACKEND_TCP);
}

/* ---- plain peers ---- */

static void *pump(void *arg)
{
	int fd = *(int *)arg;
	uint8_t p[4096];
	uint64_t off = 0;

	while (off < TOTAL) {
		size_t i;
		ssize_t k;

		for (i = 0; i < sizeof(p); i++)
			p[i] = byte_at(off + i);
		for (i = 0; i < sizeof(p); i += (size_t)k) {
			k = write(fd, p + i, sizeof(p) - i);
			if (k <= 0)
				return arg;
		}
		off += sizeof(p);
	}
	shutdown(fd, SHUT_WR);
	return NULL;
}

static void echo__plain_peer(void **state)
{
	uint8_t p[CHUNK];
	uint64_t in = 0;
	struct duet d;
	pthread_t t;
	void *bad;
	ssize_t k;
	int fd;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	duet_start(&d);
	fd = plain_connect(d.port);
	assert_int_equal(pthread_create(&t, NULL, pump, &fd), 0);
	while ((k = read(fd, p, sizeof(p))) > 0)
		for (ssize_t i = 0; i < k; i++, in++)
			if (p[i] != byte_at(in))
				fail_msg("byte %lu", (unsigned long)in);
	assert_int_equal(k, 0);
	assert_int_equal(in, TOTAL);
	pthread_join(t, &bad);
	assert_null(bad);
	await(&seen[SERVER].gone, 1);
	assert_int_equal(seen[SERVER].err, 0);
	assert_int_equal(seen[SERVER].on_tux, 0);
	close(fd);
	duet_close(&d);
}

/* ---- before it is open ---- */

static struct tux_connection *early;
static _Atomic unsigned rooms;

static void write_early(void *arg)
{
	struct duet *d = arg;

	/* It may be open after the next turn. */
	tux_uninterruptible_enter();
	if (tux_connect(d->client.s, "127.0.0.1", d->port, NULL, &early) ||
	    tux_write(early, "early", 5) != -EAGAIN ||
	    tux_send(early, "early", 5, 0) != -EAGAIN ||
	    tux_shut(early) != -ENOTCONN)
		atomic_fetch_add(&seen[CLIENT].wrong, 1);
	tux_uninterruptible_leave();
}

static void on_early_room(struct tux_connection *c, void *arg)
{
	(void)arg;
	if (tux_write(c, "early", 5) != 5 || tux_shut(c) ||
	    tux_write(c, "late", 4) != -EPIPE)
		atomic_fetch_add(&seen[CLIENT].wrong, 1);
	atomic_fetch_add(&rooms, 1);
}

static void write__before_it_is_open(void **state)
{
	struct duet d;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	rooms = 0;
	tux_on_room(d.client.s, on_early_room, NULL);
	tux_on_stream(d.client.s, on_drink, NULL);
	flow.in = flow.total = 0;
	duet_start(&d);
	part_do(&d.client, write_early, &d);
	await(&seen[CLIENT].gone, 1);
	assert_int_equal(seen[CLIENT].wrong, 0);
	assert_int_equal(rooms, 1);
	assert_int_equal(flow.in, 5);
	assert_int_equal(seen[CLIENT].opened, 1);
	duet_close(&d);
}

/* ---- ends ---- */

static void on_told(struct tux_connection *c, void *arg)
{
	char p[16];
	ssize_t k = tux_read(c, p, sizeof(p));

	(void)arg;
	if (k < 0 && k != -EAGAIN)
		atomic_store(&seen[SERVER].ended, (unsigned)-k);
}

static void reset__plain_peer(void **state)
{
	const struct linger now = { 1, 0 };
	struct duet d;
	int fd;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	tux_on_stream(d.server.s, on_told, NULL);
	duet_start(&d);
	fd = plain_connect(d.port);
	assert_int_equal(write(fd, "x", 1), 1);
	await(&seen[SERVER].opened, 1);
	usleep(20000);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(fd);
	await(&seen[SERVER].gone, 1);
	assert_int_equal(seen[SERVER].err, ECONNRESET);
	assert_int_equal(seen[SERVER].ended, ECONNRESET);
	duet_close(&d);
}

static void abort_it(void *c)
{
	tux_abort(c);
}

static void abort__both_hear(void **state)
{
	struct tux_connection *c;
	struct duet d;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	duet_start(&d);
	c = duet_connect(&d, NULL);
	await(&seen[CLIENT].opened, 1);
	await(&seen[SERVER].opened, 1);
	part_do(&d.client, abort_it, c);
	await(&seen[CLIENT].gone, 1);
	await(&seen[SERVER].gone, 1);
	assert_int_equal(seen[CLIENT].err, ECONNABORTED);
	assert_int_equal(seen[SERVER].err, ECONNRESET);
	duet_close(&d);
}

static void connect__refused(void **state)
{
	struct duet d;
	uint16_t port;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	duet_start(&d);
	port = d.port;
	d.port = 1;
	duet_connect(&d, NULL);
	await(&seen[CLIENT].gone, 1);
	assert_int_equal(seen[CLIENT].err, ECONNREFUSED);
	assert_int_equal(seen[CLIENT].opened, 0);
	d.port = port;
	duet_close(&d);
	assert_int_equal(seen[CLIENT].gone, 1);
}

static void connect__bad_host(void **state)
{
	struct duet d;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	assert_int_equal(tux_connect(d.client.s, "localhost", 1, NULL, NULL),
			 -EINVAL);
	assert_int_equal(tux_connect(d.client.s, NULL, 1, NULL, NULL), -EINVAL);
	assert_int_equal(tux_listen(d.server.s, "1.2.3", 0), -EINVAL);
	assert_int_equal(tux_listen(d.server.s, "192.0.2.1", 0),
			 -EADDRNOTAVAIL);
	duet_close(&d);
}

/* ---- what is left unread ---- */

static struct tux_connection *lazy;

static void on_lazy(struct tux_connection *c, void *arg)
{
	char p[3];
	ssize_t k = tux_read(c, p, sizeof(p));

	(void)arg;
	lazy = c;
	if (seen[SERVER].told == 0 && tux_readable(c) != 7)
		atomic_fetch_add(&seen[SERVER].wrong, 1);
	if (k > 0)
		atomic_fetch_add(&seen[SERVER].told, (unsigned)k);
}

static void again__tells_of_the_rest(void **state)
{
	struct duet d;
	int fd;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	tux_on_stream(d.server.s, on_lazy, NULL);
	duet_start(&d);
	fd = plain_connect(d.port);
	assert_int_equal(write(fd, "0123456789", 10), 10);
	await(&seen[SERVER].told, 3);
	usleep(20000);
	assert_int_equal(seen[SERVER].told, 3);
	tux_again(lazy);
	await(&seen[SERVER].told, 6);
	assert_int_equal(write(fd, "0", 1), 1);
	await(&seen[SERVER].told, 9);
	tux_again(lazy);
	await(&seen[SERVER].told, 11);
	assert_int_equal(seen[SERVER].wrong, 0);
	close(fd);
	duet_close(&d);
}

/* ---- many ---- */

static void on_ping_open(struct tux_connection *c, void *arg)
{
	on_open(c, arg);
	if (tux_write(c, "ping", 4) != 4)
		atomic_fetch_add(&seen[CLIENT].wrong, 1);
}

static void on_pong(struct tux_connection *c, void *arg)
{
	char p[8];
	ssize_t k = tux_read(c, p, sizeof(p));

	(void)arg;
	if (k == -EAGAIN)
		return;
	if (k != 4 || memcmp(p, "ping", 4))
		atomic_fetch_add(&seen[CLIENT].wrong, 1);
	tux_disconnect(c);
}

static void many(unsigned n, unsigned at_once)
{
	struct duet d;
	unsigned i;

	up(&d, TUX_BACKEND_UDP);
	tux_on_open(d.client.s, on_ping_open, (void *)CLIENT);
	tux_on_stream(d.client.s, on_pong, NULL);
	duet_start(&d);
	for (i = 0; i < n; i++) {
		duet_connect(&d, NULL);
		if (i >= at_once)
			await(&seen[CLIENT].gone, i - at_once);
	}
	await(&seen[CLIENT].gone, n);
	await(&seen[SERVER].gone, n);
	duet_close(&d);
	assert_int_equal(seen[CLIENT].gone, n);
	assert_int_equal(seen[SERVER].gone, n);
	assert_int_equal(seen[CLIENT].opened, n);
	assert_int_equal(seen[SERVER].opened, n);
	assert_int_equal(seen[CLIENT].wrong + seen[SERVER].wrong, 0);
}

static void gone__once_each(void **state)
{
	(void)state;
	many(CHURN, 8);
}

static uint64_t connections;

static void ask_connections(void *arg)
{
	struct tux_stats st;

	if (!tux_stats(arg, &st, sizeof(st)))
		connections = st.connections;
}

/* At the same time, and tux_close() ends them. */
static void close__ends_all(void **state)
{
	struct duet d;
	unsigned i;

	(void)state;
	up(&d, TUX_BACKEND_UDP);
	duet_start(&d);
	for (i = 0; i < CROWD; i++)
		duet_connect(&d, NULL);
	await(&seen[CLIENT].opened, CROWD);
	await(&seen[SERVER].opened, CROWD);
	part_do(&d.server, ask_connections, d.server.t);
	assert_int_equal(connections, CROWD);
	duet_close(&d);
	assert_int_equal(seen[CLIENT].gone, CROWD);
	assert_int_equal(seen[SERVER].gone, CROWD);
	assert_int_equal(seen[CLIENT].err, ESHUTDOWN);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(echo__udp),
		cmocka_unit_test(echo__any_address),
		cmocka_unit_test(echo__tcp),
		cmocka_unit_test(echo__plain_peer),
		cmocka_unit_test(write__before_it_is_open),
		cmocka_unit_test(reset__plain_peer),
		cmocka_unit_test(abort__both_hear),
		cmocka_unit_test(connect__refused),
		cmocka_unit_test(connect__bad_host),
		cmocka_unit_test(again__tells_of_the_rest),
		cmocka_unit_test(gone__once_each),
		cmocka_unit_test(close__ends_all),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
