/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/give_way.h"

enum {
	COST_NS = 2400,		/* of a packet that offload would save, */
	COST_KB_NS = 400,	/* ... and of 1000 bytes in such packets */
	GAIN_NS = 10000,	/* for a packet and its answer */
	FREE = 20,		/* one in so many of the time may be lost */
	DEBT_MIN_MS = 40,	/* beside connections that gain nothing, */
	DEBT_GAIN = 1,		/* ... and what is gained in so many seconds */
	DEBT_MAX_MS = 150,
	OWED_MAX_MS = 300,	/* is paid off in six seconds */
	LOOK_MS = 25,
	LOOK_DEBT_MS = 10,	/* while the debt grows */
	LOOK_AWAY_MS = 1000,
	HOLD_MIN_S = 5,
	HOLD_MAX_S = 320,
	CALM_S = 600,
	TRIAL_HOLDS = 4,
};

static const struct tux_backoff_rule giving = {
	.min = TUX_SEC(HOLD_MIN_S),
	.max = TUX_SEC(HOLD_MAX_S),
	.calm = TUX_SEC(CALM_S),
};

void tux_give_way_init(struct tux_give_way *y)
{
	*y = (struct tux_give_way){ .away = false };
}

void tux_give_way_begin(struct tux_give_way *y)
{
	y->begun = false;
}

void tux_give_way_leave(struct tux_give_way *y)
{
	y->away = y->begun = false;
	y->debt = 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t per_second(uint64_t n, tux_time in)
{
	return n * 1000 / (in / TUX_MSEC(1));
}

/* What has passed in @in. */
static void judge(struct tux_give_way *y, const struct tux_give_way_seen *s,
		  uint32_t mtu, tux_time in)
{
	uint64_t own = less(s->own, y->seen.own);
	uint64_t rx = less(s->rx, y->seen.rx), tx = less(s->tx, y->seen.tx);
	uint64_t others;
	tux_time cost, gain;

	if (y->away)
		own = y->own * (in / TUX_MSEC(1)) / 1000;
	else
		y->own = per_second(own, in);
	others = less(less(s->link, y->seen.link), own);
	cost = others / mtu * COST_NS + others / 1000 * COST_KB_NS;
	gain = (rx < tx ? rx : tx) * GAIN_NS;
	y->debt = tux_time_min(less(y->debt + cost, gain + in / FREE),
			       TUX_MSEC(OWED_MAX_MS));
	y->others = per_second(others, in);
	y->cost = per_second(cost, in);
	y->gain = per_second(gain, in);
}

/* The debt at which the interface is given up.  To give it up takes from the
 * connections what they gain, so the others wait the longer the more that is. */
static tux_time debt_limit(const struct tux_give_way *y)
{
	return tux_time_min(TUX_MSEC(DEBT_MIN_MS) + y->gain * DEBT_GAIN,
			    TUX_MSEC(DEBT_MAX_MS));
}

/* Do the others lose by it now, not only before?  The limit falls when connections
 * end, below a debt that they have left. */
static bool costs_too_much(const struct tux_give_way *y)
{
	return y->cost > TUX_SEC(1) / FREE && y->debt >= debt_limit(y);
}

static enum tux_give_way_do give_way_decide(struct tux_give_way *y,
					    tux_time now)
{
	tux_time away = tux_time_since(y->since, now);

	if (!y->away && costs_too_much(y)) {
		y->away = true;
		y->since = now;
		y->hold = tux_backoff_again(&y->holds, &giving, now);
		return TUX_GIVE_WAY_GIVE;
	}
	if (y->away && away >= y->hold &&
	    (!y->debt || away >= TRIAL_HOLDS * y->hold)) {
		y->away = false;
		y->debt = 0;
		return TUX_GIVE_WAY_TAKE;
	}
	return TUX_GIVE_WAY_STAY;
}

enum tux_give_way_do tux_give_way_look(struct tux_give_way *y,
				       const struct tux_give_way_seen *s,
				       uint32_t mtu, tux_time now)
{
	tux_time in = tux_time_since(y->at, now);

	/* Too short a time to tell a rate. */
	if (y->begun && in < TUX_MSEC(1))
		return TUX_GIVE_WAY_STAY;
	if (y->begun)
		judge(y, s, mtu, in);
	y->begun = true;
	y->seen = *s;
	y->at = now;
	return give_way_decide(y, now);
}

tux_time tux_give_way_next(const struct tux_give_way *y)
{
	unsigned ms = LOOK_MS;

	if (y->away)
		ms = LOOK_AWAY_MS;
	else if (y->debt >= TUX_MSEC(DEBT_MIN_MS / 10))
		ms = LOOK_DEBT_MS;
	return y->at + TUX_MSEC(ms);
}
