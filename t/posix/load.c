/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load - many Redis connections at once, and when each of them ended
 *
 * One epoll loop sends PING or ECHO on every connection to every port and
 * compares the answers.  A connection that ends is no failure: "ended PORT
 * MILLISECONDS" says when, on the clock since 1970, and the others go on.  A
 * wrong answer is.  When none is left, after --seconds or SIGTERM each port
 * gets a line "port P answers N open K worst US".  So it does all the time with
 * --every, as "so-far P ...", and behind it "p99 US", of all answers since the
 * last such line.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "../../bench/histogram.h"
#include "client.h"

enum { PORTS = 8, TICK_MS = 100, PAYLOAD = 1 << 16, BATCH = 64 };

static struct {
	const char *host;
	uint16_t port[PORTS];
	uint32_t ports, conns, size, seconds, every;
	uint64_t pings;		/* per connection; then it idles */
} opt = { .host = "127.0.0.1", .conns = 10 };

struct conn {
	int fd;
	uint32_t port;		/* index */
	uint64_t answers;
	uint64_t asked_at;	/* us, when the question was begun */
	size_t sent, got;	/* of the current question and answer */
};

static volatile sig_atomic_t stopped;
static char question[PAYLOAD + 64], answer[PAYLOAD + 64];
static size_t question_len, answer_len;
static uint64_t answers[PORTS], worst[PORTS];	/* us */
static uint32_t open_n[PORTS], ready_n;
static struct histogram lately;			/* us */

static void on_term(int sig)
{
	stopped = sig;
}

static uint64_t since_1970(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint64_t micros(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void make_texts(void)
{
	char *payload;
	int n;

	if (!opt.size) {
		question_len = (size_t)sprintf(question,
					       "*1\r\n$4\r\nPING\r\n");
		answer_len = (size_t)sprintf(answer, "+PONG\r\n");
		return;
	}
	payload = malloc(opt.size + 1);
	if (!payload)
		client_fail("no memory");
	for (n = 0; n < (int)opt.size; n++)
		payload[n] = (char)('a' + n % 26);
	payload[opt.size] = 0;
	n = sprintf(question, "*2\r\n$4\r\nECHO\r\n$%u\r\n%s\r\n", opt.size,
		    payload);
	question_len = (size_t)n;
	answer_len = (size_t)sprintf(answer, "$%u\r\n%s\r\n", opt.size,
				     payload);
	free(payload);
}

static void ended(struct conn *c)
{
	printf("ended %u %" PRIu64 "\n", opt.port[c->port], since_1970());
	close(c->fd);
	c->fd = -1;
	open_n[c->port]--;
}

static void ask(struct conn *c)
{
	ssize_t n;

	if (c->sent == question_len)
		return;
	if (opt.pings && c->answers == opt.pings)
		return;
	if (!c->sent)
		c->asked_at = micros();
	n = send(c->fd, question + c->sent, question_len - c->sent,
		 MSG_NOSIGNAL);
	if (n > 0)
		c->sent += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		ended(c);
}

static void answered(struct conn *c)
{
	uint64_t took = micros() - c->asked_at;

	worst[c->port] = took > worst[c->port] ? took : worst[c->port];
	if (opt.every)
		histogram_add(&lately, took);
	c->sent = c->got = 0;
	answers[c->port]++;
	c->answers++;
	if (c->answers == (opt.pings ? opt.pings : 1) &&
	    ++ready_n == opt.ports * opt.conns)
		puts("ready");
}

/* False when there is nothing more for now. */
static bool listen_to(struct conn *c)
{
	char buf[PAYLOAD];
	ssize_t n = recv(c->fd, buf, sizeof(buf), 0), i;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		ended(c);
		return false;
	}
	for (i = 0; i < n; i++) {
		if (c->sent < question_len || buf[i] != answer[c->got])
			client_fail("wrong byte %zu of an answer: %02x",
				    c->got, (unsigned char)buf[i]);
		if (++c->got == answer_len)
			answered(c);
	}
	return true;
}

static void step(struct conn *c, uint32_t events)
{
	if (c->fd >= 0 && events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		while (listen_to(c))
			;
	if (c->fd >= 0)
		ask(c);
}

static void open_all(int ep, struct conn *c)
{
	uint32_t i;

	for (i = 0; i < opt.ports * opt.conns; i++) {
		struct epoll_event e = {
			.events = EPOLLIN | EPOLLOUT | EPOLLET,
			.data.ptr = &c[i],
		};

		c[i].port = i % opt.ports;
		c[i].fd = client_dial(opt.host, opt.port[c[i].port], true);
		open_n[c[i].port]++;
		if (epoll_ctl(ep, EPOLL_CTL_ADD, c[i].fd, &e))
			client_fail("epoll_ctl: %s", strerror(errno));
	}
}

static void report(bool last)
{
	uint32_t i;

	for (i = 0; i < opt.ports; i++) {
		printf("%s %u answers %" PRIu64 " open %u worst %" PRIu64,
		       last ? "port" : "so-far", opt.port[i], answers[i],
		       open_n[i], worst[i]);
		if (!last)
			printf(" p99 %" PRIu64, histogram_at(&lately, 990));
		putchar('\n');
	}
	histogram_clear(&lately);
}

static bool over(uint64_t began)
{
	uint32_t i, n = 0;

	for (i = 0; i < opt.ports; i++)
		n += open_n[i];
	return !n || stopped ||
	       (opt.seconds && client_now() - began >= opt.seconds * 1000u);
}

static void run(int ep)
{
	struct epoll_event e[BATCH];
	uint64_t began = client_now(), shown = began;
	int n, wait = opt.seconds || opt.every ? TICK_MS : -1;

	while (!over(began)) {
		if (opt.every && client_now() - shown >= opt.every) {
			shown += opt.every;
			report(false);
		}
		n = epoll_wait(ep, e, BATCH, wait);
		if (n < 0 && errno != EINTR)
			client_fail("epoll_wait: %s", strerror(errno));
		while (n-- > 0)
			step(e[n].data.ptr, e[n].events);
	}
	report(true);
}

static void usage(void)
{
	fputs("usage: load --port P [--port P]... [--host A] [--conns N]\n"
	      "            [--pings N] [--size BYTES] [--seconds S]\n"
	      "            [--every MS]\n", stderr);
	exit(2);
}

static void parse(int argc, char **argv)
{
	static const struct option o[] = {
		{ "port", 1, 0, 'p' }, { "host", 1, 0, 'h' },
		{ "conns", 1, 0, 'c' }, { "pings", 1, 0, 'n' },
		{ "size", 1, 0, 'z' }, { "seconds", 1, 0, 't' },
		{ "every", 1, 0, 'e' }, { 0 },
	};
	int k, i;

	while ((k = getopt_long(argc, argv, "", o, &i)) != -1) {
		uint64_t n;

		if (k == '?')
			usage();
		if (k == 'h') {
			opt.host = optarg;
			continue;
		}
		n = client_number(o[i].name, optarg, 1, UINT32_MAX);
		if (k == 'p' && n < 65536 && opt.ports < PORTS)
			opt.port[opt.ports++] = (uint16_t)n;
		else if (k == 'c')
			opt.conns = (uint32_t)n;
		else if (k == 'n')
			opt.pings = n;
		else if (k == 'z' && n <= PAYLOAD)
			opt.size = (uint32_t)n;
		else if (k == 't')
			opt.seconds = (uint32_t)n;
		else if (k == 'e')
			opt.every = (uint32_t)n;
		else
			usage();
	}
	if (optind != argc || !opt.ports)
		usage();
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_term };
	struct rlimit files;
	struct conn *c;
	int ep;

	parse(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigaction(SIGTERM, &sa, NULL);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	make_texts();
	c = calloc(opt.ports * opt.conns, sizeof(*c));
	ep = epoll_create1(EPOLL_CLOEXEC);
	if (!c || ep < 0)
		client_fail("no memory");
	open_all(ep, c);
	run(ep);
	free(c);
	close(ep);
	return 0;
}
