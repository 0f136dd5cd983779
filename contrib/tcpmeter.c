/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcpmeter - what the kernel's own TCP carried for one server port
 *
 *   tcpmeter PORT [EVERY_MS]
 *
 * Adds up TCP_INFO of all connections whose local port is PORT, from the
 * kernel's sock_diag, which needs no privilege.  A connection's last counters
 * come with the kernel's notice that the socket is gone.  Some kernels never
 * send one, so that is tried first; without, all are polled, the last look
 * counts, and what a connection moved in its last 20 ms is missed.  Prints
 * "ready", with EVERY_MS a line of totals so often, and on SIGTERM the last.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>

enum {
	POLL_MS = 20,		/* without notices */
	FIND_EVERY = 10,	/* polls per walk through all of the kernel's
				 * sockets, which costs 0.6 ms */
	TRY_MS = 300,		/* for the notice of a socket of our own */
	STATE_SYN_RECV_NEW = 12, STATE_LISTEN = 10, STATE_TIME_WAIT = 6,
};

struct sums {
	uint64_t in, out, segs_in, segs_out;
};

struct conn {
	uint64_t cookie;	/* the kernel's name for it */
	uint8_t family;
	bool gone;
	struct inet_diag_sockid id;
	struct sums s;
};

struct meter {
	uint16_t port;
	int dump, notice;	/* netlink sockets; notice is -1 if refused */
	bool lost;		/* a notice was: the sums may be too low */
	uint32_t conns, cap, polls;
	struct conn *conn;
};

static void die(const char *what)
{
	fprintf(stderr, "tcpmeter: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct conn *conn_of(struct meter *m, uint64_t cookie)
{
	struct conn *c = m->conn;

	for (; c < m->conn + m->conns; c++)
		if (c->cookie == cookie)
			return c;
	if (m->conns == m->cap) {
		m->cap = m->cap ? m->cap * 2 : 256;
		m->conn = realloc(m->conn, m->cap * sizeof(*c));
		if (!m->conn)
			die("memory");
	}
	c = &m->conn[m->conns++];
	memset(c, 0, sizeof(*c));
	c->cookie = cookie;
	return c;
}

static void raise_to(uint64_t *at, uint64_t n)
{
	if (n > *at)
		*at = n;
}

static void take_info(struct conn *c, const void *p, size_t len)
{
	struct tcp_info t;

	/* The kernel's struct may be longer or shorter than ours. */
	memset(&t, 0, sizeof(t));
	memcpy(&t, p, len < sizeof(t) ? len : sizeof(t));
	raise_to(&c->s.in, t.tcpi_bytes_received);
	raise_to(&c->s.out, t.tcpi_bytes_acked);
	raise_to(&c->s.segs_in, t.tcpi_segs_in);
	raise_to(&c->s.segs_out, t.tcpi_segs_out);
}

static void take_socket(struct meter *m, const struct nlmsghdr *h)
{
	const struct inet_diag_msg *d = NLMSG_DATA(h);
	size_t left = h->nlmsg_len - NLMSG_LENGTH(sizeof(*d));
	const struct rtattr *a = (const void *)(d + 1);
	struct conn *c;

	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*d)) ||
	    d->id.idiag_sport != htons(m->port))
		return;
	c = conn_of(m, d->id.idiag_cookie[0] |
		    (uint64_t)d->id.idiag_cookie[1] << 32);
	c->family = d->idiag_family;
	c->id = d->id;
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == INET_DIAG_INFO)
			take_info(c, RTA_DATA(a), RTA_PAYLOAD(a));
}

/* One datagram from @fd; true at the end of a dump, or at an error. */
static bool take_datagram(struct meter *m, int fd)
{
	static uint8_t buf[65536] __attribute__((aligned(16)));
	const struct nlmsghdr *h = (const void *)buf;
	ssize_t got = recv(fd, buf, sizeof(buf), 0);
	size_t len;

	if (got < 0 && errno == ENOBUFS && fd == m->notice)
		m->lost = true;
	if (got < 0)
		return errno != EINTR;
	len = (size_t)got;
	for (; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
		if (h->nlmsg_type == NLMSG_DONE ||
		    h->nlmsg_type == NLMSG_ERROR)
			return true;
		if (h->nlmsg_type == SOCK_DIAG_BY_FAMILY)
			take_socket(m, h);
	}
	return false;
}

static void ask(struct meter *m, uint8_t family, uint16_t flags,
		const struct inet_diag_sockid *id)
{
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 r;
	} q = {
		.h.nlmsg_len = sizeof(q),
		.h.nlmsg_type = SOCK_DIAG_BY_FAMILY,
		.h.nlmsg_flags = NLM_F_REQUEST | flags,
		.r.sdiag_family = family,
		.r.sdiag_protocol = IPPROTO_TCP,
		.r.idiag_ext = 1 << (INET_DIAG_INFO - 1),
		.r.idiag_states = ~(1u << STATE_LISTEN |
				    1u << STATE_TIME_WAIT |
				    1u << STATE_SYN_RECV_NEW),
		.r.id = *id,
	};

	if (send(m->dump, &q, sizeof(q), 0) < 0)
		die("asking sock_diag");
}

static void find(struct meter *m)
{
	struct inet_diag_sockid id = { .idiag_sport = htons(m->port) };

	ask(m, AF_INET, NLM_F_DUMP, &id);
	while (!take_datagram(m, m->dump))
		;
	ask(m, AF_INET6, NLM_F_DUMP, &id);
	while (!take_datagram(m, m->dump))
		;
}

/* The known connections, each by name: no walk, and so much cheaper. */
static void look(struct meter *m)
{
	uint32_t i;

	for (i = 0; i < m->conns; i++) {
		struct conn *c = &m->conn[i];

		if (c->gone)
			continue;
		ask(m, c->family, 0, &c->id);
		c->gone = take_datagram(m, m->dump);
	}
}

static void poll_all(struct meter *m)
{
	if (m->polls++ % FIND_EVERY == 0)
		find(m);
	else
		look(m);
}

/* Makes a connection and ends it, so that there is something to notice. */
static void make_news(void)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int c = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (l < 0 || c < 0 || bind(l, (void *)&a, len) || listen(l, 1) ||
	    getsockname(l, (void *)&a, &len) || connect(c, (void *)&a, len))
		die("a connection to myself");
	close(c);
	close(l);
}

static bool notices_come(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	make_news();
	return poll(&p, 1, TRY_MS) > 0;
}

static int open_notices(void)
{
	static const int group[] = {
		SKNLGRP_INET_TCP_DESTROY, SKNLGRP_INET6_TCP_DESTROY,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_SOCK_DIAG);
	int room = 4 << 20;

	if (fd < 0)
		die("netlink socket");
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
	if (!setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group[0],
			sizeof(group[0])) &&
	    !setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group[1],
			sizeof(group[1])) &&
	    notices_come(fd))
		return fd;
	close(fd);
	return -1;
}

static void open_sockets(struct meter *m)
{
	m->dump = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
			 NETLINK_SOCK_DIAG);
	if (m->dump < 0)
		die("netlink socket");
	m->notice = open_notices();
}

static void print_sums(const struct meter *m)
{
	struct sums s = { 0 };
	struct timespec t;
	uint32_t i;

	for (i = 0; i < m->conns; i++) {
		s.in += m->conn[i].s.in;
		s.out += m->conn[i].s.out;
		s.segs_in += m->conn[i].s.segs_in;
		s.segs_out += m->conn[i].s.segs_out;
	}
	clock_gettime(CLOCK_REALTIME, &t);
	printf("ms=%" PRIu64 " connections=%" PRIu32 " in=%" PRIu64
	       " out=%" PRIu64 " segs_in=%" PRIu64 " segs_out=%" PRIu64
	       " source=%s lost=%s\n",
	       (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000,
	       m->conns, s.in, s.out, s.segs_in, s.segs_out,
	       m->notice < 0 ? "polling" : "notices", m->lost ? "yes" : "no");
	fflush(stdout);
}

static int stop_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void run(struct meter *m, int every)
{
	struct pollfd p[2] = {
		{ .fd = stop_signals(), .events = POLLIN },
		{ .fd = m->notice, .events = POLLIN },
	};
	int pause = m->notice < 0 ? POLL_MS : -1, since = 0;

	if (every > 0)
		pause = pause < 0 || every < pause ? every : pause;
	while (!p[0].revents) {
		if (poll(p, 2, pause) < 0 && errno != EINTR)
			die("poll");
		if (p[1].revents) {
			take_datagram(m, m->notice);
			continue;
		}
		if (pause > 0)
			poll_all(m);
		since += pause;
		if (every > 0 && since >= every) {
			print_sums(m);
			since = 0;
		}
	}
}

int main(int argc, char **argv)
{
	struct meter m = { .notice = -1 };

	if (argc < 2 || argc > 3 || atoi(argv[1]) < 1) {
		fprintf(stderr, "usage: tcpmeter PORT [EVERY_MS]\n");
		return 2;
	}
	m.port = (uint16_t)atoi(argv[1]);
	open_sockets(&m);
	puts("ready");
	fflush(stdout);
	run(&m, argc > 2 ? atoi(argv[2]) : 0);
	find(&m);
	while (m.notice >= 0 && !take_datagram(&m, m.notice) &&
	       errno != EAGAIN)
		;
	print_sums(&m);
	return 0;
}
