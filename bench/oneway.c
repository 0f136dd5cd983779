/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oneway - one-way latency of messages between two processes of one machine
 *
 *   oneway receive --contender NAME [OPTION]...
 *   oneway send --contender NAME --host A --port P [OPTION]...
 *
 * Messages of one size are sent at Poisson instants, whether those before have
 * arrived or not; each carries its instant, on the clock that both processes
 * see, and the receiver counts from there.  Contenders: Tux messages, ordered
 * or not, and kernel TCP with TCP_NODELAY.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "../t/live/stack/side.h"
#include "arrivals.h"
#include "base/bytes.h"
#include "latency.h"
#include "option.h"
#include "stack/post.h"
#include "sys/clock.h"

enum {
	SIZE_LEAST = 16, SIZE_MOST = 16384,
	BATCH = 32,
	QUEUE = 1 << 20,		/* messages that wait for room, at most */
	MOVE_S = 10,			/* until the path is proved */
	END_S = 30,			/* until the last has come */
	CANNOT = 77,
};

/* A message: its instant, and what it is. */
enum { WARM_UP, MEASURED, LAST };

struct oneway {
	const char *contender, *host, *interface, *cdf;
	uint16_t port;
	bool tcp;
	unsigned flags;			/* TUX_MSG_* */
	struct tux_stack_opts stack_opts;
	uint32_t size;
	double rate;
	tux_time warmup, time;
	uint64_t seed;
	struct tux_stack *stack;	/* NULL: kernel TCP */
	struct side x;
	int fd;
	struct histogram latency;
	uint64_t got, all;		/* all: 0, not yet known */
	/* the sender's: what is meant to be sent, and is not yet */
	struct arrivals arrivals;
	tux_time *queue;
	uint64_t head, tail;
};

/* ---- receiving ---------------------------------------------------------- */

static void take(struct oneway *o, const uint8_t *p, tux_time now)
{
	uint64_t what = tux_get64(p + 8);

	o->got++;
	if (what == MEASURED)
		histogram_add(&o->latency, now - tux_get64(p));
	else if (what >= LAST)
		o->all = what - LAST;
}

static bool complete(const struct oneway *o)
{
	return o->all && o->got == o->all;
}

static void receive_messages(struct oneway *o)
{
	struct tux_msg m[BATCH];
	uint8_t byte;
	unsigned i, n;

	while (!complete(o)) {
		side_hear(&o->x);
		n = tux_post_take(o->x.end, m, BATCH);
		for (i = 0; i < n; i++)
			take(o, m[i].p, tux_clock_read());
		tux_post_release(o->x.end, m, n);
		if (n)
			continue;
		if (side_try_read(&o->x, &byte, 1) != -EAGAIN)
			option_fail(1, "an end too early");
		side_wait(&o->x, POLLIN, TUX_NEVER);
	}
}

static void receive_bytes(struct oneway *o)
{
	static uint8_t buf[64 * SIZE_MOST];
	size_t at = 0, used;
	ssize_t k;

	while (!complete(o)) {
		tux_time now;

		k = recv(o->fd, buf + at, sizeof(buf) - at, 0);
		now = tux_clock_read();
		if (k <= 0)
			option_fail(1, "an end too early");
		at += (size_t)k;
		for (used = 0; at - used >= o->size; used += o->size)
			take(o, buf + used, now);
		memmove(buf, buf + used, at - used);
		at -= used;
	}
}

/* ---- sending ------------------------------------------------------------ */

static void build(const struct oneway *o, uint8_t *p, tux_time at, uint64_t what)
{
	memset(p, 0, o->size);
	tux_put64(p, at);
	tux_put64(p + 8, what);
}

/* False: no room now. */
static bool send_one(struct oneway *o, const uint8_t *p)
{
	struct iovec v = { (void *)(uintptr_t)p, o->size };
	uint64_t ref;
	int err;

	if (!o->stack) {
		if (send(o->fd, p, o->size, MSG_NOSIGNAL) != (ssize_t)o->size)
			option_fail(1, "send: %s", strerror(errno));
		return true;
	}
	err = tux_post_send(o->x.end, &v, 1, o->flags, &ref, false);
	if (err && err != -EAGAIN)
		option_fail(1, "send: %s", strerror(-err));
	return !err;
}

/* Lets the loop run, until something may be sent. */
static void idle(struct oneway *o, tux_time until)
{
	if (!o->stack) {
		while (tux_clock_read() < until)
			;
		return;
	}
	side_hear(&o->x);
	do
		tux_channel_turn(o->stack, NULL);
	while (tux_clock_read() < until);
}

static void push(struct oneway *o, tux_time from, tux_time until)
{
	uint8_t p[SIZE_MOST];

	while (o->tail != o->head) {
		tux_time at = o->queue[o->tail % QUEUE];
		bool counts = at >= from && at < until;

		build(o, p, at, counts ? MEASURED : WARM_UP);
		if (!send_one(o, p))
			return;
		o->tail++;
	}
}

static void send_all(struct oneway *o)
{
	tux_time now = tux_clock_read(), from = now + o->warmup;
	tux_time until = from + o->time;

	arrivals_init(&o->arrivals, o->rate, o->seed, now);
	/* Those that are due while the sender does not run are sent late. */
	while (o->arrivals.next < until || o->tail != o->head) {
		while (o->arrivals.next <= now && o->arrivals.next < until) {
			if (o->head - o->tail == QUEUE)
				option_fail(1, "the path cannot keep up");
			o->queue[o->head++ % QUEUE] = o->arrivals.next;
			arrivals_step(&o->arrivals);
		}
		push(o, from, until);
		idle(o, tux_time_min(o->arrivals.next, until));
		now = tux_clock_read();
	}
}

/* How many there were comes last, and then the receiver ends it. */
static void say_all(struct oneway *o)
{
	tux_time limit = tux_clock_read() + TUX_SEC(END_S);
	uint8_t p[SIZE_MOST], byte;

	build(o, p, 0, LAST + o->head + 1);
	while (!send_one(o, p))
		idle(o, 0);
	if (!o->stack) {
		if (recv(o->fd, &byte, 1, 0) < 0)
			option_fail(1, "recv: %s", strerror(errno));
		return;
	}
	while (side_try_read(&o->x, &byte, 1) == -EAGAIN) {
		if (tux_clock_read() > limit)
			option_fail(1, "the last has not come");
		side_wait(&o->x, POLLIN, limit);
		side_hear(&o->x);
	}
}

/* ---- connections -------------------------------------------------------- */

static void say_why_not(const struct oneway *o)
{
	uint32_t why = atomic_load(&o->x.why);

	printf("cannot: %s\n", tux_reason_sentence(why));
	exit(why == TUX_REASON_NO_PRIVILEGE || why == TUX_REASON_NO_XDP ||
	     why == TUX_REASON_NO_ANNOUNCE ? CANNOT : 1);
}

/* Until both directions have moved, as those of any program would. */
static void move(struct oneway *o)
{
	tux_time limit = tux_clock_read() + TUX_SEC(MOVE_S);
	uint8_t byte;

	while (!side_on_rings(&o->x)) {
		if (tux_clock_read() > limit)
			say_why_not(o);
		if (side_try_read(&o->x, &byte, 1) != -EAGAIN)
			option_fail(1, "an end too early");
		side_wait(&o->x, POLLIN, tux_clock_read() + TUX_MSEC(1));
		side_hear(&o->x);
	}
}

static void hold(struct oneway *o, int fd, bool active)
{
	int one = 1;

	o->fd = fd;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!o->stack)
		return;
	side_open(&o->x, o->stack, fd, active, NULL, 0);
	move(o);
}

static void let_go(struct oneway *o)
{
	if (!o->stack) {
		close(o->fd);
		return;
	}
	side_close(&o->x, false);
	side_free(&o->x);
	tux_stack_free(o->stack);
}

static int listen_at(const char *ip, uint16_t *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, ip, &a.sin_addr);
	if (fd < 0 || bind(fd, (void *)&a, len) || listen(fd, 1) ||
	    getsockname(fd, (void *)&a, &len))
		option_fail(1, "listen: %s", strerror(errno));
	*port = ntohs(a.sin_port);
	return fd;
}

static void receive(struct oneway *o)
{
	int l = o->stack ? side_listen_at(o->stack, o->host, &o->port) :
			   listen_at(o->host, &o->port);
	int fd;

	printf("port %u\n", o->port);
	fd = accept(l, NULL, NULL);
	if (fd < 0)
		option_fail(1, "accept: %s", strerror(errno));
	hold(o, fd, false);
	if (o->stack)
		receive_messages(o);
	else
		receive_bytes(o);
	let_go(o);
	close(l);
	latency_print(&o->latency);
	if (o->cdf && latency_write(&o->latency, o->cdf))
		option_fail(1, "%s cannot be written", o->cdf);
}

static void send_them(struct oneway *o)
{
	hold(o, side_connect_to(o->stack, o->host, o->port), true);
	o->queue = calloc(QUEUE, sizeof(*o->queue));
	send_all(o);
	say_all(o);
	let_go(o);
	free(o->queue);
	printf("sent %" PRIu64 "\n", o->head);
}

/* ---- the command line --------------------------------------------------- */

static const char usage_text[] =
"usage: bench/oneway receive [OPTION]...\n"
"       bench/oneway send --port P [OPTION]...\n"
"  --contender NAME  unordered, ordered or kernel-tcp (unordered)\n"
"  --host A          IPv4 address of the receiver (127.0.0.1)\n"
"  --interface IF    of Tux (lo)\n"
"  --io NAME         of Tux: xdp or udp (udp)\n"
"  --size BYTES      of a message (1024)\n"
"  --rate R          messages per second, at Poisson instants (10000)\n"
"  --seconds S       how long to measure (3)\n"
"  --warm-up S       before that (1)\n"
"  --seed N          of the instants (1)\n"
"  --cdf FILE        the distribution, as lines \"US FRACTION\"\n"
"The receiver prints \"port P\", and ends with a line\n"
"  messages=N p50=US p90=US p99=US p99.9=US max=US\n"
"The sender spins.  Exit status 77: AF_XDP cannot be had.\n";

static void usage(FILE *to, int code)
{
	fputs(usage_text, to);
	exit(code);
}

static void choose(struct oneway *o, const char *contender)
{
	o->tcp = !strcmp(contender, "kernel-tcp");
	if (!strcmp(contender, "ordered"))
		o->flags = TUX_MSG_ORDERED;
	else if (!o->tcp && strcmp(contender, "unordered"))
		usage(stderr, 2);
}

static void parse(struct oneway *o, int argc, char **argv)
{
	static const struct option opt[] = {
		{ "contender", 1, 0, 'c' }, { "host", 1, 0, 'a' },
		{ "port", 1, 0, 'p' }, { "interface", 1, 0, 'i' },
		{ "io", 1, 0, 'b' }, { "size", 1, 0, 'z' },
		{ "rate", 1, 0, 'r' }, { "seconds", 1, 0, 's' },
		{ "warm-up", 1, 0, 'w' }, { "seed", 1, 0, 'n' },
		{ "cdf", 1, 0, 'f' }, { "help", 0, 0, 'h' }, { 0 },
	};
	int k;

	while ((k = getopt_long(argc, argv, "h", opt, NULL)) != -1) {
		switch (k) {
		case 'c': choose(o, optarg); break;
		case 'a': o->host = optarg; break;
		case 'p': o->port = (uint16_t)option_number("port", optarg, 1,
							    65535); break;
		case 'i': o->stack_opts.ifname = optarg; break;
		case 'b': o->stack_opts.io = strcmp(optarg, "xdp") ?
				TUX_IO_UDP : TUX_IO_XDP; break;
		case 'z': o->size = (uint32_t)option_number("size", optarg,
					SIZE_LEAST, SIZE_MOST); break;
		case 'r': o->rate = option_rate("rate", optarg); break;
		case 's': o->time = option_seconds("seconds", optarg); break;
		case 'w': o->warmup = option_seconds("warm-up", optarg); break;
		case 'n': o->seed = option_number("seed", optarg, 0,
						  UINT64_MAX); break;
		case 'f': o->cdf = optarg; break;
		case 'h': usage(stdout, 0); break;
		default: usage(stderr, 2);
		}
	}
	if (optind != argc - 1)
		usage(stderr, 2);
}

int main(int argc, char **argv)
{
	static struct oneway o = {
		.host = "127.0.0.1", .size = 1024, .rate = 10000, .seed = 1,
		.warmup = TUX_SEC(1), .time = TUX_SEC(3),
		.stack_opts = {
			.ifname = "lo", .io = TUX_IO_UDP,
			.message_max = SIZE_MOST,
		},
	};

	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(&o, argc, argv);
	if (!o.tcp)
		o.stack = side_stack_as(&o.stack_opts);
	if (!strcmp(argv[optind], "receive"))
		receive(&o);
	else if (!strcmp(argv[optind], "send") && o.port)
		send_them(&o);
	else
		usage(stderr, 2);
	return 0;
}
