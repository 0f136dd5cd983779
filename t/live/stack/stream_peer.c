/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream_peer - carries bytes over AF_XDP between two processes, each with a stack of
 * its own, without the preload
 *
 * "stream_peer serve IP CONNS THREADS" prints "port N", echoes CONNS connections to
 * their end, and ends.  "stream_peer move IP PORT CONNS THREADS [STUCK]" sends random
 * bytes on each, at first few at a time, until both directions are on Tux and
 * it says "moved", then many, and compares what comes back.  On the first STUCK
 * of them it only sends, until nothing more is taken, so that the other end
 * cannot send either and stops reading; what comes back it reads only when the
 * others, which start then, are done.  How long those took it prints as "took N
 * ms".  Both print lines of what was counted, and fail if frames are missing;
 * 77 says that AF_XDP cannot be had, and why.  With TUX_TEST_IO=udp, they do
 * the same over UDP.  With TUX_TEST_UNTIL=FILE, a connection sends many again
 * and again until the file is there, and then once more.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "side.h"
#include "stack/channel.h"
#include "stack/stack_in.h"
#include "sys/clock.h"

enum {
	CONNS_MAX = 16,
	CHUNK = 30000,
	BULK = 4 << 20,		/* each way, per connection */
	FULL_MS = 100,		/* for so long, nothing more was taken */
	UPGRADE_S = 30,
	LIMIT_S = 200,
	EXIT_CANNOT = 77,
};

struct carrier {
	struct side side;
	pthread_t thread;
	uint64_t seed;
	size_t sent;		/* by a stuck one, */
	uint64_t sent_seed;	/* ... and from what seed */
	const char *wrong;	/* NULL: nothing */
};

static struct carrier carrier[CONNS_MAX];
static struct tux_stack *stack;
static bool whole = true;

/* ---- the counting ---- */

static void on_said(const struct tux_link_note *n)
{
	const struct tux_tally *t = n->tally;

	if (n->what == TUX_LINK_TAKEN)
		return;
	printf("frames %" PRIu32 " sent %" PRIu32 " missing %" PRId64
	       " rx %" PRIu64 " tx %" PRIu64 " kicks %" PRIu64
	       " starved %" PRIu64 "\n",
	       t->frames, t->sent, tux_tally_missing(t), t->rx, t->tx,
	       t->kicks, t->starved);
	whole &= !tux_tally_missing(t) && !t->sent;
}

/* What routers told.  Nobody drives any more. */
static void say_ecn(void)
{
	unsigned i;

	for (i = 0; i < stack->loop_n; i++) {
		const struct tux_core_stats *s =
			tux_core_stats(stack->driver[i].loop->core);

		printf("eased %" PRIu64 " given-up %" PRIu64 "\n", s->eased,
		       s->no_ecn);
	}
}

static void begin(unsigned threads)
{
	const char *io = getenv("TUX_TEST_IO");
	struct tux_stack_opts o = {
		.ifname = "veth0", .threads = threads, .said = on_said,
		.io = io && !strcmp(io, "udp") ? TUX_IO_UDP : TUX_IO_XDP,
	};

	stack = side_stack_as(&o);
}

/* Waits for the threads of connections @from to @to: is one of them wrong? */
static int join(unsigned from, unsigned to)
{
	unsigned i;
	int rc = 0;

	for (i = from; i < to; i++) {
		pthread_join(carrier[i].thread, NULL);
		if (carrier[i].wrong) {
			printf("connection %u: %s\n", i, carrier[i].wrong);
			rc = 1;
		}
	}
	return rc;
}

/* All have ended, well or not, as @rc says. */
static int end(unsigned conns, int rc)
{
	unsigned i;

	for (i = 0; i < conns; i++) {
		side_close(&carrier[i].side, false);
		side_free(&carrier[i].side);
	}
	tux_stack_count(stack);
	say_ecn();
	tux_stack_free(stack);
	return whole ? rc : 1;
}

/* ---- serving ---- */

static void *echo(void *arg)
{
	struct carrier *c = arg;
	char *buf = malloc(CHUNK);
	ssize_t k;

	while ((k = side_read(&c->side, buf, CHUNK)) > 0)
		if (side_write(&c->side, buf, (size_t)k) != k)
			break;
	if (k == 0)
		side_shut(&c->side);
	else
		c->wrong = "ended early";
	free(buf);
	return NULL;
}

static int serve(const char *ip, unsigned conns, unsigned threads)
{
	uint16_t port;
	unsigned i;
	int fd;

	begin(threads);
	fd = side_listen_at(stack, ip, &port);
	printf("port %u\n", port);
	for (i = 0; i < conns; i++) {
		side_open(&carrier[i].side, stack, accept(fd, NULL, NULL),
			  false, NULL, 0);
		pthread_create(&carrier[i].thread, NULL, echo, &carrier[i]);
	}
	i = (unsigned)end(conns, join(0, conns));
	close(fd);
	return (int)i;
}

/* ---- moving ---- */

static void fill(char *p, size_t len, uint64_t *seed)
{
	size_t i;

	for (i = 0; i < len; i++) {
		*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		p[i] = (char)(*seed >> 56);
	}
}

/* Sends @len bytes and has the same back. */
static bool exchange(struct carrier *c, char *out, char *in, size_t len)
{
	size_t at = 0;
	ssize_t k;

	fill(out, len, &c->seed);
	if (side_write(&c->side, out, len) != (ssize_t)len)
		return false;
	while (at < len) {
		k = side_read(&c->side, in + at, len - at);
		if (k <= 0)
			return false;
		at += (size_t)k;
	}
	return !memcmp(in, out, len);
}

/* A few bytes at a time, until both directions are on Tux. */
static const char *upgrade(struct carrier *c, char *out, char *in)
{
	tux_time limit = tux_clock_read() + TUX_SEC(UPGRADE_S);

	while (!side_on_rings(&c->side)) {
		if (!exchange(c, out, in, 1 + c->seed % 100))
			return "a few bytes came back wrong";
		if (tux_clock_read() > limit)
			return "never moved";
	}
	puts("moved");
	return NULL;
}

static const char *finish(struct carrier *c, char *in)
{
	if (!side_on_rings(&c->side))
		return "went back to TCP";
	side_shut(&c->side);
	return side_read(&c->side, in, 1) == 0 ? NULL : "no end";
}

static bool may_end(void)
{
	const char *until = getenv("TUX_TEST_UNTIL");

	return !until || !access(until, F_OK);
}

static const char *converse(struct carrier *c, char *out, char *in)
{
	const char *wrong = upgrade(c, out, in);
	bool last;
	size_t n;

	if (wrong)
		return wrong;
	do {
		last = may_end();
		for (n = 0; n < BULK; n += CHUNK)
			if (!exchange(c, out, in, CHUNK))
				return "many bytes came back wrong";
	} while (!last);
	return finish(c, in);
}

/* Sends until nothing more is taken, and reads nothing. */
static const char *stuff(struct carrier *c, char *out, char *in)
{
	const char *wrong = upgrade(c, out, in);
	tux_time now = tux_clock_read(), last = now;
	size_t at = CHUNK;
	ssize_t k;

	c->sent_seed = c->seed;
	while (!wrong && now < last + TUX_MSEC(FULL_MS)) {
		if (at == CHUNK) {
			fill(out, CHUNK, &c->seed);
			at = 0;
		}
		side_hear(&c->side);
		k = side_try_write(&c->side, out + at, CHUNK - at);
		if (k > 0) {
			at += (size_t)k;
			c->sent += (size_t)k;
			last = now;
		} else if (k == -EAGAIN) {
			side_wait(&c->side, POLLOUT, now + TUX_MSEC(10));
		} else {
			wrong = "took nothing, and is not full";
		}
		now = tux_clock_read();
	}
	return wrong;
}

/* Reads at last what stuff() has sent. */
static const char *drain(struct carrier *c, char *out, char *in)
{
	size_t at, n;
	ssize_t k;

	for (at = 0; at < c->sent; at += (size_t)k) {
		n = c->sent - at < CHUNK ? c->sent - at : CHUNK;
		k = side_read(&c->side, in, n);
		if (k <= 0)
			return "what waited did not come";
		fill(out, (size_t)k, &c->sent_seed);
		if (memcmp(in, out, (size_t)k))
			return "what waited came back wrong";
	}
	return finish(c, in);
}

typedef const char *part_fn(struct carrier *c, char *out, char *in);

static void play(struct carrier *c, part_fn *part)
{
	char *buf;

	if (c->wrong)
		return;
	buf = malloc(2 * CHUNK);
	c->wrong = part(c, buf, buf + CHUNK);
	if (c->wrong)
		side_shut(&c->side);
	free(buf);
}

static void *talk(void *arg)
{
	play(arg, converse);
	return NULL;
}

static void *clog_up(void *arg)
{
	play(arg, stuff);
	return NULL;
}

static void *read_at_last(void *arg)
{
	play(arg, drain);
	return NULL;
}

/* Was it for want of what a machine may not have? */
static int cannot(unsigned conns, int rc)
{
	unsigned i;

	for (i = 0; i < conns; i++) {
		uint32_t why = atomic_load(&carrier[i].side.why);

		if (why != TUX_REASON_NO_PRIVILEGE &&
		    why != TUX_REASON_NO_XDP && why != TUX_REASON_NO_ANNOUNCE)
			continue;
		printf("cannot: %s\n", tux_reason_sentence(why));
		return EXIT_CANNOT;
	}
	return rc;
}

/* Connections @from to @to do @what; is one of them wrong? */
static int all(unsigned from, unsigned to, void *(*what)(void *))
{
	unsigned i;

	for (i = from; i < to; i++)
		pthread_create(&carrier[i].thread, NULL, what, &carrier[i]);
	return join(from, to);
}

static int move(const char *ip, uint16_t port, unsigned conns, unsigned threads,
		unsigned stuck)
{
	tux_time began;
	unsigned i;
	int rc;

	begin(threads);
	for (i = 0; i < conns; i++) {
		carrier[i].seed = i;
		side_open(&carrier[i].side, stack, side_connect_to(stack, ip, port),
			  true, NULL, 0);
	}
	rc = all(0, stuck, clog_up);
	began = tux_clock_read();
	rc |= all(stuck, conns, talk);
	printf("took %" PRIu64 " ms\n", (tux_clock_read() - began) / 1000000);
	rc |= all(0, stuck, read_at_last);
	for (i = 0; i < stuck; i++)
		printf("kept %zu\n", carrier[i].sent);
	return cannot(conns, end(conns, rc));
}

static unsigned number(const char *s, unsigned max)
{
	unsigned long n = strtoul(s, NULL, 10);

	if (n > max) {
		fprintf(stderr, "stream_peer: %s is too many\n", s);
		exit(2);
	}
	return (unsigned)n;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(LIMIT_S);
	if (argc == 5 && !strcmp(argv[1], "serve"))
		return serve(argv[2], number(argv[3], CONNS_MAX),
			     number(argv[4], 16));
	if ((argc == 6 || argc == 7) && !strcmp(argv[1], "move"))
		return move(argv[2], (uint16_t)number(argv[3], UINT16_MAX),
			    number(argv[4], CONNS_MAX), number(argv[5], 16),
			    argc == 7 ? number(argv[6], CONNS_MAX) : 0);
	fputs("usage: stream_peer serve IP CONNS THREADS\n"
	      "       stream_peer move IP PORT CONNS THREADS [STUCK]\n", stderr);
	return 2;
}
