/* SPDX-License-Identifier: BSD-2-Clause */
#include "pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

static int passed, failed, skipped, now_failed;

/* ---- connections ------------------------------------------------------ */

double pair_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

double pair_bound(double ms)
{
	const char *s = getenv("TUX_TEST_THOROUGH");

	return s && *s ? ms : PAIR_PATIENCE_MS;
}

static bool asleep(const char *path)
{
	char stat[256] = "", *p;
	FILE *f = fopen(path, "r");

	p = f && fgets(stat, sizeof(stat), f) ? strrchr(stat, ')') : NULL;
	if (f)
		fclose(f);
	return p && p[1] && p[2] == 'S';
}

void pair_await_asleep(pid_t tid)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	while (!asleep(path) && pair_ms() < end)
		poll(NULL, 0, 1);
}

bool pair_preloaded(void)
{
	const char *s = getenv("LD_PRELOAD");

	return s && strstr(s, "tux");
}

/* An address of either family. */
struct place {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

/* "6" in PAIR_FAMILY: ::1.  "46": a listener on all addresses of IPv6, which is
 * called by IPv4. */
static bool wants(const char *family)
{
	const char *s = getenv("PAIR_FAMILY");

	return s && strcmp(s, family) == 0;
}

static struct place place4(uint16_t port)
{
	struct place a = { .len = sizeof(a.v4) };

	a.v4.sin_family = AF_INET;
	a.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	a.v4.sin_port = htons(port);
	return a;
}

static struct place place6(bool any, uint16_t port)
{
	struct place a = { .len = sizeof(a.v6) };

	a.v6.sin6_family = AF_INET6;
	a.v6.sin6_addr = any ? in6addr_any : in6addr_loopback;
	a.v6.sin6_port = htons(port);
	return a;
}

/* The kernel gives ports from 32768 on to sockets that name none.  A UDP socket
 * with the number of a listener's port keeps the listener from Tux, so listeners
 * have lower ports. */
static uint16_t some_port(void)
{
	unsigned r = 0;

	if (getrandom(&r, sizeof(r), 0) != sizeof(r))
		client_fail("getrandom: %s", strerror(errno));
	return (uint16_t)(10000 + r % 22000);
}

/* Where to listen, where to connect to. */
static struct place here(void)
{
	uint16_t port = some_port();

	return wants("6") || wants("46") ? place6(wants("46"), port) :
					   place4(port);
}

static struct place there(uint16_t port)
{
	return wants("6") ? place6(false, port) : place4(port);
}

/* Is the UDP port of that number free, too?  A server on Tux needs it. */
static bool udp_free(const struct place *a)
{
	int fd = socket(a->any.sa_family, SOCK_DGRAM, 0);
	bool yes = !bind(fd, &a->any, a->len);

	close(fd);
	return yes;
}

/* Opens a listening socket at @a.  Returns it, or -1 if another socket has the
 * port, be it of TCP or of UDP. */
static int listen_at(const struct place *a)
{
	int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd >= 0 && !bind(fd, &a->any, a->len) && udp_free(a) &&
	    !listen(fd, 64))
		return fd;
	if (errno != EADDRINUSE)
		client_fail("listen: %s", strerror(errno));
	close(fd);
	return -1;
}

int pair_listen(uint16_t *port)
{
	struct place a;
	int fd;

	do {
		a = here();
		fd = listen_at(&a);
	} while (fd < 0);
	*port = ntohs(a.v4.sin_port);	/* both have it in the same bytes */
	return fd;
}

int pair_socket(void)
{
	int family = wants("6") ? AF_INET6 : AF_INET;
	int one = 1, fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK, 0);

	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)))
		client_fail("socket: %s", strerror(errno));
	return fd;
}

void pair_connect(int fd, uint16_t port)
{
	const struct place a = there(port);

	if (connect(fd, &a.any, a.len) && errno != EINPROGRESS)
		client_fail("connect: %s", strerror(errno));
}

int pair_dial(uint16_t port)
{
	int fd = pair_socket();

	pair_connect(fd, port);
	return fd;
}

void pair_fresh(struct pair *p)
{
	uint16_t port;
	int one = 1, l = pair_listen(&port);
	struct pollfd f = { .fd = l, .events = POLLIN };

	p->b = pair_dial(port);
	poll(&f, 1, PAIR_PATIENCE_MS);
	p->a = accept4(l, NULL, NULL, SOCK_NONBLOCK);
	if (p->a < 0)
		client_fail("accept: %s", strerror(errno));
	setsockopt(p->a, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(l);
}

/* What TCP has carried from @fd so far: the kernel's word. */
static uint64_t tcp_bytes(int fd)
{
	struct tcp_info t;
	socklen_t len = sizeof(t);

	memset(&t, 0, sizeof(t));
	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &len);
	return t.tcpi_bytes_acked;
}

static bool exchange(struct pair *p)
{
	pair_poke(p->a);
	if (!pair_expect(p->b, 1))
		return false;
	pair_poke(p->b);
	return pair_expect(p->a, 1);
}

bool pair_moved(struct pair *p)
{
	uint64_t a = tcp_bytes(p->a), b = tcp_bytes(p->b);

	for (int i = 0; i < 8; i++)
		if (!exchange(p))
			client_fail("the connection is stuck");
	return tcp_bytes(p->a) == a && tcp_bytes(p->b) == b;
}

void pair_move(struct pair *p)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;

	while (pair_preloaded() && !pair_moved(p)) {
		if (pair_ms() > end)
			client_fail("the connection does not move to Tux");
		poll(NULL, 0, 2);
	}
}

bool pair_carries(int from, int to, char c)
{
	struct pollfd f = { .fd = to, .events = POLLIN };
	char got;

	return write(from, &c, 1) == 1 &&
	       poll(&f, 1, PAIR_PATIENCE_MS) == 1 && read(to, &got, 1) == 1 &&
	       got == c;
}

void pair_talk(struct pair *p, int turns)
{
	for (int i = 0; i < turns; i++) {
		CHECK(pair_carries(p->a, p->b, (char)i));
		CHECK(pair_carries(p->b, p->a, (char)~i));
		poll(NULL, 0, 1);
	}
}

/* One burst from @from to @to, which no thread reads meanwhile. */
static void burst(int from, int to, size_t n)
{
	static char b[65536];
	size_t out = 0, in = 0;

	while (in < n) {
		size_t left = n - out < sizeof(b) ? n - out : sizeof(b);
		ssize_t w = left ? send(from, b, left, MSG_DONTWAIT) : 0;
		ssize_t r = recv(to, b, sizeof(b), MSG_DONTWAIT);

		if ((w < 0 && errno != EAGAIN) || !r || (r < 0 && errno != EAGAIN))
			client_fail("a burst: %s", strerror(errno));
		out += w > 0 ? (size_t)w : 0;
		in += r > 0 ? (size_t)r : 0;
	}
}

/* What TCP has sent from @fd: without a delay, unlike what was acknowledged. */
static uint64_t tcp_sent(int fd)
{
	struct tcp_info t = { 0 };
	socklen_t len = sizeof(t);

	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &len);
	return t.tcpi_bytes_sent;
}

/* Where the rate over TCP is measured first, an end is told after eight windows
 * of 5 ms, may move again in them, and is asleep with the call after that. */
static bool stays_on_tcp(struct pair *p)
{
	uint64_t a = 0, b = 0;

	for (int i = 0; i < 3; i++) {
		poll(NULL, 0, 50);
		a = tcp_sent(p->a);
		b = tcp_sent(p->b);
		exchange(p);
	}
	return tcp_sent(p->a) != a && tcp_sent(p->b) != b;
}

/* Long bursts, until TCP carries them. */
static void return_once(struct pair *p, double end)
{
	enum { BURST = 1 << 19 };
	uint64_t a, b;

	do {
		if (pair_ms() > end)
			client_fail("the connection does not return to TCP");
		a = tcp_bytes(p->a);
		b = tcp_bytes(p->b);
		burst(p->a, p->b, BURST);
		burst(p->b, p->a, BURST);
	} while (tcp_bytes(p->a) - a < BURST / 2 ||
		 tcp_bytes(p->b) - b < BURST / 2);
}

void pair_return(struct pair *p)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;

	do
		return_once(p, end);
	while (pair_preloaded() && !stays_on_tcp(p));
}

void pair_open(struct pair *p, bool move)
{
	pair_fresh(p);
	if (move)
		pair_move(p);
}

void pair_close(struct pair *p)
{
	close(p->a);
	close(p->b);
}

/* ---- bytes ------------------------------------------------------------ */

bool pair_arrive(int fd, int n)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	int have = 0;

	while (!ioctl(fd, FIONREAD, &have) && have < n && pair_ms() < end)
		poll(NULL, 0, 1);
	return have >= n;
}

size_t pair_drain(int fd)
{
	static char buf[65536];
	size_t all = 0;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		all += (size_t)n;
	return all;
}

size_t pair_fill(int fd)
{
	static char buf[65536];
	size_t all = 0;
	ssize_t n;

	while ((n = write(fd, buf, sizeof(buf))) > 0)
		all += (size_t)n;
	return all;
}

void pair_poke(int fd)
{
	if (write(fd, "x", 1) != 1)
		client_fail("write: %s", strerror(errno));
}

bool pair_expect(int fd, size_t n)
{
	struct pollfd f = { .fd = fd, .events = POLLIN };
	double end = pair_ms() + PAIR_PATIENCE_MS;
	char buf[4096];

	while (n) {
		ssize_t k = read(fd, buf, n < sizeof(buf) ? n : sizeof(buf));

		if (k > 0)
			n -= (size_t)k;
		else if (k == 0 || errno != EAGAIN || pair_ms() > end)
			return false;
		else
			poll(&f, 1, 100);
	}
	return true;
}

/* ---- epoll ------------------------------------------------------------ */

int pair_epoll(void)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);

	if (ep < 0)
		client_fail("epoll_create1: %s", strerror(errno));
	return ep;
}

static int ctl(int ep, int op, int fd, uint32_t events)
{
	struct epoll_event e = { .events = events };

	e.data.fd = fd;
	return epoll_ctl(ep, op, fd, &e) ? errno : 0;
}

int pair_add(int ep, int fd, uint32_t events)
{
	return ctl(ep, EPOLL_CTL_ADD, fd, events);
}

int pair_mod(int ep, int fd, uint32_t events)
{
	return ctl(ep, EPOLL_CTL_MOD, fd, events);
}

int pair_del(int ep, int fd)
{
	return ctl(ep, EPOLL_CTL_DEL, fd, 0);
}

uint32_t pair_seen(int ep, int fd, int ms)
{
	struct epoll_event e[8];
	int n = epoll_wait(ep, e, 8, ms);
	uint32_t seen = 0;

	for (int i = 0; i < n; i++)
		if (e[i].data.fd == fd)
			seen |= e[i].events;
	return seen;
}

uint32_t pair_until(int ep, int fd, uint32_t events)
{
	double end = pair_ms() + PAIR_PATIENCE_MS;
	uint32_t seen;

	do
		seen = pair_seen(ep, fd, 100);
	while ((seen & events) != events && pair_ms() < end);
	return seen;
}

/* ---- cases ------------------------------------------------------------ */

void pair_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s\n", file, line, what);
	now_failed++;
}

static void ended(const char *name, const char *how)
{
	printf("%s %d - %s%s\n", now_failed ? "not ok" : "ok",
	       passed + failed + skipped + 1, name, how);
	fflush(stdout);
	if (now_failed)
		failed++;
	else
		passed++;
	now_failed = 0;
}

void pair_case(const char *name, void (*fn)(struct pair *p))
{
	for (int move = 0; move < 2; move++) {
		struct pair p;

		pair_open(&p, move);
		fn(&p);
		pair_close(&p);
		ended(name, move ? ", moved" : ", new");
	}
}

void pair_report(const char *name, void (*fn)(struct pair *p), struct pair *p)
{
	fn(p);
	pair_close(p);
	ended(name, "");
}

void pair_skip(const char *name, const char *why)
{
	skipped++;
	printf("ok %d - %s # SKIP %s\n", passed + failed + skipped, name, why);
}

void pair_once(const char *name, void (*fn)(void))
{
	fn();
	ended(name, "");
}

int pair_done(void)
{
	printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
	return failed != 0;
}
