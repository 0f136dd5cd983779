/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls - what a call on a TCP socket costs
 *
 * One thread, connections over loopback with both ends in this process, and no
 * bytes but those that a row sends from one end to the other: a connection that
 * waits until it is worth Tux goes on waiting.  bench/tax runs this with and
 * without tuxrun.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "loopback.h"
#include "option.h"
#include "sys/clock.h"

enum {
	CROWD = 1000,
	SIZE = 64,		/* bytes that a row sends at a time */
};

/* Descriptors of connections, the two ends of one beside each other. */
static int fds[CROWD], n;
static int file, ep;
static struct pollfd set[CROWD];
static unsigned turn;		/* which connection is next */
static bool moves, returns;	/* to Tux, and to TCP again, before anything is
				 * measured */

/* ---- connections ---- */

static void must(bool ok, const char *what)
{
	if (!ok)
		option_fail(1, "%s: %s", what, strerror(errno));
}

static void open_to(int want)
{
	while (n < want) {
		fds[n] = loopback_dial();
		fds[n + 1] = loopback_answer();
		if (moves)
			loopback_move(fds[n], fds[n + 1]);
		if (returns)
			loopback_return(fds[n], fds[n + 1]);
		n += 2;
	}
}

/* ---- what is measured ---- */

static int next(void)
{
	return fds[turn++ % (unsigned)n];
}

static void row_recv(void)
{
	char c;

	must(recv(next(), &c, 1, 0) < 0 && errno == EAGAIN, "recv");
}

static void row_read(void)
{
	char c;

	must(read(next(), &c, 1) < 0 && errno == EAGAIN, "read");
}

static void row_readv(void)
{
	char c[2];
	struct iovec v[2] = { { c, 1 }, { c + 1, 1 } };

	must(readv(next(), v, 2) < 0 && errno == EAGAIN, "readv");
}

static void row_recvmsg(void)
{
	char c;
	struct iovec v = { &c, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	must(recvmsg(next(), &m, 0) < 0 && errno == EAGAIN, "recvmsg");
}

static void row_file(void)
{
	char c;

	must(pread(file, &c, 1, 0) == 1 && lseek(file, 0, SEEK_SET) == 0 &&
	     read(file, &c, 1) == 1, "read of a file");
}

static void row_fcntl(void)
{
	must(fcntl(next(), F_GETFL) >= 0, "fcntl");
}

static void row_option(void)
{
	int v;
	socklen_t len = sizeof(v);

	must(!getsockopt(next(), SOL_SOCKET, SO_TYPE, &v, &len),
	     "getsockopt");
}

static int ask_epoll(void)
{
	struct epoll_event e[16];

	return epoll_wait(ep, e, 16, 0);
}

static void row_epoll(void)
{
	must(ask_epoll() == 0, "epoll_wait");
}

static void row_poll(void)
{
	must(poll(set, (nfds_t)n, 0) == 0, "poll");
}

/* There is something, so it does not sleep. */
static void row_poll_wait(void)
{
	set[0].events = POLLOUT;
	must(poll(set, (nfds_t)n, 1000) == 1, "poll");
	set[0].events = POLLIN;
}

static void row_epoll_wait(void)
{
	struct epoll_event e[64];

	must(epoll_wait(ep, e, 64, 1000) == n, "epoll_wait");
}

/* As a program does that has more to send for a moment. */
static void row_ctl(void)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT };
	int fd = next();

	must(!epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e), "epoll_ctl");
	e.events = EPOLLIN;
	must(!epoll_ctl(ep, EPOLL_CTL_MOD, fd, &e), "epoll_ctl");
}

static void row_poll_one(void)
{
	struct pollfd p = { .fd = next(), .events = POLLIN };

	must(poll(&p, 1, 0) == 0, "poll");
}

static void row_select(void)
{
	struct timeval none = { 0 };
	fd_set in;
	int top = 0;

	FD_ZERO(&in);
	for (int i = 0; i < n; i++) {
		FD_SET(fds[i], &in);
		if (fds[i] >= top)
			top = fds[i] + 1;
	}
	must(select(top, &in, NULL, NULL, &none) == 0, "select");
}

/* Always the same way: nothing turns around. */
static void row_send(void)
{
	unsigned i = turn++ % (unsigned)(n / 2) * 2;
	char b[SIZE] = { 0 };

	must(send(fds[i], b, SIZE, 0) == SIZE, "send");
	while (!ask_epoll())
		;
	must(recv(fds[i + 1], b, SIZE, 0) == SIZE, "recv");
}

static void row_sendmsg(void)
{
	unsigned i = turn++ % (unsigned)(n / 2) * 2;
	char b[SIZE] = { 0 };
	struct iovec v[2] = { { b, SIZE / 2 }, { b + SIZE / 2, SIZE / 2 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };
	ssize_t k;

	must(sendmsg(fds[i], &m, 0) == SIZE, "sendmsg");
	while ((k = recvmsg(fds[i + 1], &m, 0)) < 0 && errno == EAGAIN)
		;
	must(k == SIZE, "recvmsg");
}

static void row_churn(void)
{
	int a = loopback_dial(), b = loopback_answer();

	must(!close(a) && !close(b), "close");
}

struct row {
	const char *name;
	void (*run)(void);
	int n;			/* descriptors that it looks at */
	unsigned calls;		/* that it makes; 0: of several kinds */
	uint32_t events;	/* registered with epoll */
};

static const struct row rows[] = {
	{ "recv", row_recv, 32, 1, 0 },
	{ "read", row_read, 32, 1, 0 },
	{ "readv", row_readv, 32, 1, 0 },
	{ "recvmsg", row_recvmsg, 32, 1, 0 },
	{ "read-file", row_file, 0, 3, 0 },
	{ "fcntl", row_fcntl, 32, 1, 0 },
	{ "getsockopt", row_option, 32, 1, 0 },
	{ "send-epoll-recv", row_send, 32, 3, EPOLLIN },
	{ "sendmsg-recvmsg", row_sendmsg, 32, 2, 0 },
	{ "epoll-32", row_epoll, 32, 1, EPOLLIN },
	{ "epoll-32-edge", row_epoll, 32, 1, EPOLLIN | EPOLLET },
	{ "epoll-1000", row_epoll, CROWD, 1, EPOLLIN },
	{ "epoll-2-wait", row_epoll_wait, 2, 1, EPOLLOUT },
	{ "epoll-32-wait", row_epoll_wait, 32, 1, EPOLLOUT },
	{ "epoll-ctl", row_ctl, 32, 2, EPOLLIN },
	{ "poll-1", row_poll_one, 2, 1, 0 },
	{ "poll-32", row_poll, 32, 1, 0 },
	{ "poll-32-wait", row_poll_wait, 32, 1, 0 },
	{ "poll-1000", row_poll, CROWD, 1, 0 },
	{ "select-32", row_select, 32, 1, 0 },
	{ "churn", row_churn, 0, 0, 0 },
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

/* ---- measuring ---- */

static const tux_time BATCH = TUX_MSEC(1);
enum { BATCHES = 20 };

static tux_time batch(const struct row *r, unsigned times)
{
	tux_time since = tux_clock_read();

	for (unsigned i = 0; i < times; i++)
		r->run();
	return tux_clock_read() - since;
}

/* Nanoseconds that it takes once, of the fastest of several batches: what else
 * the machine does makes one slower only. */
static double measure(const struct row *r)
{
	unsigned times = 16;
	tux_time best;

	while (batch(r, times) < BATCH)
		times *= 2;
	best = batch(r, times);
	for (int i = 1; i < BATCHES; i++) {
		tux_time t = batch(r, times);

		best = t < best ? t : best;
	}
	return (double)best / times;
}

static void prepare(const struct row *r)
{
	open_to(r->n);
	turn = 0;
	ep = epoll_create1(EPOLL_CLOEXEC);
	must(ep >= 0, "epoll_create1");
	for (int i = 0; i < n; i++) {
		struct epoll_event e = { .events = r->events };

		set[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
		must(!r->events || !epoll_ctl(ep, EPOLL_CTL_ADD, fds[i], &e),
		     "epoll_ctl");
	}
}

static void finish(void)
{
	close(ep);
	while (n)
		close(fds[--n]);
}

static void show(const struct row *r)
{
	prepare(r);
	printf("%-16s %u %.1f\n", r->name, r->calls, measure(r));
	fflush(stdout);
	finish();
}

/* ---- the program ---- */

static const char usage_text[] =
"usage: bench/calls [--moved] [--returned] [--thread] [--list] [ROW...]\n"
"  --moved     move the connections to Tux before measuring\n"
"  --returned  and then, by long bursts, back to TCP\n"
"  --thread    with a second thread, which sleeps\n"
"  --list      print the names of the rows, and exit\n"
"Prints for each row, or those named, its name, how many calls it makes (0:\n"
"of several kinds), and how many nanoseconds it takes: of the fastest of 20\n"
"batches.\n";

static bool wanted(const char *name, char **names)
{
	if (!*names)
		return true;
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

static void list(void)
{
	for (int i = 0; i < ROWS; i++)
		puts(rows[i].name);
	exit(0);
}

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void accompany(void)
{
	pthread_t t;

	errno = pthread_create(&t, NULL, sleep_on, NULL);
	must(!errno, "pthread_create");
}

static void usage(FILE *to, int code)
{
	fputs(usage_text, to);
	exit(code);
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "moved", 0, 0, 'm' }, { "returned", 0, 0, 'r' },
		{ "thread", 0, 0, 't' }, { "list", 0, 0, 'l' },
		{ "help", 0, 0, 'H' }, { 0 },
	};
	int k;

	while ((k = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (k) {
		case 'm': moves = true; break;
		case 'r': moves = returns = true; break;
		case 't': accompany(); break;
		case 'l': list(); break;
		case 'H': usage(stdout, 0); break;
		default: usage(stderr, 2);
		}
	}
}

int main(int argc, char **argv)
{
	struct rlimit files;

	parse(argc, argv);
	must(!getrlimit(RLIMIT_NOFILE, &files), "getrlimit");
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	must(file >= 0, "/dev/zero");
	loopback_listen();
	for (int i = 0; i < ROWS; i++)
		if (wanted(rows[i].name, argv + optind))
			show(&rows[i]);
	return 0;
}
