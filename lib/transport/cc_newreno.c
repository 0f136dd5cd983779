/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc_newreno - the congestion controller of RFC 5681 and RFC 6582
 *
 * Slow start and congestion avoidance count bytes, not acknowledgments (RFC
 * 3465), because one acknowledgment covers several packets.
 */
#include "transport/cc.h"

static void newreno_init(struct tux_cc *cc)
{
	cc->w.acked = 0;
}

/* Half of cwnd, at least two packets. */
static uint64_t newreno_half(const struct tux_cc *cc)
{
	uint64_t least = 2 * (uint64_t)cc->mss;

	return cc->w.cwnd / 2 > least ? cc->w.cwnd / 2 : least;
}

static void newreno_acked(struct tux_cc *cc, const struct tux_cc_ack *a,
			  tux_time now)
{
	struct tux_cc_window *w = &cc->w;

	/* One packet more for each window of bytes that is acknowledged. */
	w->acked += tux_cc_slow_start(cc, a, now);
	while (w->acked >= w->cwnd) {
		w->acked -= w->cwnd;
		w->cwnd += cc->mss;
	}
}

static void newreno_reduce(struct tux_cc *cc)
{
	cc->w.ssthresh = cc->w.cwnd = newreno_half(cc);
	cc->w.acked = 0;
}

static void newreno_timeout(struct tux_cc *cc)
{
	/* A window of one packet has not grown since the last timeout: this is
	 * the same event, and ssthresh stays (RFC 5681, 3.1). */
	if (cc->w.cwnd > cc->mss)
		cc->w.ssthresh = newreno_half(cc);
	cc->w.cwnd = cc->mss;
	cc->w.acked = 0;
}

const struct tux_cc_ops tux_cc_newreno = {
	.name = "newreno",
	.init = newreno_init,
	.acked = newreno_acked,
	.reduce = newreno_reduce,
	.timeout = newreno_timeout,
};
