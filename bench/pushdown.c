/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pushdown - sends back what it receives, from callbacks on the network's
 * thread: messages as messages, bytes of streams as bytes
 */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "option.h"
#include "tux.h"

enum { CHUNK = 65536, GROUP = 64, MESSAGE_MAX = 1 << 17 };

struct pushdown {
	struct tux_opts opts;
	const char *host;
	uint16_t port;
	bool spin;
};

/* An echo that finds no room is as lost to the client as an answer that does
 * not come, and counted there. */
static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	(void)arg;
	for (; n; n--, m++)
		if (tux_send(c, m->p, m->len, m->flags & TUX_ORDERED)) {
			tux_abort(c);
			return;
		}
}

static void on_stream(struct tux_connection *c, void *arg)
{
	char buf[CHUNK];
	ssize_t n, k;

	(void)arg;
	while ((n = tux_peek(c, buf, sizeof(buf))) > 0) {
		k = tux_write(c, buf, (size_t)n);
		if (k <= 0)
			return;
		tux_read(c, buf, (size_t)k);
	}
	if (n == 0)
		tux_disconnect(c);
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
	while (p->spin && err >= 0)
		err = tux_turn(t);
	if (!p->spin)
		err = tux_run(t);
	option_fail(1, "%s", strerror(-err));
}

static const char usage_text[] =
"usage: bench/pushdown --port P [--host A] [--interface NAME] [--udp] [--spin]\n"
"                      [--slice US]\n"
"Sends back what it receives, until it is ended.\n"
"  --interface NAME  only connections over it leave TCP (any but lo)\n"
"  --udp             over UDP sockets, not AF_XDP\n"
"  --slice US        of callbacks, 5 to 1000 (100); 0: none is preempted\n"
"  --spin            never sleeps\n";

static void usage(FILE *to, int code)
{
	fputs(usage_text, to);
	exit(code);
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
	case 's': p->spin = true; break;
	case 'l':
		us = option_number("slice", optarg, 0, 1000);
		p->opts.slice_ns = us ? us * 1000 : TUX_NO_SLICE;
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
		{ "help", 0, 0, 'H' }, { 0 },
	};
	struct pushdown p = {
		.opts = { .size = sizeof(p.opts), .message_max = MESSAGE_MAX },
		.host = "0.0.0.0",
	};
	struct rlimit files;
	int k;

	while ((k = getopt_long(argc, argv, "", options, NULL)) != -1)
		take(&p, k);
	if (optind != argc || !p.port)
		usage(stderr, 2);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	serve(&p);
	return 1;
}
