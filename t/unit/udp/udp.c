/* SPDX-License-Identifier: BSD-2-Clause */
#include "udp/udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../test.h"
#include "wire/reason.h"

enum { TAG = 100, WAIT_MS = 60000 };

struct host {
	struct tux_link *l;
	int epfd;
};

static struct tux_addr v4(uint8_t last, uint16_t port)
{
	struct tux_addr a = { .ip = { [10] = 0xff, 0xff, 127, 0, 0, last },
			      .port = port };

	return a;
}

static int open_at(struct host *h, uint16_t low, uint16_t high)
{
	const struct tux_link_opts o = { .port_low = low, .port_high = high };

	h->epfd = epoll_create1(0);
	return tux_udp.open(&h->l, &o, h->epfd, TAG);
}

static void up(struct host *h)
{
	assert_int_equal(open_at(h, 0, 0), 0);
	assert_int_not_equal(h->l->port, 0);
}

static void down(struct host *h)
{
	tux_udp.close(h->l);
	close(h->epfd);
}

/* Puts a datagram into the batch.  False: no place. */
static bool put_as(struct host *h, const void *p, size_t len,
		   struct tux_addr to, struct tux_addr from, uint8_t ecn)
{
	size_t cap;
	uint8_t *at = tux_udp.tx(h->l, TUX_LINK_NO_FLOW, &cap);

	if (!at)
		return false;
	assert_true(len <= cap);
	memcpy(at, p, len);
	tux_udp.send(h->l, TUX_LINK_NO_FLOW, len, &to, &from, ecn);
	return true;
}

static bool put(struct host *h, const void *p, size_t len,
		struct tux_addr to, struct tux_addr from)
{
	return put_as(h, p, len, to, from, TUX_ECN_NONE);
}

/* Waits for @source to be readable, then takes what is there. */
static unsigned take(struct host *h, unsigned source,
		     const struct tux_dgram **d)
{
	struct pollfd p = { h->l->fd[0], POLLIN, 0 };
	struct epoll_event e;

	assert_int_equal(h->l->fd_n, 1);
	if (source == 0) {
		if (poll(&p, 1, WAIT_MS) != 1)
			return 0;
	} else {
		if (epoll_wait(h->epfd, &e, 1, WAIT_MS) != 1)
			return 0;
		assert_int_equal(e.data.u64, TAG + source);
	}
	return tux_udp.rx(h->l, source, d, 0);
}

static void send__carries_bytes_and_addresses(void **state)
{
	const struct tux_dgram *d;
	struct tux_addr from;
	struct host a, b;

	(void)state;
	up(&a);
	up(&b);
	/* Not the address that routing would choose. */
	from = v4(7, a.l->port);
	assert_true(put(&a, "ping", 4, v4(1, b.l->port), from));
	tux_udp.flush(a.l);
	assert_int_equal(take(&b, 0, &d), 1);
	assert_int_equal(d->len, 4);
	assert_memory_equal(d->p, "ping", 4);
	assert_true(tux_addr_same(&d->from, &from));
	assert_int_equal(d->queue, -1);
	assert_int_equal(tux_udp.rx(b.l, 0, &d, 0), 0);
	down(&a);
	down(&b);
}

static void send__reaches_ipv6(void **state)
{
	struct tux_addr one = { .ip = { [15] = 1 } }, to;
	const struct tux_dgram *d;
	struct host a, b;
	unsigned n;

	(void)state;
	up(&a);
	up(&b);
	to = one;
	to.port = b.l->port;
	assert_true(put(&a, "six", 3, to, one));
	tux_udp.flush(a.l);
	n = take(&b, 0, &d);
	if (n) {
		assert_memory_equal(d->p, "six", 3);
		assert_memory_equal(d->from.ip, one.ip, 16);
	}
	down(&a);
	down(&b);
	if (!n)
		skip();		/* no IPv6 here */
}

static int option(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int v = -1;

	getsockopt(fd, level, name, &v, &len);
	return v;
}

static void send__never_in_fragments(void **state)
{
	int family;
	struct host a;

	(void)state;
	up(&a);
	family = option(a.l->fd[0], SOL_SOCKET, SO_DOMAIN);
	assert_int_equal(option(a.l->fd[0], IPPROTO_IP, IP_MTU_DISCOVER),
			 IP_PMTUDISC_PROBE);
	if (family == AF_INET6)
		assert_int_equal(option(a.l->fd[0], IPPROTO_IPV6,
					IPV6_MTU_DISCOVER),
				 IPV6_PMTUDISC_PROBE);
	down(&a);
}

/* From @addr to itself, each codepoint.  False: nothing arrives. */
static bool crosses_with_ecn(struct tux_addr addr)
{
	const struct tux_dgram *d;
	struct tux_addr to = addr;
	struct host a, b;
	uint8_t ecn;
	bool here = true;

	up(&a);
	up(&b);
	to.port = b.l->port;
	for (ecn = 0; ecn < 4 && here; ecn++) {
		assert_true(put_as(&a, "ecn", 3, to, addr, ecn));
		tux_udp.flush(a.l);
		here = take(&b, 0, &d) == 1;
		if (here)
			assert_int_equal(d->ecn, ecn);
	}
	down(&a);
	down(&b);
	return here;
}

static void send__carries_ecn(void **state)
{
	(void)state;
	assert_true(crosses_with_ecn(v4(1, 0)));
}

static void send__carries_ecn_over_ipv6(void **state)
{
	struct tux_addr one = { .ip = { [15] = 1 } };

	(void)state;
	if (!crosses_with_ecn(one))
		skip();		/* no IPv6 here */
}

/* One after the other in the same buffers: nothing of the last is left. */
static void rx__ecn_is_each_datagrams(void **state)
{
	const struct tux_dgram *d;
	struct host a, b;
	unsigned i;

	(void)state;
	up(&a);
	up(&b);
	for (i = 0; i < 3; i++) {
		put_as(&a, "1", 1, v4(1, b.l->port), v4(1, 0), TUX_ECN_ECT0);
		put(&a, "2", 1, v4(1, b.l->port), v4(1, 0));
		tux_udp.flush(a.l);
		assert_int_equal(take(&b, 0, &d), 2);
		assert_int_equal(d[0].ecn, TUX_ECN_ECT0);
		assert_int_equal(d[1].ecn, TUX_ECN_NONE);
	}
	down(&a);
	down(&b);
}

static void send__of_a_full_batch(void **state)
{
	static uint8_t p[65507];
	const struct tux_dgram *d;
	struct host a, b;
	int i, got = 0;
	unsigned n;

	(void)state;
	up(&a);
	up(&b);
	for (i = 0; i < TUX_LINK_BATCH; i++) {
		p[0] = (uint8_t)i;
		assert_true(put(&a, p, i ? 100 : sizeof(p), v4(1, b.l->port),
				v4(1, 0)));
	}
	assert_false(put(&a, p, 1, v4(1, b.l->port), v4(1, 0)));
	tux_udp.flush(a.l);
	assert_false(a.l->blocked);
	assert_true(put(&a, p, 1, v4(1, b.l->port), v4(1, 0)));
	while (got < TUX_LINK_BATCH && (n = take(&b, 0, &d)))
		for (i = 0; i < (int)n; i++)
			assert_int_equal(d[i].p[0], got++);
	assert_int_equal(got, TUX_LINK_BATCH);
	down(&a);
	down(&b);
}

/* Bulk, and only bulk, makes the kernel hand over joined datagrams; what arrives
 * is the same. */
static void rx__joins_when_there_is_bulk(void **state)
{
	enum { LEN = 1400, N = 32 };
	static uint8_t p[LEN];
	const struct tux_dgram *d;
	struct host a, b;
	unsigned i, round;

	(void)state;
	up(&a);
	up(&b);
	assert_true(put(&a, p, LEN, v4(1, b.l->port), v4(1, 0)));
	tux_udp.flush(a.l);
	assert_int_equal(take(&b, 0, &d), 1);
	assert_int_equal(option(b.l->fd[0], SOL_UDP, UDP_GRO), 0);
	for (round = 0; round < 3; round++) {
		for (i = 0; i < N; i++) {
			p[0] = p[LEN - 1] = (uint8_t)i;
			assert_true(put(&a, p, LEN, v4(1, b.l->port),
					v4(1, 0)));
		}
		tux_udp.flush(a.l);
		assert_int_equal(take(&b, 0, &d), N);
		for (i = 0; i < N; i++) {
			assert_int_equal(d[i].len, LEN);
			assert_int_equal(d[i].p[0], i);
			assert_int_equal(d[i].p[LEN - 1], i);
		}
		assert_int_equal(option(b.l->fd[0], SOL_UDP, UDP_GRO), 1);
	}
	down(&a);
	down(&b);
}

static bool resident(const void *p)
{
	uintptr_t page = (uintptr_t)p & ~(uintptr_t)4095;
	unsigned char there = 0;

	assert_int_equal(mincore((void *)page, 1, &there), 0);
	return there & 1;
}

/* A batch of @n from @a to @b, which takes it at @now.  Returns its first byte,
 * of both sides. */
static void batch(struct host *a, struct host *b, unsigned n, tux_time now,
		  const uint8_t **out, const uint8_t **in)
{
	static uint8_t p[1400];
	const struct tux_dgram *d;
	size_t cap;
	unsigned i;

	*out = tux_udp.tx(a->l, TUX_LINK_NO_FLOW, &cap);
	for (i = 0; i < n; i++)
		assert_true(put(a, p, sizeof(p), v4(1, b->l->port), v4(1, 0)));
	tux_udp.flush(a->l);
	assert_int_equal(tux_udp.rx(b->l, 0, &d, now), n);
	*in = d[0].p;
}

/* A loop that sleeps gives the memory of its batches back. */
static void tick__gives_memory_back(void **state)
{
	const uint8_t *out, *in;
	struct host a, b;

	(void)state;
	up(&a);
	up(&b);
	batch(&a, &b, 32, TUX_SEC(1), &out, &in);
	batch(&b, &a, 32, TUX_SEC(1), &out, &in);
	assert_true(resident(out) && resident(in));

	/* Amidst traffic it keeps it, and nothing that came this turn goes. */
	assert_true(a.l->due_at > TUX_SEC(1) && a.l->due_at < TUX_SEC(10));
	tux_udp.tick(a.l, TUX_SEC(2));
	assert_int_equal(a.l->due_at, TUX_SEC(3));
	batch(&b, &a, 1, TUX_SEC(3), &out, &in);
	tux_udp.tick(a.l, TUX_SEC(3));
	assert_true(resident(in));
	assert_int_equal(a.l->due_at, TUX_SEC(4));

	tux_udp.tick(a.l, TUX_SEC(4));
	assert_false(resident(in));
	assert_int_equal(a.l->due_at, TUX_NEVER);
	tux_udp.tick(b.l, TUX_SEC(2));
	tux_udp.tick(b.l, TUX_SEC(3));
	assert_false(resident(out));

	batch(&a, &b, 32, TUX_SEC(5), &out, &in);
	batch(&b, &a, 1, TUX_SEC(5), &out, &in);
	assert_int_equal(a.l->due_at, TUX_SEC(6));
	down(&a);
	down(&b);
}

/* The kernel refuses one; the others still go. */
static void flush__drops_what_is_refused(void **state)
{
	struct tux_addr nowhere = { .ip = { [10] = 0xff, 0xff, 127, 0, 0, 1 } };
	const struct tux_dgram *d;
	struct host a, b;

	(void)state;
	up(&a);
	up(&b);
	assert_true(put(&a, "one", 3, v4(1, b.l->port), v4(1, 0)));
	assert_true(put(&a, "bad", 3, nowhere, v4(1, 0)));
	assert_true(put(&a, "two", 3, v4(1, b.l->port), v4(1, 0)));
	tux_udp.flush(a.l);
	assert_int_equal(take(&b, 0, &d), 2);
	assert_memory_equal(d[1].p, "two", 3);
	down(&a);
	down(&b);
}

/* A closed port answers with ICMP, which must not stop anything. */
static void rx__ignores_icmp(void **state)
{
	const struct tux_dgram *d;
	struct host a, b, c;
	uint16_t closed;

	(void)state;
	up(&a);
	up(&c);
	closed = c.l->port;
	up(&b);			/* before that port is free */
	down(&c);
	assert_true(put(&a, "lost", 4, v4(1, closed), v4(1, 0)));
	tux_udp.flush(a.l);
	usleep(10000);
	assert_int_equal(tux_udp.rx(a.l, 0, &d, 0), 0);
	assert_true(put(&a, "ping", 4, v4(1, b.l->port), v4(1, 0)));
	tux_udp.flush(a.l);
	assert_int_equal(take(&b, 0, &d), 1);
	down(&a);
	down(&b);
}

static void listen__receives_there(void **state)
{
	struct tux_addr at = v4(1, 0);
	const struct tux_dgram *d;
	struct host a, b, c;
	int source;

	(void)state;
	up(&a);
	up(&b);
	do {			/* another program may be faster */
		up(&c);
		at.port = c.l->port;
		down(&c);	/* a port that is free now */
		source = tux_udp.listen(b.l, &at, true, false);
	} while (source == -TUX_REASON_PORT_TAKEN);
	assert_true(source > 0);
	assert_true(put(&a, "hello", 5, at, v4(1, 0)));
	tux_udp.flush(a.l);
	assert_int_equal(take(&b, (unsigned)source, &d), 1);
	assert_memory_equal(d->p, "hello", 5);
	tux_udp.unlisten(b.l, (unsigned)source);
	assert_int_equal(tux_udp.rx(b.l, (unsigned)source, &d, 0), 0);
	down(&a);
	down(&b);
}

static void listen__says_that_a_port_is_taken(void **state)
{
	struct tux_addr at;
	struct host a, b;
	int first, second;

	(void)state;
	up(&b);
	do {			/* another program may be faster */
		up(&a);
		at = v4(1, a.l->port);
		assert_int_equal(tux_udp.listen(b.l, &at, true, false),
				 -TUX_REASON_PORT_TAKEN);
		down(&a);
		first = tux_udp.listen(b.l, &at, true, false);
	} while (first == -TUX_REASON_PORT_TAKEN);
	assert_true(first > 0);
	assert_int_equal(tux_udp.listen(b.l, &at, true, false),
			 -TUX_REASON_PORT_TAKEN);
	tux_udp.unlisten(b.l, (unsigned)first);
	second = tux_udp.listen(b.l, &at, true, false);
	assert_true(second > 0);
	down(&b);
}

static void listen__on_every_address(void **state)
{
	static const struct tux_addr any;
	struct tux_addr at = any;
	const struct tux_dgram *d;
	struct host a, b, c;
	int source;

	(void)state;
	up(&a);
	up(&b);
	up(&c);
	at.port = c.l->port;
	down(&c);
	source = tux_udp.listen(b.l, &at, false, false);
	if (source > 0) {
		assert_true(put(&a, "4", 1, v4(9, at.port), v4(1, 0)));
		tux_udp.flush(a.l);
		assert_int_equal(take(&b, (unsigned)source, &d), 1);
		assert_true(tux_addr_is_v4(&d->from));
	}
	down(&a);
	down(&b);
	if (source <= 0)
		skip();		/* no IPv6 here */
}

/* The port of a link that has just closed is as good as any. */
static void open__at_a_port_that_is_allowed(void **state)
{
	struct host h, one, none;
	uint16_t port;
	int err;

	(void)state;
	do {			/* another program may be faster */
		up(&h);
		port = h.l->port;
		down(&h);
		err = open_at(&one, port, port);
		if (err)
			close(one.epfd);
	} while (err == -EADDRINUSE);
	assert_int_equal(err, 0);
	assert_int_equal(one.l->port, port);
	assert_int_equal(open_at(&none, port, port), -EADDRINUSE);
	close(none.epfd);
	down(&one);
}

static void open__tries_the_next_port(void **state)
{
	struct host h, next[8];
	uint16_t low;
	unsigned i;

	(void)state;
	up(&h);
	low = h.l->port < 60000 ? h.l->port : 50000;
	for (i = 0; i < 8; i++) {
		assert_int_equal(open_at(&next[i], low, low + 63), 0);
		assert_in_range(next[i].l->port, low, low + 63);
	}
	while (i--)
		down(&next[i]);
	down(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open__at_a_port_that_is_allowed),
		cmocka_unit_test(open__tries_the_next_port),
		cmocka_unit_test(send__carries_bytes_and_addresses),
		cmocka_unit_test(send__reaches_ipv6),
		cmocka_unit_test(send__never_in_fragments),
		cmocka_unit_test(send__carries_ecn),
		cmocka_unit_test(send__carries_ecn_over_ipv6),
		cmocka_unit_test(rx__ecn_is_each_datagrams),
		cmocka_unit_test(send__of_a_full_batch),
		cmocka_unit_test(rx__joins_when_there_is_bulk),
		cmocka_unit_test(tick__gives_memory_back),
		cmocka_unit_test(flush__drops_what_is_refused),
		cmocka_unit_test(rx__ignores_icmp),
		cmocka_unit_test(listen__receives_there),
		cmocka_unit_test(listen__says_that_a_port_is_taken),
		cmocka_unit_test(listen__on_every_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
