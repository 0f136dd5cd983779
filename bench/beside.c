/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * beside - a bulk flow beside an interactive one, both of one process, from a
 * Redis server
 *
 * One connection always has so many long values under way that it is never
 * without work.  The other sets short ones, at fixed instants, from which their
 * latency counts.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"
#include "fill.h"
#include "histogram.h"
#include "option.h"
#include "sys/clock.h"

enum {
	BULK_SIZE = 16384, BULK_KEYS = 64, BULK_DEPTH = 64,
	SMALL_SIZE = 100, SMALL_KEYS = 1000,	/* behind those of the bulk */
	SMALL_DEPTH = 1024,
};

static const tux_time SMALL_EVERY = TUX_USEC(500);

struct flow {
	struct talk talk;
	struct conn conn;
	uint64_t asked;			/* questions so far */
};

struct beside {
	struct run_opts fill;
	tux_time warmup, time;
	struct flow bulk, small;
	tux_time due;			/* the next short one */
	bool counts;
	uint64_t values;		/* long ones that came while it counts */
	struct histogram latency;	/* of the short ones */
};

static const char usage_text[] =
"usage: bench/beside --port P [OPTION]...\n"
"  --host A       IPv4 address of a Redis server (127.0.0.1)\n"
"  --seconds S    how long to measure (3)\n"
"  --warm-up S    run for so long before (1)\n"
"Asks for values of 16 KB, 64 at a time, on one connection, and sets values\n"
"of 100 B, 2000 per second, on another.  Every byte of every answer is\n"
"compared.  Ends with a line\n"
"  rate=MB/S p50=US p99=US max=US\n"
"of the long values' bytes and of the short ones' latencies.\n";

static void usage(FILE *to, int code)
{
	fputs(usage_text, to);
	exit(code);
}

static void parse(struct beside *b, int argc, char **argv)
{
	static const struct option options[] = {
		{ "host", 1, 0, 'h' }, { "port", 1, 0, 'p' },
		{ "seconds", 1, 0, 't' }, { "warm-up", 1, 0, 'w' },
		{ "help", 0, 0, 'H' }, { 0 },
	};
	struct transport_opts *to = &b->fill.to;
	int k;

	while ((k = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (k) {
		case 'h': to->host = optarg; break;
		case 'p':
			to->port = (uint16_t)option_number("port", optarg, 1,
							   65535);
			break;
		case 't': b->time = option_seconds("seconds", optarg); break;
		case 'w': b->warmup = option_seconds("warm-up", optarg); break;
		case 'H': usage(stdout, 0); break;
		default: usage(stderr, 2);
		}
	}
	if (optind != argc || !to->port)
		usage(stderr, 2);
}

static void must(int err, const char *what)
{
	if (err < 0)
		option_fail(1, "%s: %s", what, strerror(-err));
}

/* ---- the two flows ---- */

/* As many as there is room for. */
static void ask_bulk(struct beside *b, tux_time now)
{
	struct flow *f = &b->bulk;

	while (conn_room(&f->conn))
		conn_ask(&f->conn, f->asked++ % BULK_KEYS, now);
	must(conn_flush(&f->conn), "bulk");
}

/* Those that are due by @now, as far as there is room for them. */
static void ask_small(struct beside *b, tux_time now)
{
	struct flow *f = &b->small;

	while (b->due <= now && conn_room(&f->conn)) {
		conn_ask(&f->conn, BULK_KEYS + f->asked++ % SMALL_KEYS, b->due);
		b->due += SMALL_EVERY;
	}
	must(conn_flush(&f->conn), "interactive");
}

static void answered(struct beside *b, struct conn *c, tux_time meant,
		     tux_time now)
{
	if (c == &b->bulk.conn) {
		b->values += b->counts;
		ask_bulk(b, now);
	} else if (b->counts) {
		histogram_add(&b->latency, tux_time_since(meant, now));
	}
}

static void serve(struct beside *b, struct conn *c)
{
	ssize_t n = conn_recv(c);
	tux_time now = tux_clock_read();
	struct conn_ask of;
	int r = 0;

	if (n != -EAGAIN)
		must((int)n, "receiving");
	while (n > 0 && (r = conn_answer(c, &of)) > 0)
		answered(b, c, of.meant, now);
	must(r, "an answer");
	must(conn_flush(c), "sending");
}

/* When to look again, whatever comes: at @end at the latest. */
static tux_time next(const struct beside *b, tux_time end)
{
	return conn_room(&b->small.conn) ? tux_time_min(end, b->due) : end;
}

/* For @time, counting if @counts; how long it took. */
static tux_time play(struct beside *b, tux_time time, bool counts)
{
	tux_time began = tux_clock_read(), now = began;
	struct transport *by = b->bulk.conn.by;
	void *ready[TRANSPORT_READY];
	int i, n;

	b->counts = counts;
	while (now - began < time) {
		ask_small(b, now);
		n = by->ops->wait(by, next(b, began + time), ready);
		for (i = 0; i < n; i++)
			serve(b, ready[i]);
		now = tux_clock_read();
	}
	return now - began;
}

/* ---- beginning and end ---- */

static void open_flow(struct flow *f, struct transport *by,
		      const struct talk_ops *ops, uint32_t size, uint32_t depth)
{
	must(talk_init(&f->talk, ops, size, BULK_KEYS + SMALL_KEYS), "memory");
	must(conn_open(&f->conn, by, &f->talk, depth), "connecting");
}

static void close_flow(struct flow *f)
{
	conn_close(&f->conn);
	talk_fini(&f->talk);
}

static double micros(const struct beside *b, double per_mille)
{
	return (double)histogram_at(&b->latency, per_mille) / 1000;
}

static void print(const struct beside *b, tux_time took)
{
	double bytes = (double)b->values * BULK_SIZE;

	printf("rate=%.1f p50=%.2f p99=%.2f max=%.2f\n",
	       bytes * 1e3 / (double)took, micros(b, 500), micros(b, 990),
	       (double)b->latency.max / 1000);
}

int main(int argc, char **argv)
{
	static struct beside b = {
		.fill = { .to.host = "127.0.0.1", .size = BULK_SIZE,
			  .keys = BULK_KEYS, .talk = &talk_redis_get,
			  .transport = &transport_tcp },
		.warmup = TUX_SEC(1), .time = TUX_SEC(3),
	};
	struct transport *by;

	parse(&b, argc, argv);
	must(fill(&b.fill), "filling");
	must(transport_tcp.open(&by, &b.fill.to), "opening");
	open_flow(&b.bulk, by, &talk_redis_get, BULK_SIZE, BULK_DEPTH);
	open_flow(&b.small, by, &talk_redis_set, SMALL_SIZE, SMALL_DEPTH);
	b.due = tux_clock_read();
	ask_bulk(&b, b.due);
	play(&b, b.warmup, false);
	print(&b, play(&b, b.time, true));
	close_flow(&b.bulk);
	close_flow(&b.small);
	by->ops->close(by);
	return 0;
}
