/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc_cubic - the congestion controller CUBIC (RFC 9438), in integers
 *
 * In congestion avoidance the window is a cubic function of the time since it
 * was last reduced: flat near the window of the last loss, steep before and
 * after.  Where NewReno would grow faster, the window follows an estimate of
 * NewReno's.  Beta is 0.7, and C is 0.4 segments per second cubed.
 *
 * Windows are in bytes.  Time is in whole milliseconds, in which W_cubic hardly
 * changes.
 */
#include "transport/cc.h"

enum {
	/* Limits of |t - K| and of the way to W_max: products stay below
	 * 2^64. */
	LATEST_MS = 60000,
	SEGMENTS_MAX = 1 << 30,
};

static uint64_t cubic_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The integer cube root of @v, rounded down.  @v is below 2^63, so no cube that
 * is tried overflows. */
static uint32_t cube_root(uint64_t v)
{
	uint64_t r = 0, bit;

	for (bit = 1 << 21; bit; bit >>= 1) {
		uint64_t t = r | bit;

		if (t * t * t <= v)
			r = t;
	}
	return (uint32_t)r;
}

static void cubic_init(struct tux_cc *cc)
{
	cc->w.cubic = (struct tux_cubic){ .epoch_at = TUX_NEVER };
}

/* The window after a reduction: beta times cwnd, at least two packets. */
static uint64_t cubic_reduced(const struct tux_cc *cc)
{
	return cubic_max(cc->w.cwnd / 10 * 7, 2 * (uint64_t)cc->mss);
}

/* K in ms, for a way of @bytes from cwnd to W_max: the cube root of that way,
 * in segments, divided by C (RFC 9438, 4.2). */
static uint32_t cubic_k(const struct tux_cc *cc, uint64_t bytes)
{
	uint64_t milli = bytes / cc->mss * 1000 +
			 bytes % cc->mss * 1000 / cc->mss;

	if (milli > (uint64_t)SEGMENTS_MAX * 1000)
		milli = (uint64_t)SEGMENTS_MAX * 1000;
	return cube_root(milli * 2500000);
}

/* Begins a congestion avoidance stage. */
static void cubic_begin(struct tux_cc *cc, tux_time now)
{
	struct tux_cubic *c = &cc->w.cubic;

	c->epoch_at = now;
	c->est = cc->w.cwnd;
	c->est_acked = 0;
	c->origin = cubic_max(c->w_max, cc->w.cwnd);
	c->k = cubic_k(cc, c->origin - cc->w.cwnd);
}

/* W_cubic(@t) in bytes; @t is in ms since the stage began. */
static uint64_t cubic_at(const struct tux_cc *cc, uint64_t t)
{
	const struct tux_cubic *c = &cc->w.cubic;
	uint64_t d = t > c->k ? t - c->k : c->k - t;
	uint64_t off;

	if (d > LATEST_MS)
		d = LATEST_MS;
	off = d * d * d * cc->mss / 1000000 * 2 / 5000;
	if (t >= c->k)
		return c->origin + off;
	/* `off` exceeds the origin only if mss has grown since K was
	 * computed. */
	return c->origin > off ? c->origin - off : 0;
}

/* Updates W_est, the window that NewReno would have (RFC 9438, 4.3): it grows
 * by alpha packets for each window acknowledged.  Alpha is 3 (1 - beta) / (1 +
 * beta) = 9/17, which gives NewReno's average window although beta is not 0.5;
 * once W_est has reached cwnd_prior, alpha is 1. */
static void cubic_estimate(struct tux_cc *cc, uint64_t bytes)
{
	struct tux_cubic *c = &cc->w.cubic;
	uint64_t window = 17 * cc->w.cwnd;

	c->est_acked += bytes * (c->est < c->prior ? 9 : 17);
	while (c->est_acked >= window) {
		c->est_acked -= window;
		c->est += cc->mss;
	}
}

static void cubic_acked(struct tux_cc *cc, const struct tux_cc_ack *a,
			tux_time now)
{
	struct tux_cubic *c = &cc->w.cubic;
	uint64_t cwnd = cc->w.cwnd, bytes = tux_cc_slow_start(cc, a, now);
	uint64_t target;
	tux_time t;

	if (!bytes)
		return;
	if (c->epoch_at == TUX_NEVER)
		cubic_begin(cc, now);
	cubic_estimate(cc, bytes);
	t = tux_time_since(c->epoch_at, now);
	if (cubic_at(cc, t / 1000000) < c->est) {
		cc->w.cwnd = cubic_max(cwnd, c->est);
		return;
	}
	/* Grow towards where the curve is one round trip later, by at most half
	 * of the window in a round trip (RFC 9438, 4.2 and 4.4). */
	target = cubic_at(cc, (t + a->rtt) / 1000000);
	if (target > cwnd + cwnd / 2)
		target = cwnd + cwnd / 2;
	if (target > cwnd)
		cc->w.cwnd += (target - cwnd) * bytes / cwnd;
}

/* Time without anything in flight does not count as time since the stage began
 * (RFC 9438, 4.2). */
static void cubic_idle(struct tux_cc *cc, tux_time in)
{
	struct tux_cubic *c = &cc->w.cubic;

	if (c->epoch_at != TUX_NEVER)
		c->epoch_at = tux_time_add(c->epoch_at, in);
}

static void cubic_reduce(struct tux_cc *cc)
{
	struct tux_cubic *c = &cc->w.cubic;
	uint64_t cwnd = cc->w.cwnd;

	/* Fast convergence (RFC 9438, 4.7): a loss at a smaller window than the
	 * last time suggests new flows on the path, so leave them room. */
	c->w_max = cwnd < c->w_max ? cwnd / 20 * 17 : cwnd;
	c->prior = cwnd;
	c->epoch_at = TUX_NEVER;
	cc->w.ssthresh = cc->w.cwnd = cubic_reduced(cc);
}

static void cubic_timeout(struct tux_cc *cc)
{
	struct tux_cubic *c = &cc->w.cubic;

	if (cc->w.cwnd > cc->mss) {
		cc->w.ssthresh = cubic_reduced(cc);
		c->prior = cc->w.cwnd;
	}
	c->w_max = 0;	/* so that the next stage has K = 0 (RFC 9438, 4.8) */
	c->epoch_at = TUX_NEVER;
	cc->w.cwnd = cc->mss;
}

const struct tux_cc_ops tux_cc_cubic = {
	.name = "cubic",
	.init = cubic_init,
	.acked = cubic_acked,
	.idle = cubic_idle,
	.reduce = cubic_reduce,
	.timeout = cubic_timeout,
};
