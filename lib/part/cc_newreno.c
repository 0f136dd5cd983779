/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc_newreno - RFC 5681 with RFC 6582's idea of a recovery
 *
 * Slow start and congestion avoidance count bytes, not acks (RFC 3465), since
 * one ack settles several packets.  All losses of packets that left before the
 * window was last reduced are one event, and reduce it once.
 */
#include "part/cc.h"

static void newreno_init(struct tux_cc *cc)
{
	cc->acked = 0;
	cc->recover_at = 0;
}

static uint64_t half(const struct tux_cc *cc)
{
	uint64_t least = 2 * (uint64_t)cc->mss;

	return cc->cwnd / 2 > least ? cc->cwnd / 2 : least;
}

static void newreno_acked(struct tux_cc *cc, uint64_t bytes, int full,
			  tux_time now)
{
	(void)now;
	/* A window that is not in use says nothing about the path. */
	if (!full)
		return;
	if (cc->cwnd < cc->ssthresh) {
		uint64_t left = cc->ssthresh - cc->cwnd;
		uint64_t grow = bytes < left ? bytes : left;

		cc->cwnd += grow;
		bytes -= grow;
	}
	/* One more packet for each window that has arrived. */
	cc->acked += bytes;
	while (cc->acked >= cc->cwnd) {
		cc->acked -= cc->cwnd;
		cc->cwnd += cc->mss;
	}
}

static void newreno_lost(struct tux_cc *cc, tux_time sent_at, tux_time now)
{
	if (sent_at < cc->recover_at)
		return;
	cc->ssthresh = cc->cwnd = half(cc);
	cc->acked = 0;
	cc->recover_at = now;
}

static void newreno_timeout(struct tux_cc *cc, tux_time now)
{
	/* At one packet, nothing has arrived since the last timeout: it is the
	 * same event, and ssthresh stays (RFC 5681, equation 4). */
	if (cc->cwnd > cc->mss)
		cc->ssthresh = half(cc);
	cc->cwnd = cc->mss;
	cc->acked = 0;
	cc->recover_at = now;
}

const struct tux_cc_ops tux_cc_newreno = {
	.name = "newreno",
	.init = newreno_init,
	.acked = newreno_acked,
	.lost = newreno_lost,
	.timeout = newreno_timeout,
};
