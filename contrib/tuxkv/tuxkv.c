/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tuxkv - a transactional server: stored procedures on LMDB, run in callbacks on the
 * network thread.  README says how it is built.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "serve.h"
#include "tpcc.h"
#include "tpcc_procs.h"
#include "workers.h"
#include "ycsb.h"

struct tuxkv {
	struct serve_opts serve;
	const char *dir;
	bool sockets, sync, check;
	unsigned group, warehouses;
	uint64_t records, size;
};

static const char usage_text[] =
"usage: tuxkv --dir DIRECTORY [OPTION]...\n"
"Serves stored procedures on the database in DIRECTORY, until SIGTERM.\n"
"  --host A          numeric address, of IPv4 with --sockets (127.0.0.1)\n"
"  --port P          0: any, and \"port P\" is printed (0)\n"
"  --records N       makes N records for YCSB, unless they are there (0)\n"
"  --warehouses N    makes N warehouses for TPC-C, unless they are there (0)\n"
"  --check           serves nothing: says whether TPC-C's consistency conditions\n"
"                    hold; if not, the exit status is 1\n"
"  --sync            an answer says that the disk has what was changed\n"
"  --size GB         to which the database may grow (16)\n"
"  --group N         requests in one transaction, at most 64 (32)\n"
"  --sockets         over sockets: a thread reads, and workers run procedures\n"
"  --workers N       threads, at most 16; with --sockets at least one.  Without,\n"
"                    they run the long procedures, and callbacks run the others;\n"
"                    0: callbacks run all (0)\n"
"Not with --sockets:\n"
"  --interface NAME  only connections over it leave TCP (any but lo)\n"
"  --udp             over UDP sockets, not AF_XDP\n"
"  --slice US        of callbacks, 5 to 1000; 0: none is preempted, and with\n"
"                    --sync the network waits for the disk (100)\n"
"  --spin            the network thread never sleeps\n";

static void usage(FILE *to, int code)
{
	fputs(usage_text, to);
	exit(code);
}

static uint64_t number(const char *text, uint64_t min, uint64_t max)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (*end || *text < '0' || *text > '9' || n < min || n > max) {
		fprintf(stderr, "tuxkv: %s: not a number from %llu to %llu\n",
			text, (unsigned long long)min, (unsigned long long)max);
		exit(2);
	}
	return n;
}

static void take(struct tuxkv *k, int what, const char *value)
{
	struct serve_opts *o = &k->serve;
	uint64_t us;

	switch (what) {
	case 'd': k->dir = value; break;
	case 'h': o->host = value; break;
	case 'p': o->port = (uint16_t)number(value, 0, 65535); break;
	case 'r': k->records = number(value, 0, UINT32_MAX); break;
	case 'W':
		k->warehouses = (unsigned)number(value, 0, TPCC_WAREHOUSES_MAX);
		break;
	case 'c': k->check = true; break;
	case 'S': k->sync = true; break;
	case 'z': k->size = number(value, 1, 1024) << 30; break;
	case 'g': k->group = (unsigned)number(value, 1, GROUP_MAX); break;
	case 'o': k->sockets = true; break;
	case 'w': o->workers = (unsigned)number(value, 0, WORKERS_MAX); break;
	case 'i': o->tux.ifname = value; break;
	case 'u': o->tux.backend = TUX_BACKEND_UDP; break;
	case 'l':
		us = strcmp(value, "0") ? number(value, 5, 1000) : 0;
		o->tux.slice_ns = us ? us * 1000 : TUX_NO_SLICE;
		break;
	case 's': o->tux.spin = 1; break;
	case 'H': usage(stdout, 0); break;
	default: usage(stderr, 2);
	}
}

static void parse(struct tuxkv *k, int argc, char **argv)
{
	static const struct option options[] = {
		{ "dir", 1, 0, 'd' }, { "host", 1, 0, 'h' },
		{ "port", 1, 0, 'p' }, { "records", 1, 0, 'r' },
		{ "warehouses", 1, 0, 'W' }, { "check", 0, 0, 'c' },
		{ "sync", 0, 0, 'S' }, { "size", 1, 0, 'z' },
		{ "group", 1, 0, 'g' }, { "sockets", 0, 0, 'o' },
		{ "workers", 1, 0, 'w' }, { "interface", 1, 0, 'i' },
		{ "udp", 0, 0, 'u' }, { "slice", 1, 0, 'l' },
		{ "spin", 0, 0, 's' }, { "help", 0, 0, 'H' }, { 0 },
	};
	int what;

	while ((what = getopt_long(argc, argv, "", options, NULL)) != -1)
		take(k, what, optarg);
	if (optind != argc || !k->dir)
		usage(stderr, 2);
}

static int fail(const char *what, int err)
{
	fprintf(stderr, "tuxkv: %s: %s\n", what, strerror(-err));
	return 1;
}

static void allow_files(void)
{
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
}

static int check(struct store *s)
{
	int n = tpcc_check(s);

	if (n == -ENOENT)
		fputs("tuxkv: there are no warehouses\n", stderr);
	else if (n < 0)
		return fail("could not check", n);
	if (!n)
		puts("consistent");
	return n != 0;
}

static int prepare(struct engine *e, const struct tuxkv *k)
{
	int err = ycsb_load(&e->store, k->records);

	return err ? err : tpcc_load(&e->store, k->warehouses);
}

int main(int argc, char **argv)
{
	static struct engine e;
	struct tuxkv k = {
		.serve = {
			.host = "127.0.0.1",
			.tux = { .size = sizeof(k.serve.tux) },
		},
		.group = 32, .size = UINT64_C(16) << 30,
	};
	int err;

	parse(&k, argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	allow_files();
	e.group = k.group;
	err = store_open(&e.store, k.dir, k.size,
			 k.check ? STORE_LOOK :
			 k.sync ? STORE_SYNC : STORE_FAST);
	if (err)
		return fail(k.dir, err);
	if (k.check)
		return check(&e.store);
	err = prepare(&e, &k);
	if (err)
		return fail("could not make the tables", err);
	err = k.sockets ? serve_sockets(&e, &k.serve) :
			  serve_push(&e, &k.serve);
	store_close(&e.store);
	return err ? fail(k.serve.host, err) : 0;
}
