/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_peer - carries messages between two processes on two hosts, both ways,
 * each with a stack of its own
 *
 *   message_peer serve IO IP THREADS
 *   message_peer call IO IP PORT THREADS SECONDS SEED
 *
 * IO is udp or xdp, on veth0 or what TUX_TEST_IF names.  The server prints
 * "port N".  Both send for SECONDS, or with 0 until SIGTERM, which both must
 * get, messages of 1 byte to 8 MiB, ordered and not, check each that comes, and
 * end when all have.  Meanwhile each prints what path
 * it is on, and how many have come, ten times a second; then "messages N bytes
 * N", or what was wrong.  77: AF_XDP cannot be had, and why.
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

#include "payload.h"
#include "sys/clock.h"

enum {
	MAX = 8 << 20,
	SECONDS_MAX = 60,
	LIMIT_S = 300,
	TICK_US = 100000,
	CANNOT = 77,
};

static bool whole = true;
static _Atomic int stopped;		/* a signal; another thread reads it */

static void on_term(int sig)
{
	stopped = sig;
}

/* ---- the counting ---- */

static void on_said(const struct tux_link_note *n)
{
	const struct tux_tally *t = n->tally;

	if (n->what != TUX_LINK_TAKEN)
		whole &= !tux_tally_missing(t) && !t->sent;
}

static struct tux_stack *begin(const char *io, unsigned threads)
{
	const char *ifname = getenv("TUX_TEST_IF");
	struct tux_stack_opts o = {
		.ifname = ifname ? ifname : "veth0", .threads = threads, .said = on_said,
		.io = strcmp(io, "xdp") ? TUX_IO_UDP : TUX_IO_XDP,
		.message_max = MAX,
	};

	return side_stack_as(&o);
}

/* ---- what it is doing ---- */

struct watch {
	struct side *x;
	struct payloads *out, *in;
	_Atomic bool stop;
};

static void *watch(void *arg)
{
	struct watch *w = arg;

	while (!atomic_load(&w->stop)) {
		if (stopped)
			atomic_store(&w->out->stop, true);
		printf("%s %s got %u\n",
		       atomic_load(&w->x->tux) ? "tux" : "tcp",
		       tux_reason_word(atomic_load(&w->x->why)),
		       atomic_load(&w->in->got_n));
		usleep(TICK_US);
	}
	return NULL;
}

/* ---- the exchange ---- */

static int cannot(const struct side *x, int rc)
{
	uint32_t why = atomic_load(&x->why);

	if (why != TUX_REASON_NO_PRIVILEGE && why != TUX_REASON_NO_XDP &&
	    why != TUX_REASON_NO_ANNOUNCE)
		return rc;
	printf("cannot: %s\n", tux_reason_sentence(why));
	return CANNOT;
}

static int carry(struct tux_stack *s, int fd, bool active, unsigned seconds,
		 uint64_t seed)
{
	static struct payloads out, in;
	struct watch w = { .out = &out, .in = &in };
	const char *wrong;
	struct side x;
	pthread_t t;
	int rc;

	payloads_init(&out, 2 * seed + active, UINT32_MAX, MAX);
	payloads_init(&in, 2 * seed + !active, UINT32_MAX, MAX);
	side_open(&x, s, fd, active, NULL, 0);
	w.x = &x;
	pthread_create(&t, NULL, watch, &w);
	wrong = payloads_exchange(&x, &out, &in, seconds ?
				 tux_clock_read() + TUX_SEC(seconds) :
				 TUX_NEVER);
	atomic_store(&w.stop, true);
	pthread_join(t, NULL);
	printf("messages %u bytes %" PRIu64 "\n", in.got_n, in.bytes);
	if (wrong)
		printf("wrong: %s\n", wrong);
	rc = cannot(&x, wrong != NULL);
	side_close(&x, false);
	side_free(&x);
	tux_stack_count(s);
	tux_stack_free(s);
	return whole ? rc : 1;
}

/* What the caller asks for comes first, as plain TCP. */
struct request {
	uint32_t seconds, seed;
};

static int serve(const char *io, const char *ip, unsigned threads)
{
	struct tux_stack *s = begin(io, threads);
	struct request r;
	uint16_t port;
	int l = side_listen_at(s, ip, &port), fd;

	printf("port %u\n", port);
	fd = accept(l, NULL, NULL);
	if (recv(fd, &r, sizeof(r), MSG_WAITALL) != sizeof(r))
		return 1;
	return carry(s, fd, false, r.seconds, r.seed);
}

static int call(const char *io, const char *ip, uint16_t port,
		unsigned threads, struct request r)
{
	struct tux_stack *s = begin(io, threads);
	int fd = side_connect_to(s, ip, port);

	if (send(fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
		return 1;
	return carry(s, fd, true, r.seconds, r.seed);
}

static unsigned number(const char *s, unsigned max)
{
	unsigned long n = strtoul(s, NULL, 10);

	if (n > max) {
		fprintf(stderr, "message_peer: %s is too many\n", s);
		exit(2);
	}
	return (unsigned)n;
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, on_term);
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(LIMIT_S);
	if (argc == 5 && !strcmp(argv[1], "serve"))
		return serve(argv[2], argv[3], number(argv[4], 16));
	if (argc == 8 && !strcmp(argv[1], "call"))
		return call(argv[2], argv[3],
			    (uint16_t)number(argv[4], UINT16_MAX),
			    number(argv[5], 16), (struct request){
				number(argv[6], SECONDS_MAX),
				number(argv[7], UINT32_MAX) });
	fputs("usage: message_peer serve IO IP THREADS\n"
	      "       message_peer call IO IP PORT THREADS SECONDS SEED\n", stderr);
	return 2;
}
