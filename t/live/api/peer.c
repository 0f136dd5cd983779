/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer - a server of tux.h that echoes, and clients for it
 *
 *   peer serve IO INTERFACE HOST [auto]
 *   peer threads|two IO INTERFACE HOST
 *   peer scaled IO INTERFACE HOST
 *   peer spare IO INTERFACE HOST
 *   peer accept IO INTERFACE HOST
 *   peer stream IO INTERFACE HOST PORT BYTES
 *   peer message|parallel IO INTERFACE HOST PORT COUNT SIZE WINDOW CONNECTIONS
 *   peer plain HOST PORT BYTES
 *
 * IO is auto, xdp, udp or tcp; INTERFACE "-" is none.  All use Tux whenever they can, but a server that
 * is told "auto" takes the path that is faster.  The server, one service for
 * streams and messages, prints "port N", and what it knows of each connection when
 * that goes.  With "threads", it has three network threads, with "two" two; with
 * "scaled", one to three, by the load.  With these, it prints at the end how many connections went
 * to another loop, and the packets of each loop.
 * With "spare", it has one thread, and a loop whose thread has gone.  With "accept", it has a listener and a loop of its own, and
 * its callbacks are level-triggered.  The clients check every byte that comes back,
 * and print the same; "plain" uses sockets.  A stream goes on after BYTES until some have gone over
 * Tux; one of sockets, if BYTES is 0, until SIGTERM.  Each message is sent when
 * an answer comes, WINDOW of them at a time; with "parallel", by two threads.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <tux.h>

#include "sys/clock.h"

enum { CHUNK = 65536, LIMIT_S = 120, THREADS = 3, PAUSE_MS = 1 };

static struct tux *stack;
static unsigned threads, threads_min;	/* of the server */
static int failed;

static void fail(const char *what)
{
	printf("wrong: %s\n", what);
	failed = 1;
	if (stack)
		tux_stop(stack);
}

static struct tux *begin(const char *io, const char *ifname, enum tux_use path)
{
	struct tux_opts o = {
		.size = sizeof(o), .ifname = strcmp(ifname, "-") ? ifname : NULL,
		.backend = !strcmp(io, "auto") ? TUX_BACKEND_AUTO :
			   !strcmp(io, "xdp") ? TUX_BACKEND_XDP :
			   !strcmp(io, "udp") ? TUX_BACKEND_UDP :
			   TUX_BACKEND_TCP,
		.path = path, .threads = threads, .threads_min = threads_min,
	};
	int err = tux_open(&stack, &o);

	if (err) {
		fprintf(stderr, "peer: %s\n", strerror(-err));
		exit(1);
	}
	return stack;
}

static void print_gone(struct tux_connection *c, int err, void *arg)
{
	struct tux_connection_stats s;

	(void)arg;
	tux_connection_stats(c, &s, sizeof(s));
	printf("gone %d tcp %" PRIu64 " %" PRIu64 " tux %" PRIu64 " %" PRIu64
	       " messages %" PRIu64 " %" PRIu64 " reason %s\n", err,
	       s.tcp_rx, s.tcp_tx, s.tux_rx, s.tux_tx, s.messages_rx,
	       s.messages_tx, tux_reason_word(s.reason));
}

static uint8_t byte_at(uint64_t off)
{
	return (uint8_t)(off * 31 + (off >> 9));
}

static void fill(uint8_t *p, size_t n, uint64_t off)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = byte_at(off + i);
}

static int same(const uint8_t *p, size_t n, uint64_t off)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (p[i] != byte_at(off + i))
			return 0;
	return 1;
}

/* ---- the server ---- */

struct echo {
	char buf[CHUNK];
	size_t from, to;
};

static void on_open(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_set_user(c, calloc(1, sizeof(struct echo)));
}

static void on_stream(struct tux_connection *c, void *arg)
{
	struct echo *e = tux_user(c);
	ssize_t k;

	(void)arg;
	for (;;) {
		while (e->from < e->to) {
			k = tux_write(c, e->buf + e->from, e->to - e->from);
			if (k <= 0)
				return;
			e->from += (size_t)k;
		}
		k = tux_read(c, e->buf, sizeof(e->buf));
		if (k == 0)
			tux_disconnect(c);
		if (k <= 0)
			return;
		e->from = 0;
		e->to = (size_t)k;
	}
}

static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	unsigned i;

	(void)arg;
	for (i = 0; i < n; i++)
		while (tux_send(c, m[i].p, m[i].len, m[i].flags) == -EAGAIN)
			tux_yield();
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	print_gone(c, err, arg);
	free(tux_user(c));
}

static void on_term(int sig)
{
	(void)sig;
	tux_stop(stack);
}

static int serve_new(char **argv, struct tux_service **s)
{
	struct tux *t = begin(argv[2], argv[3],
			      argv[5] ? TUX_USE_AUTO : TUX_USE_TUX);
	int err = tux_service_new(t, s);

	if (err)
		return err;
	tux_on_open(*s, on_open, NULL);
	tux_on_stream(*s, on_stream, NULL);
	tux_on_room(*s, on_stream, NULL);
	tux_on_message(*s, on_message, NULL);
	tux_on_gone(*s, on_gone, NULL);
	return 0;
}

/* Opens a stack beside @t and closes it. */
static int open_spare(struct tux *t)
{
	struct tux_opts o = { .size = sizeof(o), .beside = t };
	struct tux *beside;
	int err = tux_open(&beside, &o);

	if (!err)
		tux_close(beside);
	return err;
}

static void print_loops(const struct tux *t)
{
	struct tux_loop_stats s;
	struct tux_stats all;
	unsigned i;

	if (threads && !tux_stats(t, &all, sizeof(all)))
		printf("moved %" PRIu64 "\n", all.connections_moved);

	for (i = 0; i < threads && !tux_loop_stats(t, i, &s, sizeof(s)); i++)
		printf("loop %u packets %" PRIu64 " %" PRIu64 " datagrams %"
		       PRIu64 " passed %" PRIu64 "\n", i, s.packets_rx,
		       s.packets_tx, s.datagrams_rx, s.datagrams_passed);
}

static int serve(char **argv)
{
	struct tux_service *s;
	int err = serve_new(argv, &s);
	struct tux *t = stack;

	signal(SIGTERM, on_term);
	if (!err && !strcmp(argv[1], "spare"))
		err = open_spare(t);
	if (!err)
		err = tux_listen(s, argv[4], 0);
	printf("port %d\n", tux_port(s));
	if (!err)
		err = tux_run(t);
	print_loops(t);
	tux_close(t);
	return err != 0;
}

/* ---- a server with a listener and a loop of its own ---- */

static volatile sig_atomic_t ends;

static void on_end(int sig)
{
	(void)sig;
	ends = 1;
}

/* A piece at a time: it is called again for the rest. */
static void on_some(struct tux_connection *c, void *arg)
{
	char buf[4096];
	ssize_t k, n = tux_peek(c, buf, sizeof(buf));

	(void)arg;
	if (n == 0)
		tux_disconnect(c);
	if (n <= 0)
		return;
	k = tux_write(c, buf, (size_t)n);
	if (k > 0)
		tux_read(c, buf, (size_t)k);
	if (k < n)
		tux_watch(c, TUX_OUT);
}

static void on_room(struct tux_connection *c, void *arg)
{
	(void)arg;
	tux_watch(c, TUX_IN);
}

static int own_listener(const char *host)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(a);

	inet_pton(AF_INET, host, &a.sin_addr);
	if (bind(fd, (struct sockaddr *)&a, len) || tux_announce(stack, fd) ||
	    listen(fd, 4096) || getsockname(fd, (struct sockaddr *)&a, &len))
		return -1;
	printf("port %d\n", ntohs(a.sin_port));
	return fd;
}

static void accept_all(struct tux_service *s, int listener)
{
	struct tux_connection *c;
	int fd;

	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		int err = tux_attach(s, fd, NULL, &c);

		if (err) {
			printf("wrong: attach: %s\n", strerror(-err));
			close(fd);
			continue;
		}
		tux_watch(c, TUX_IN);
	}
}

static int accept_them(char **argv)
{
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct tux_service *s;
	int err = serve_new(argv, &s);

	signal(SIGTERM, on_end);
	tux_on_open(s, NULL, NULL);
	tux_on_stream(s, on_some, NULL);
	tux_on_room(s, on_room, NULL);
	p[0].fd = tux_fd(stack);
	p[1].fd = err ? -1 : own_listener(argv[4]);
	err |= p[1].fd < 0;
	while (!err && !ends) {
		if (poll(p, 2, -1) < 0)
			continue;
		if (p[0].revents)
			tux_turn(stack);
		if (p[1].revents)
			accept_all(s, p[1].fd);
	}
	tux_close(stack);
	return err;
}

/* ---- a client with a stream ---- */

static uint64_t total, out, in;

/* How many bytes are next, @most or fewer, if there are to be @total? */
static size_t next(size_t most)
{
	return out < total && total - out < most ? (size_t)(total - out) : most;
}

static int on_tux(const struct tux_connection *c)
{
	struct tux_connection_stats s;

	tux_connection_stats(c, &s, sizeof(s));
	return s.tux_tx > 0;
}

static void pour(struct tux_connection *c, void *arg)
{
	static uint8_t p[CHUNK];
	static int shut;

	(void)arg;
	while (out < total || !on_tux(c)) {
		size_t n = next(sizeof(p));
		ssize_t k;

		fill(p, n, out);
		k = tux_write(c, p, n);
		if (k <= 0)
			return;
		out += (uint64_t)k;
	}
	if (!shut++)
		tux_shut(c);
}

static void drink(struct tux_connection *c, void *arg)
{
	static uint8_t p[CHUNK];
	ssize_t k;

	(void)arg;
	while ((k = tux_read(c, p, sizeof(p))) > 0) {
		if (!same(p, (size_t)k, in))
			fail("a byte");
		in += (uint64_t)k;
	}
	if (k == 0)
		tux_disconnect(c);
}

static void stop(struct tux_connection *c, int err, void *arg)
{
	print_gone(c, err, arg);
	if (err)
		fail(strerror(err));
	tux_stop(tux_of(c));
}

static int stream(char **argv)
{
	struct tux *t = begin(argv[2], argv[3], TUX_USE_TUX);
	struct tux_service *s;
	int err = tux_service_new(t, &s);

	total = strtoull(argv[6], NULL, 10);
	tux_on_open(s, pour, NULL);
	tux_on_room(s, pour, NULL);
	tux_on_stream(s, drink, NULL);
	tux_on_gone(s, stop, NULL);
	if (!err)
		err = tux_connect(s, argv[4], (uint16_t)atoi(argv[5]), NULL,
				  NULL);
	if (!err)
		err = tux_run(t);
	tux_close(t);
	return err || failed || in != out;
}

/* ---- a client with messages ---- */

static struct talk {
	uint64_t sent, come;
} *talks;
static uint64_t count, size, window;
static _Atomic unsigned left;
static tux_time began;
static struct tux_service *asked;
static const char *host;
static uint16_t port;

static void more(struct tux_connection *c, void *arg)
{
	struct talk *k = tux_user(c);
	uint8_t p[CHUNK];

	(void)arg;
	while (k->sent < count && k->sent < k->come + window) {
		fill(p, size, k->sent);
		if (tux_send(c, p, size, TUX_ORDERED))
			return;
		k->sent++;
	}
}

static void on_answer(struct tux_connection *c, struct tux_message *m,
		      unsigned n, void *arg)
{
	struct talk *k = tux_user(c);
	unsigned i;

	for (i = 0; i < n; i++, k->come++)
		if (m[i].len != size || !same(m[i].p, size, k->come))
			fail("a message");
	if (k->come == count)
		tux_disconnect(c);
	else
		more(c, arg);
}

static void stop_last(struct tux_connection *c, int err, void *arg)
{
	if (err)
		fail(strerror(err));
	if (--left)
		return;
	print_gone(c, err, arg);
	tux_stop(tux_of(c));
}

static int message_new(char **argv, struct tux *t)
{
	int err = tux_service_new(t, &asked);

	if (err)
		return err;
	host = argv[4];
	port = (uint16_t)atoi(argv[5]);
	count = strtoull(argv[6], NULL, 10);
	size = strtoull(argv[7], NULL, 10);
	window = strtoull(argv[8], NULL, 10);
	left = (unsigned)atoi(argv[9]);
	talks = calloc(left, sizeof(*talks));
	tux_on_open(asked, more, NULL);
	tux_on_room(asked, more, NULL);
	tux_on_message(asked, on_answer, NULL);
	tux_on_gone(asked, stop_last, NULL);
	return 0;
}

static void connect_one(void *talk)
{
	int err = tux_connect(asked, host, port, talk, NULL);

	if (err)
		fail(strerror(-err));
}

static _Atomic int runs;

static void set_runs(void *arg)
{
	(void)arg;
	runs = 1;
}

/* Once the threads run, each begins some of the connections. */
static void *connect_by_all(void *arg)
{
	const struct timespec pause = { 0, PAUSE_MS * 1000000L };
	unsigned i, n = left;

	(void)arg;
	if (tux_go(stack, set_runs, NULL))
		fail("tux_go");
	while (!runs)
		nanosleep(&pause, NULL);
	for (i = 0; i < n; i++)
		if (tux_go(stack, connect_one, &talks[i]))
			fail("tux_go");
	return NULL;
}

static int message(char **argv)
{
	struct tux *t = begin(argv[2], argv[3], TUX_USE_TUX);
	int err = message_new(argv, t);
	unsigned i, n = left;
	pthread_t beginner;
	double took;

	began = tux_clock_read();
	if (!err && threads)
		err = pthread_create(&beginner, NULL, connect_by_all, NULL);
	for (i = 0; i < n && !threads; i++)
		connect_one(&talks[i]);
	if (!err)
		err = tux_run(t);
	took = (double)(tux_clock_read() - began) / 1e9;
	printf("rate %.0f\n", (double)(count * n) / took);
	print_loops(t);
	if (threads)
		pthread_join(beginner, NULL);
	tux_close(t);
	return err || failed;
}

/* ---- a client that knows nothing of Tux ---- */

static volatile sig_atomic_t told;

static void tell(int sig)
{
	(void)sig;
	told = 1;
}

static void *pump(void *arg)
{
	int fd = *(int *)arg, last = 0;
	uint8_t p[4096];

	while (!last) {
		size_t n = next(sizeof(p)), at = 0;
		ssize_t k;

		last = total ? out + n == total : told;
		fill(p, n, out);
		for (; at < n; at += (size_t)k) {
			k = send(fd, p + at, n - at, MSG_NOSIGNAL);
			if (k <= 0)
				return arg;
		}
		out += n;
	}
	shutdown(fd, SHUT_WR);
	return NULL;
}

static int plain(char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(argv[3])) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	uint8_t p[CHUNK];
	pthread_t thread;
	ssize_t k;

	total = strtoull(argv[4], NULL, 10);
	signal(SIGTERM, tell);
	inet_pton(AF_INET, argv[2], &a.sin_addr);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) ||
	    pthread_create(&thread, NULL, pump, &fd))
		return 1;
	while ((k = read(fd, p, sizeof(p))) > 0) {
		if (!same(p, (size_t)k, in))
			fail("a byte");
		in += (uint64_t)k;
	}
	pthread_join(thread, NULL);
	close(fd);
	return k || failed || in != out;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(LIMIT_S);
	if ((argc == 5 || (argc == 6 && !strcmp(argv[5], "auto"))) &&
	    !strcmp(argv[1], "serve"))
		return serve(argv);
	if (argc == 5 && !strcmp(argv[1], "spare"))
		return serve(argv);
	if (argc == 5 && !strcmp(argv[1], "threads")) {
		threads = THREADS;
		return serve(argv);
	}
	if (argc == 5 && !strcmp(argv[1], "two")) {
		threads = 2;
		return serve(argv);
	}
	if (argc == 5 && !strcmp(argv[1], "scaled")) {
		threads = THREADS;
		threads_min = 1;
		return serve(argv);
	}
	if (argc == 5 && !strcmp(argv[1], "accept"))
		return accept_them(argv);
	if (argc == 7 && !strcmp(argv[1], "stream"))
		return stream(argv);
	if (argc == 10 && !strcmp(argv[1], "parallel")) {
		threads = 2;
		return message(argv);
	}
	if (argc == 10 && !strcmp(argv[1], "message"))
		return message(argv);
	if (argc == 5 && !strcmp(argv[1], "plain"))
		return plain(argv);
	fputs("usage: peer VERB ...: see the source\n", stderr);
	return 2;
}
