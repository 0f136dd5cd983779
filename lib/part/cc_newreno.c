/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc_newreno - RFC 5681 with RFC 6582's idea of a recovery
 *
 * Slow start and congestion avoidance count bytes, not acks (RFC 3465), since
 * one ack settles several packets.
 */
#include "part/cc.h"

static void newreno_init(struct tux_cc *cc)
{
	cc->w.acked = 0;
}

static uint64_t half(const struct tux_cc *cc)
{
	uint64_t least = 2 * (uint64_t)cc->mss;

	return cc->w.cwnd / 2 > least ? cc->w.cwnd / 2 : least;
}

static void newreno_acked(struct tux_cc *cc, const struct tux_cc_ack *a,
			  tux_time now)
{
	struct tux_cc_window *w = &cc->w;

	/* One more packet for each window that has arrived. */
	w->acked += tux_cc_slow_start(cc, a, now);
	while (w->acked >= w->cwnd) {
		w->acked -= w->cwnd;
		w->cwnd += cc->mss;
	}
}

static void newreno_reduce(struct tux_cc *cc)
{
	cc->w.ssthresh = cc->w.cwnd = half(cc);
	cc->w.acked = 0;
}

static void newreno_timeout(struct tux_cc *cc)
{
	/* At one packet already, it is the same event as the last timeout, and
	 * ssthresh stays (RFC 5681, equation 4). */
	if (cc->w.cwnd > cc->mss)
		cc->w.ssthresh = half(cc);
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
