/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load - how fast a server answers, over kernel TCP as it is, or over Tux under
 * tuxrun
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../contrib/tuxkv/tpcc.h"
#include "fill.h"
#include "option.h"
#include "run.h"
#include "sys/clock.h"

static const tux_time GO_WITHIN = TUX_SEC(60), GO_LOOK = TUX_MSEC(20);

struct load {
	struct run_opts run;
	tux_time warmup, time, quiet;
	uint64_t requests;		/* 0: for `time` */
	const char *go;			/* a file; NULL */
	bool filled;
};

static const char usage_text[] =
"usage: bench/load --port P [OPTION]...\n"
"  --host A          IPv4 address of the server (127.0.0.1)\n"
"  --protocol NAME   what to ask (echo):";

static const char usage_options[] =
"  --transport NAME  how bytes travel (tcp): tcp, or by the library, linked\n"
"                    in: messages (not redis, memcached), stream\n"
"  --interface NAME  of the library: only over it; any but lo else\n"
"  --udp             of the library: UDP sockets, not AF_XDP\n"
"  --size BYTES      of a value or an echo (64)\n"
"  --keys N          different keys; of ycsb records, of tpcc warehouses\n"
"                    (1000)\n"
"  --filled          there is a value under each key already\n"
"  --zipf            of ycsb: some records much more often (0.99)\n"
"  --connections N   (1)\n"
"  --in-flight N     questions under way per connection, at most (1)\n"
"  --rate R          open loop: so many questions per second in all, at\n"
"                    Poisson instants; latency counts from the instant\n"
"  --seconds S       how long to measure (3)\n"
"  --requests N      measure so many answers instead\n"
"  --warm-up S       run for so long before (1)\n"
"  --go FILE         and on, until this file is there, for a minute at most\n"
"  --quiet S         after that be silent for so long, and tell the CPU of\n"
"                    the others meanwhile\n"
"  --seed N          of the keys and the instants (1)\n"
"  --spin            ask the kernel again and again instead of waiting\n"
"  --cpu-of PID      count this process in cpu_all, too; may be given often\n"
"Every byte of every answer is compared.  Prints \"measuring\" when it begins\n"
"to, and ends with a line\n"
"  rate=1/S p50=US p99=US p99.9=US max=US errors=N cpu=US cpu_all=US ...\n"
"where cpu is that of this process per operation.  Exit status 1: errors.\n";

static void usage(FILE *to, int code)
{
	unsigned i;

	fputs(usage_text, to);
	for (i = 0; talk_name(i); i++)
		fprintf(to, " %s", talk_name(i));
	fprintf(to, "\n%s", usage_options);
	exit(code);
}

static void add_process(struct report *r, const char *pid)
{
	uint64_t n = option_number("cpu-of", pid, 1, INT32_MAX);
	int err = cpu_add(&r->others, (pid_t)n);

	if (err)
		option_fail(1, "--cpu-of %s: %s", pid, strerror(-err));
}

static const struct option options[] = {
	{ "host", 1, 0, 'h' }, { "port", 1, 0, 'p' },
	{ "protocol", 1, 0, 'P' }, { "transport", 1, 0, 'T' },
	{ "size", 1, 0, 'z' }, { "keys", 1, 0, 'k' },
	{ "connections", 1, 0, 'c' }, { "in-flight", 1, 0, 'f' },
	{ "rate", 1, 0, 'r' }, { "seconds", 1, 0, 't' },
	{ "requests", 1, 0, 'n' }, { "warm-up", 1, 0, 'w' },
	{ "go", 1, 0, 'g' }, { "quiet", 1, 0, 'q' }, { "seed", 1, 0, 's' },
	{ "spin", 0, 0, 'S' }, { "cpu-of", 1, 0, 'C' },
	{ "interface", 1, 0, 'i' }, { "udp", 0, 0, 'u' },
	{ "zipf", 0, 0, 'Z' }, { "filled", 0, 0, 'F' },
	{ "help", 0, 0, 'H' }, { 0 },
};

static void take(struct load *l, struct report *rep, int k, const char *what)
{
	struct run_opts *o = &l->run;

	switch (k) {
	case 'h': o->to.host = optarg; break;
	case 'p':
		o->to.port = (uint16_t)option_number(what, optarg, 1, 65535);
		break;
	case 'P':
		o->talk = talk_find(optarg);
		if (!o->talk)
			option_fail(2, "no protocol %s", optarg);
		break;
	case 'T':
		o->transport = transport_find(optarg);
		if (!o->transport)
			option_fail(2, "no transport %s", optarg);
		break;
	case 'z':
		o->size = (uint32_t)option_number(what, optarg, 1, 64 << 20);
		break;
	case 'k':
		o->keys = (uint32_t)option_number(what, optarg, 1, 1 << 30);
		break;
	case 'c':
		o->conns = (uint32_t)option_number(what, optarg, 1, 60000);
		break;
	case 'f':
		o->depth = (uint32_t)option_number(what, optarg, 1, 65536);
		break;
	case 'r': o->rate = option_rate(what, optarg); break;
	case 't': l->time = option_seconds(what, optarg); break;
	case 'n':
		l->requests = option_number(what, optarg, 1, UINT64_MAX);
		break;
	case 'w': l->warmup = option_seconds(what, optarg); break;
	case 'g': l->go = optarg; break;
	case 'q': l->quiet = option_seconds(what, optarg); break;
	case 's': o->seed = option_number(what, optarg, 0, UINT64_MAX); break;
	case 'S': o->to.spin = true; break;
	case 'Z': o->zipf = true; break;
	case 'F': l->filled = true; break;
	case 'i': o->to.interface = optarg; break;
	case 'u': o->to.udp = true; break;
	case 'C': add_process(rep, optarg); break;
	case 'H': usage(stdout, 0); break;
	default: usage(stderr, 2);
	}
}

static void parse(struct load *l, struct report *rep, int argc, char **argv)
{
	int k, i = 0;

	while ((k = getopt_long(argc, argv, "", options, &i)) != -1)
		take(l, rep, k, options[i].name);
	if (optind != argc || !l->run.to.port)
		usage(stderr, 2);
	if ((l->run.transport == &transport_messages ||
	     l->run.transport == &transport_ordered) &&
	    l->run.talk != &talk_echo && !l->run.talk->any_order)
		option_fail(2, "%s is not in messages", l->run.talk->name);
	if (l->run.zipf && (!l->run.talk->any_order || l->run.talk->is_long))
		option_fail(2, "%s has no --zipf", l->run.talk->name);
	if (l->run.talk == &talk_tpcc && l->run.keys > TPCC_WAREHOUSES_MAX)
		option_fail(2, "--keys %u: more warehouses than there may be",
			    l->run.keys);
	l->run.to.own_len = l->run.talk->any_order;
	l->run.to.record = l->run.talk->any_order ?
			   (uint32_t)l->run.talk->room : l->run.size;
}

/* Descriptors for all connections; sleeps that end when they are told to. */
static void prepare(void)
{
	struct rlimit files;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	prctl(PR_SET_TIMERSLACK, 1);
}

static uint32_t moved(struct run *r)
{
	return r->by->ops->moved ? r->by->ops->moved(r->by) : r->o.conns;
}

static void warm_up(struct run *r, const struct load *l)
{
	tux_time end = tux_clock_read() + GO_WITHIN;

	if (l->warmup)
		run_ask(r, l->warmup, 0, false);
	while (((l->go && access(l->go, F_OK)) || moved(r) < r->o.conns) &&
	       r->alive_n && tux_clock_read() < end)
		run_ask(r, GO_LOOK, 0, false);
	if (r->by->ops->moved)
		printf("moved=%u\n", moved(r));
}

static void be_quiet(struct run *r, const struct load *l)
{
	run_rest(r, 0);
	report_begin(r->report, tux_clock_read());
	run_rest(r, l->quiet);
	report_end(r->report, tux_clock_read());
	printf("quiet_cpu_percent=%.3f\n", report_percent(r->report));
}

static void measure(struct run *r, const struct load *l)
{
	warm_up(r, l);
	if (l->quiet)
		be_quiet(r, l);
	puts("measuring");
	report_begin(r->report, tux_clock_read());
	run_ask(r, l->time, l->requests, true);
	report_end(r->report, tux_clock_read());
	run_rest(r, 0);
	report_print(r->report);
}

int main(int argc, char **argv)
{
	static struct report report;
	static struct load l = {
		.run = { .to.host = "127.0.0.1", .size = 64, .keys = 1000,
			 .conns = 1, .depth = 1, .seed = 1 },
		.warmup = TUX_SEC(1), .time = TUX_SEC(3),
	};
	struct run run;
	int err;

	l.run.talk = &talk_echo;
	l.run.transport = &transport_tcp;
	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(&l, &report, argc, argv);
	prepare();
	err = l.filled ? 0 : fill(&l.run);
	if (err)
		option_fail(1, "could not fill: %s", strerror(-err));
	err = run_init(&run, &l.run, &report);
	if (err)
		option_fail(1, "%s port %u: %s", l.run.to.host, l.run.to.port,
			    strerror(-err));
	measure(&run, &l);
	run_fini(&run);
	return report.errors ? 1 : 0;
}
