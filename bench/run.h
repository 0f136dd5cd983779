/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run - one measurement: connections, who asks when, and what is counted
 *
 * Closed loop: each connection always has so many questions under way.  Open
 * loop: questions come at a rate, whatever the server does; the first
 * connection with room takes the next one, and its latency counts from when it
 * was due.
 */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include "arrivals.h"
#include "conn.h"
#include "report.h"
#include "talk.h"
#include "transport.h"

struct run_opts {
	struct transport_opts to;
	const struct transport_ops *transport;
	const struct talk_ops *talk;
	uint32_t size, keys;
	bool zipf;			/* numbered questions: see talk.h */
	uint32_t conns, depth;
	double rate;			/* per second; 0: closed loop */
	uint64_t seed;
};

struct run {
	struct run_opts o;
	struct talk talk;
	struct transport *by;
	struct conn *conn;		/* o.conns */
	struct conn **free;		/* a ring of those with room */
	uint32_t free_first, free_n;
	uint32_t alive_n;
	struct arrivals due;		/* open loop */
	struct tux_rng keys;		/* which key */
	uint64_t next_key;		/* echo: the next one */
	uint64_t left;			/* questions that may still be asked */
	uint64_t under_way;
	bool asks, counts;
	struct report *report;
};

/* Connects.  -errno; then run_fini() is still due. */
int run_init(struct run *r, const struct run_opts *o, struct report *report);
void run_fini(struct run *r);

/* Asks for @time, or until so many @requests are answered if that is not 0.
 * What is under way at its end stays so; answers are counted if @count. */
void run_ask(struct run *r, tux_time time, uint64_t requests, bool count);

/* Asks nothing for @time, but waits for what is under way; an answer that does
 * not come is an error. */
void run_rest(struct run *r, tux_time time);

#endif
