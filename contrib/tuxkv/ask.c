/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask - asks a tuxkv for records, and prints the key and the version of each: an
 * example of client.h
 *
 *   ask [--stream] [--udp] [--interface NAME] ADDRESS PORT get|rmw KEYS N
 *
 * It sends N requests, for the keys 0 to KEYS - 1 in turn, and has some under way at
 * the same time.  "rmw" changes each record before.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

enum { DEPTH = 64, PATIENCE_MS = 10000 };

struct ask {
	struct kv_client_opts opts;
	const char *host;
	uint16_t port;
	enum kv_op op;
	uint64_t keys, n;
};

static void usage(void)
{
	fputs("usage: ask [--stream] [--udp] [--interface NAME] ADDRESS PORT"
	      " get|rmw KEYS N\n", stderr);
	exit(2);
}

static void parse(struct ask *a, int argc, char **argv)
{
	static const struct option options[] = {
		{ "stream", 0, 0, 's' }, { "udp", 0, 0, 'u' },
		{ "interface", 1, 0, 'i' }, { 0 },
	};
	int k;

	while ((k = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (k) {
		case 's': a->opts.stream = true; break;
		case 'u': a->opts.udp = true; break;
		case 'i': a->opts.interface = optarg; break;
		default: usage();
		}
	argv += optind;
	if (argc - optind != 5)
		usage();
	a->host = argv[0];
	a->port = (uint16_t)atoi(argv[1]);
	a->op = strcmp(argv[2], "rmw") ? KV_GET : KV_RMW;
	a->keys = strtoull(argv[3], NULL, 10);
	a->n = strtoull(argv[4], NULL, 10);
	if (!a->keys || (a->op == KV_GET && strcmp(argv[2], "get")))
		usage();
}

/* The id of a request is its key. */
static int print_answer(const struct kv_answer *a)
{
	struct kv_record r;

	if (a->hdr.status != KV_OK || a->len != sizeof(r))
		return -EBADMSG;
	memcpy(&r, a->result, sizeof(r));
	if (!kv_record_check(&r, a->hdr.id))
		return -EBADMSG;
	printf("%" PRIu64 " %" PRIu64 "\n", r.key, r.version);
	return 0;
}

static int ask_all(const struct ask *a, struct kv_client *k)
{
	static struct kv_answer answer;
	uint64_t sent = 0, done = 0;
	int err = 0;

	while (done < a->n && !err) {
		if (sent < a->n && sent - done < DEPTH) {
			struct kv_key key = { sent++ % a->keys };

			err = kv_send(k, a->op, &key, sizeof(key), key.key);
			continue;
		}
		err = kv_receive(k, &answer, PATIENCE_MS);
		if (!err)
			err = print_answer(&answer);
		done++;
	}
	return err;
}

int main(int argc, char **argv)
{
	struct ask a = { 0 };
	struct kv_client *k;
	int err;

	parse(&a, argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	err = kv_open(&k, a.host, a.port, &a.opts);
	if (!err) {
		err = ask_all(&a, k);
		kv_close(k);
	}
	if (err)
		fprintf(stderr, "ask: %s port %u: %s\n", a.host, a.port,
			strerror(-err));
	return err != 0;
}
