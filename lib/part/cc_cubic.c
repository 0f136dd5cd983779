/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc_cubic - CUBIC (RFC 9438), in integers
 *
 * The window is a cubic function of the time since it was last reduced: flat
 * where the last loss was, steep before and behind.  Where NewReno would be
 * faster, it follows that.  Windows are bytes; time is whole milliseconds, for
 * the function hardly moves in one.
 */
#include "part/cc.h"

enum {
	LATEST_MS = 60000,	/* t - K is cut there, so that nothing overflows */
	SEGMENTS_MAX = 1 << 30,
};

/* beta is 0.7; C is 0.4 segments per second cubed. */

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The largest number whose cube is no more than @v, which is below 2^63: no cube
 * that is tried overflows. */
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

static uint64_t reduced(const struct tux_cc *cc)
{
	return max(cc->w.cwnd / 10 * 7, 2 * (uint64_t)cc->mss);
}

/* K, in ms: the cube root of the way to go, in segments, divided by C. */
static uint32_t time_to(const struct tux_cc *cc, uint64_t bytes)
{
	uint64_t milli = bytes / cc->mss * 1000 +
			 bytes % cc->mss * 1000 / cc->mss;

	if (milli > (uint64_t)SEGMENTS_MAX * 1000)
		milli = (uint64_t)SEGMENTS_MAX * 1000;
	return cube_root(milli * 2500000);
}

static void begin(struct tux_cc *cc, tux_time now)
{
	struct tux_cubic *c = &cc->w.cubic;

	c->epoch_at = now;
	c->est = cc->w.cwnd;
	c->est_acked = 0;
	c->origin = max(c->w_max, cc->w.cwnd);
	c->k = time_to(cc, c->origin - cc->w.cwnd);
}

/* W_cubic(@t), in bytes; @t in ms since the epoch began. */
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
	/* Longer packets than K was made for would bring it below 0. */
	return c->origin > off ? c->origin - off : 0;
}

/* What NewReno would have by now: alpha is 9/17 packets for a window, so that it
 * takes the same share in the end, and 1 beyond where the last loss was. */
static void estimate(struct tux_cc *cc, uint64_t bytes)
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
		begin(cc, now);
	estimate(cc, bytes);
	t = tux_time_since(c->epoch_at, now);
	if (cubic_at(cc, t / 1000000) < c->est) {
		cc->w.cwnd = max(cwnd, c->est);
		return;
	}
	target = cubic_at(cc, (t + a->rtt) / 1000000);
	if (target > cwnd + cwnd / 2)
		target = cwnd + cwnd / 2;
	if (target > cwnd)
		cc->w.cwnd += (target - cwnd) * bytes / cwnd;
}

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

	/* Lower than last time: others have come, so leave them more (fast
	 * convergence). */
	c->w_max = cwnd < c->w_max ? cwnd / 20 * 17 : cwnd;
	c->prior = cwnd;
	c->epoch_at = TUX_NEVER;
	cc->w.ssthresh = cc->w.cwnd = reduced(cc);
}

static void cubic_timeout(struct tux_cc *cc)
{
	struct tux_cubic *c = &cc->w.cubic;

	if (cc->w.cwnd > cc->mss) {
		cc->w.ssthresh = reduced(cc);
		c->prior = cc->w.cwnd;
	}
	c->w_max = 0;			/* K is 0 (RFC 9438, 4.8) */
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
