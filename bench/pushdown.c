/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pushdown - sends back what it receives, from callbacks on the network's
 * thread: messages as messages, bytes of streams as bytes
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "option.h"
#include "sys/clock.h"
#include "tick/tick.h"
#include "tux.h"

enum { CHUNK = 65536, GROUP = 64, MESSAGE_MAX = 1 << 17, ROOM_NS = 10000 };

struct pushdown {
	struct tux_opts opts;
	const char *host;
	uint16_t port;
};

static tux_time work;			/* for each message, or read */

/* What callbacks have done, and how long they took; of one thread only. */
static bool account;
static uint64_t bytes;
static tux_tick spent;
static volatile sig_atomic_t asked;

static void count(size_t n, tux_tick from)
{
	if (!account)
		return;
	bytes += n;
	spent += tux_tick_read() - from;
}

/* What a database would do for a question. */
static void compute(void)
{
	tux_time until = tux_clock_read() + work;

	while (work && tux_clock_read() < until)
		;
}

/* Where there is no room, the routine waits; that is not its callback's time. */
static int echo(struct tux_connection *c, const struct tux_message *m,
		tux_tick *from)
{
	int err;

	compute();
	while ((err = tux_send(c, m->p, m->len, m->flags & TUX_ORDERED)) ==
	       -EAGAIN) {
		count(0, *from);
		tux_sleep(ROOM_NS);
		*from = tux_tick_read();
	}
	return err;
}

static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	tux_tick from = tux_tick_read();
	size_t len = 0;

	(void)arg;
	for (; n; n--, m++) {
		if (echo(c, m, &from)) {
			tux_abort(c);
			break;
		}
		len += m->len;
	}
	count(len, from);
}

static void on_stream(struct tux_connection *c, void *arg)
{
	tux_tick from = tux_tick_read();
	char buf[CHUNK];
	ssize_t n, k = 1;
	size_t len = 0;

	(void)arg;
	while (k > 0 && (n = tux_peek(c, buf, sizeof(buf))) > 0) {
		compute();
		k = tux_write(c, buf, (size_t)n);
		if (k > 0) {
			tux_read(c, buf, (size_t)k);
			len += (size_t)k;
		}
	}
	if (k > 0 && n == 0)
		tux_disconnect(c);
	count(len, from);
}

/* ---- an account of where the time goes ---- */

static void ask(int sig)
{
	(void)sig;
	asked = 1;
}

static void give_account(const struct tux *t)
{
	struct tux_loop_stats st;

	asked = 0;
	tux_loop_stats(t, 0, &st, sizeof(st));
	printf("bytes=%" PRIu64 " callbacks=%" PRIu64 " packets=%" PRIu64
	       " network_ns=%" PRIu64 " slices_ns=%" PRIu64
	       " callback_ns=%" PRIu64 "\n", bytes, st.callbacks,
	       st.packets_rx + st.packets_tx, st.network_ns, st.slices_ns,
	       tux_tick_ns(spent));
	fflush(stdout);
}

/* ---- the server ---- */

static int turn_and_tell(struct tux *t)
{
	int err;

	signal(SIGUSR1, ask);
	do {
		err = tux_turn(t);
		if (asked)
			give_account(t);
	} while (err >= 0);
	return err;
}

static void serve(const struct pushdown *p)
{
	struct tux_service *s;
	struct tux *t;
	int err = tux_open(&t, &p->opts);

	if (!err)
		err = tux_service_new(t, &s);
	if (err)
		option_fail(1, "%s", strerror(-err));
	tux_on_message(s, on_message, NULL);
	tux_on_stream(s, on_stream, NULL);
	tux_on_room(s, on_stream, NULL);
	tux_set_group(s, GROUP);
	err = tux_listen(s, p->host, p->port);
	if (err)
		option_fail(1, "%s port %u: %s", p->host, p->port,
			    strerror(-err));
	err = account ? turn_and_tell(t) : tux_run(t);
	option_fail(1, "%s", strerror(-err));
}

static const char usage_text[] =
"usage: bench/pushdown --port P [--host A] [--interface NAME] [--udp] [--spin]\n"
"                      [--slice US] [--threads N | --threads M-N] [--work US]\n"
"                      [--account]\n"
"Sends back what it receives, until it is ended.\n"
"  --interface NAME  only connections over it leave TCP (any but lo)\n"
"  --udp             over UDP sockets, not AF_XDP\n"
"  --slice US        of callbacks, 5 to 1000 (100); 0: none is preempted\n"
"  --spin            never sleeps\n"
"  --threads N       network threads, 1 to 16 (1); M-N: as many as are busy, but\n"
"                    at least M\n"
"  --work US         it computes for so long before each answer (0)\n"
"  --account         spins, and prints at each SIGUSR1 what it has done and how\n"
"                    long that took\n";

static void usage(FILE *to, int code)
{
	fputs(usage_text, to);
	exit(code);
}

static void take_threads(struct tux_opts *o, char *arg)
{
	char *to = strchr(arg, '-');

	if (to) {
		*to++ = 0;
		o->threads_min = (unsigned)option_number("threads", arg, 1,
							 TUX_THREADS_MAX);
	}
	o->threads = (unsigned)option_number("threads", to ? to : arg, 1,
					     TUX_THREADS_MAX);
}

static void take(struct pushdown *p, int k)
{
	uint64_t us;

	switch (k) {
	case 'h': p->host = optarg; break;
	case 'p':
		p->port = (uint16_t)option_number("port", optarg, 1, 65535);
		break;
	case 'i': p->opts.ifname = optarg; break;
	case 'u': p->opts.backend = TUX_BACKEND_UDP; break;
	case 'a':
		account = true;
		__attribute__((fallthrough));
	case 's': p->opts.spin = 1; break;
	case 'l':
		us = option_number("slice", optarg, 0, 1000);
		p->opts.slice_ns = us ? us * 1000 : TUX_NO_SLICE;
		break;
	case 't':
		take_threads(&p->opts, optarg);
		break;
	case 'w':
		work = TUX_USEC(option_number("work", optarg, 0, 1000000));
		break;
	case 'H': usage(stdout, 0); break;
	default: usage(stderr, 2);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "host", 1, 0, 'h' }, { "port", 1, 0, 'p' },
		{ "interface", 1, 0, 'i' }, { "udp", 0, 0, 'u' },
		{ "spin", 0, 0, 's' }, { "slice", 1, 0, 'l' },
		{ "threads", 1, 0, 't' }, { "work", 1, 0, 'w' },
		{ "account", 0, 0, 'a' }, { "help", 0, 0, 'H' }, { 0 },
	};
	struct pushdown p = {
		.opts = {
			.size = sizeof(p.opts), .message_max = MESSAGE_MAX,
			.path = TUX_USE_TUX,
		},
		.host = "0.0.0.0",
	};
	struct rlimit files;
	int k;

	while ((k = getopt_long(argc, argv, "", options, NULL)) != -1)
		take(&p, k);
	if (optind != argc || !p.port || (account && p.opts.threads > 1))
		usage(stderr, 2);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	serve(&p);
	return 1;
}
