/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rival's window: RFC 9438 as it is written, in floating point, so that it
 * has no line in common with lib/transport/cc_cubic.c.
 */
#include "rival.h"

static const double C = 0.4, BETA = 0.7, ALPHA = 3 * (1 - 0.7) / (1 + 0.7);

enum {
	FIRST = 10,			/* segments */
	HYSTART_CWND = 16,		/* below, it does not look */
	HYSTART_SAMPLES = 8,
};

static double max(double a, double b)
{
	return a > b ? a : b;
}

/* Newton's method, from above. */
static double cube_root(double v)
{
	double r = max(v, 1);
	unsigned i;

	for (i = 0; i < 60; i++)
		r -= (r * r * r - v) / (3 * r * r);
	return r;
}

void sim_cubic_init(struct sim_cubic *c)
{
	*c = (struct sim_cubic){
		.cwnd = FIRST, .ssthresh = 1e9, .epoch_at = TUX_NEVER,
		.min_rtt = TUX_NEVER,
	};
}

/* ---- the end of slow start ---- */

void sim_cubic_round(struct sim_cubic *c, tux_time now)
{
	c->round_at = c->ack_at = now;
	c->least = TUX_NEVER;
	c->samples = 0;
}

static bool far_enough(struct sim_cubic *c, tux_time now)
{
	tux_time more = c->min_rtt / 8;

	/* A train of acks as long as half a round trip fills the path ... */
	if (now - c->ack_at <= TUX_MSEC(2)) {
		c->ack_at = now;
		if (now - c->round_at > c->min_rtt / 2)
			return true;
	}
	/* ... and a longer round trip has filled it. */
	if (more < TUX_MSEC(4))
		more = TUX_MSEC(4);
	more = tux_time_min(more, TUX_MSEC(16));
	return c->samples >= HYSTART_SAMPLES && c->least > c->min_rtt + more;
}

void sim_cubic_rtt(struct sim_cubic *c, tux_time rtt, tux_time now)
{
	c->min_rtt = tux_time_min(c->min_rtt, rtt);
	if (c->cwnd >= c->ssthresh)
		return;
	if (c->samples < HYSTART_SAMPLES) {
		c->least = tux_time_min(c->least, rtt);
		c->samples++;
	}
	if (c->cwnd >= HYSTART_CWND && far_enough(c, now))
		c->ssthresh = c->cwnd;
}

/* ---- growth ---- */

static void begin(struct sim_cubic *c, tux_time now)
{
	c->epoch_at = now;
	c->est = c->cwnd;
	c->origin = max(c->w_max, c->cwnd);
	c->k = cube_root((c->origin - c->cwnd) / C);
}

static double cubic_at(const struct sim_cubic *c, tux_time since)
{
	double d = (double)since / 1e9 - c->k;

	return c->origin + C * d * d * d;
}

void sim_cubic_acked(struct sim_cubic *c, unsigned n, tux_time now)
{
	double target;

	if (c->cwnd < c->ssthresh) {
		c->cwnd += n;
		return;
	}
	if (c->epoch_at == TUX_NEVER)
		begin(c, now);
	c->est += (c->est < c->prior ? ALPHA : 1) * n / c->cwnd;
	if (cubic_at(c, now - c->epoch_at) < c->est) {
		c->cwnd = max(c->cwnd, c->est);
		return;
	}
	target = cubic_at(c, now - c->epoch_at + c->min_rtt);
	if (target > 1.5 * c->cwnd)
		target = 1.5 * c->cwnd;
	c->cwnd += max(target - c->cwnd, 0) / c->cwnd * n;
}

/* ---- less ---- */

void sim_cubic_reduce(struct sim_cubic *c)
{
	c->w_max = c->cwnd < c->w_max ? c->cwnd * (1 + BETA) / 2 : c->cwnd;
	c->prior = c->cwnd;
	c->epoch_at = TUX_NEVER;
	c->cwnd = c->ssthresh = max(c->cwnd * BETA, 2);
}

void sim_cubic_timeout(struct sim_cubic *c)
{
	if (c->cwnd > 1)		/* the first in a row */
		sim_cubic_reduce(c);
	c->w_max = 0;
	c->cwnd = 1;
}
