/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * values - are the bytes that come back the bytes that were stored?
 *
 * A Redis client over plain BSD sockets.  "write" stores values that depend on
 * a seed and an index only, "read" fetches them and compares every byte, "del"
 * removes them.  Every answer is checked; the first wrong byte, and a
 * connection on which nothing moves, end it with 1.
 *
 * With --until FILE, a connection goes on at least until FILE is there and it
 * has written, or read, all its values once after that.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "client.h"
#include "replay.h"

enum { TICK_MS = 200 };

enum mode { MODE_BLOCK, MODE_EPOLL, MODE_EDGE, MODE_POLL, MODE_SELECT };

static const char *const mode_name[] = {
	"block", "epoll", "edge", "poll", "select",
};

static struct {
	const char *host, *until;
	uint16_t port;
	uint32_t conns, timeout;
	enum mode mode;
	struct replay_opts replay;
} opt = {
	.host = "127.0.0.1", .conns = 8, .timeout = 60, .mode = MODE_EPOLL,
	.replay = {
		.plan = { .seed = 1, .end = 1000, .max = 1 << 20 },
		.depth = 4,
	},
};

static bool may_end(void)
{
	return !opt.until || !access(opt.until, F_OK);
}

/* ---- waiting --------------------------------------------------------- */

static uint32_t wanted(const struct replay *c)
{
	return POLLIN | (!c->connected || replay_may_send(c) ? POLLOUT : 0);
}

static void epoll_want(int ep, struct replay *c)
{
	struct epoll_event e = {
		.events = opt.mode == MODE_EDGE ?
			  EPOLLIN | EPOLLOUT | EPOLLET : wanted(c),
		.data.ptr = c,
	};

	if (c->fd < 0 || e.events == c->events)
		return;
	if (epoll_ctl(ep, c->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd,
		      &e))
		client_fail("epoll_ctl: %s", strerror(errno));
	c->events = e.events;
}

static void wait_epoll(int ep, struct replay *c)
{
	struct epoll_event e[64];
	uint32_t i;
	int n;

	for (i = 0; i < opt.conns; i++)
		epoll_want(ep, &c[i]);
	n = epoll_wait(ep, e, 64, TICK_MS);
	if (n < 0 && errno != EINTR)
		client_fail("epoll_wait: %s", strerror(errno));
	while (n-- > 0)
		replay_step(e[n].data.ptr);
}

static void wait_poll(struct replay *c)
{
	struct pollfd *p = calloc(opt.conns, sizeof(*p));
	uint32_t i;

	if (!p)
		client_fail("no memory");
	for (i = 0; i < opt.conns; i++)
		p[i] = (struct pollfd){ c[i].fd, (short)wanted(&c[i]), 0 };
	if (poll(p, opt.conns, TICK_MS) < 0 && errno != EINTR)
		client_fail("poll: %s", strerror(errno));
	for (i = 0; i < opt.conns; i++)
		if (c[i].fd >= 0 && p[i].revents)
			replay_step(&c[i]);
	free(p);
}

static void wait_select(struct replay *c)
{
	struct timeval t = { .tv_usec = TICK_MS * 1000 };
	fd_set in, out;
	int top = -1;
	uint32_t i;

	FD_ZERO(&in);
	FD_ZERO(&out);
	for (i = 0; i < opt.conns; i++) {
		if (c[i].fd < 0)
			continue;
		FD_SET(c[i].fd, &in);
		if (wanted(&c[i]) & POLLOUT)
			FD_SET(c[i].fd, &out);
		top = c[i].fd > top ? c[i].fd : top;
	}
	if (select(top + 1, &in, &out, NULL, &t) < 0) {
		if (errno != EINTR)
			client_fail("select: %s", strerror(errno));
		return;
	}
	for (i = 0; i < opt.conns; i++)
		if (c[i].fd >= 0 && (FD_ISSET(c[i].fd, &in) ||
				     FD_ISSET(c[i].fd, &out)))
			replay_step(&c[i]);
}

/* How many are not finished.  One on which nothing moves is a failure. */
static uint32_t living(struct replay *c)
{
	uint64_t now = client_now();
	uint32_t i, n = 0;

	for (i = 0; i < opt.conns; i++) {
		if (c[i].fd < 0)
			continue;
		n++;
		if (now > c[i].moved_at + opt.timeout * 1000u)
			client_fail("connection %u (fd %d) is stuck: value %u "
				    "of it sent up to byte %" PRIu64 ", "
				    "value %u answered up to byte %" PRIu64,
				    c[i].id, c[i].fd, c[i].out.item,
				    c[i].out.pos, c[i].in.item, c[i].in.pos);
	}
	return n;
}

static void run_events(struct replay *c)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	uint32_t i;

	for (i = 0; i < opt.conns; i++) {
		if (reel_done(&c[i].in))
			continue;
		c[i].fd = client_dial(opt.host, opt.port, true);
		c[i].moved_at = client_now();
	}
	while (living(c)) {
		if (opt.mode == MODE_POLL)
			wait_poll(c);
		else if (opt.mode == MODE_SELECT)
			wait_select(c);
		else
			wait_epoll(ep, c);
	}
	close(ep);
}

static void *run_blocking(void *arg)
{
	struct replay *c = arg;

	if (reel_done(&c->in))
		return NULL;
	c->fd = client_dial(opt.host, opt.port, false);
	client_patience(c->fd, opt.timeout);
	while (!reel_done(&c->in) || replay_again(c)) {
		replay_send(c);
		replay_recv(c);
	}
	close(c->fd);
	return NULL;
}

static void run_threads(struct replay *c)
{
	pthread_t *t = calloc(opt.conns, sizeof(*t));
	uint32_t i;

	for (i = 0; i < opt.conns; i++)
		if (!t || pthread_create(&t[i], NULL, run_blocking, &c[i]))
			client_fail("no thread");
	for (i = 0; i < opt.conns; i++)
		pthread_join(t[i], NULL);
	free(t);
}

/* ---- options --------------------------------------------------------- */

static enum mode mode_of(const char *s)
{
	unsigned i;

	for (i = 0; i < sizeof(mode_name) / sizeof(mode_name[0]); i++)
		if (!strcmp(s, mode_name[i]))
			return i;
	client_fail("%s: not block, epoll, edge, poll or select", s);
}

static void usage(void)
{
	fputs("usage: values write|read|del --port P [--host A] [--seed S]\n"
	      "              [--from I] [--n N] [--max BYTES] [--conns C]\n"
	      "              [--depth D] [--timeout SECONDS]\n"
	      "              [--mode block|epoll|edge|poll|select]\n"
	      "              [--until FILE]\n", stderr);
	exit(2);
}

static void parse_verb(const char *s)
{
	static const char *const verb[] = {
		[REEL_WRITE] = "write", [REEL_READ] = "read",
		[REEL_DEL] = "del",
	};
	unsigned i;

	for (i = 0; i < 3; i++)
		if (!strcmp(s, verb[i]))
			break;
	if (i == 3)
		usage();
	opt.replay.plan.verb = i;
}

static uint32_t parse(int argc, char **argv)
{
	static const struct option o[] = {
		{ "port", 1, 0, 'p' }, { "host", 1, 0, 'h' },
		{ "seed", 1, 0, 's' }, { "from", 1, 0, 'f' },
		{ "n", 1, 0, 'n' }, { "max", 1, 0, 'x' },
		{ "conns", 1, 0, 'c' }, { "depth", 1, 0, 'd' },
		{ "timeout", 1, 0, 't' }, { "mode", 1, 0, 'm' },
		{ "until", 1, 0, 'u' }, { 0 },
	};
	uint32_t from = 0, n = 1000;
	int k, i;

	while ((k = getopt_long(argc, argv, "", o, &i)) != -1) {
		const char *w = k == '?' ? "" : o[i].name;

		if (k == 'p')
			opt.port = (uint16_t)client_number(w, optarg, 1, 65535);
		else if (k == 'h')
			opt.host = optarg;
		else if (k == 's')
			opt.replay.plan.seed = client_number(w, optarg, 0, UINT64_MAX);
		else if (k == 'f')
			from = (uint32_t)client_number(w, optarg, 0, 1u << 30);
		else if (k == 'n')
			n = (uint32_t)client_number(w, optarg, 1, 1u << 30);
		else if (k == 'x')
			opt.replay.plan.max = (uint32_t)client_number(w, optarg, 1,
							       1u << 29);
		else if (k == 'c')
			opt.conns = (uint32_t)client_number(w, optarg, 1, 1000);
		else if (k == 'd')
			opt.replay.depth = (uint32_t)client_number(w, optarg, 1, 1000);
		else if (k == 't')
			opt.timeout = (uint32_t)client_number(w, optarg, 1,
							      3600);
		else if (k == 'm')
			opt.mode = mode_of(optarg);
		else if (k == 'u')
			opt.until = optarg;
		else
			usage();
	}
	if (optind != argc - 1 || !opt.port)
		usage();
	parse_verb(argv[optind]);
	if (opt.until && opt.replay.plan.verb == REEL_DEL)
		usage();	/* what is gone cannot be removed again */
	opt.replay.plan.end = from + n;
	opt.replay.plan.step = opt.conns;
	opt.replay.blocking = opt.mode == MODE_BLOCK;
	opt.replay.edge = opt.mode == MODE_EDGE;
	opt.replay.may_end = may_end;
	return from;
}

int main(int argc, char **argv)
{
	uint32_t from = parse(argc, argv), i;
	uint64_t began = client_now(), bytes = 0;
	struct replay *c = calloc(opt.conns, sizeof(*c));

	if (!c)
		client_fail("no memory");
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < opt.conns; i++)
		replay_init(&c[i], &opt.replay, i, from);
	for (i = from; i < opt.replay.plan.end; i++)
		bytes += reel_length(&opt.replay.plan, i);
	if (opt.mode == MODE_BLOCK)
		run_threads(c);
	else
		run_events(c);
	printf("%s: %u values, %" PRIu64 " bytes, %u connections, %s, %" PRIu64
	       " ms\n", argv[optind], opt.replay.plan.end - from, bytes, opt.conns,
	       mode_name[opt.mode], client_now() - began);
	free(c);
	return 0;
}
