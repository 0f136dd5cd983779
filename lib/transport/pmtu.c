/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmtu - the longest datagram that a network path carries
 */
#include "transport/pmtu.h"

void tux_pmtu_init(struct tux_pmtu *p)
{
	*p = (struct tux_pmtu){
		.len = UINT32_MAX, .over = UINT32_MAX, .gone = UINT32_MAX,
		.at = TUX_NEVER,
	};
}

static void pmtu_forget_losses(struct tux_pmtu *p)
{
	p->gone = UINT32_MAX;
	p->rounds = 0;
}

/* A probe of a new length is due now. */
static void pmtu_probe_next(struct tux_pmtu *p, tux_time now)
{
	p->probe = 0;
	p->tries = 0;
	p->at = now;
}

bool tux_pmtu_carried(struct tux_pmtu *p, uint32_t len, tux_time now)
{
	if (len >= p->gone)
		pmtu_forget_losses(p);
	if (len <= p->len)
		return false;
	p->len = len;
	/* The path has changed if a length passes that did not. */
	if (p->over <= len)
		p->over = UINT32_MAX;
	pmtu_probe_next(p, now);
	return true;
}

bool tux_pmtu_lost(struct tux_pmtu *p, uint32_t len, tux_time sent_at,
		   tux_time now)
{
	/* A loss says nothing about lengths if the datagram was as short as the
	 * floor, or if its length is no longer used. */
	if (len <= TUX_PMTU_FLOOR || len > p->len)
		return false;
	if (len < p->gone)
		p->gone = len;
	if (sent_at < p->round_at)
		return false;
	p->round_at = now;
	if (++p->rounds < TUX_PMTU_ROUNDS)
		return false;
	pmtu_forget_losses(p);
	p->len = TUX_PMTU_FLOOR;
	p->over = UINT32_MAX;
	pmtu_probe_next(p, now);
	return true;
}

/* The next length to probe; 0: the search is over.  First the length that
 * nearly every path carries, then the longest that is possible, then the middle
 * between the longest that passes and the shortest that does not. */
static uint32_t pmtu_next(const struct tux_pmtu *p, uint32_t max)
{
	if (p->len >= max)
		return 0;
	if (p->len < TUX_PMTU_BASE && TUX_PMTU_BASE < p->over &&
	    TUX_PMTU_BASE < max)
		return TUX_PMTU_BASE;
	if (p->over > max)
		return max;
	return p->over - p->len > TUX_PMTU_STEP ?
	       p->len + (p->over - p->len) / 2 : 0;
}

uint32_t tux_pmtu_probe(struct tux_pmtu *p, uint32_t max, tux_time now)
{
	if (!p->probe || p->probe > max)
		p->probe = pmtu_next(p, max);
	if (p->probe) {
		p->at = tux_time_add(now, TUX_SEC(TUX_PMTU_ANSWER_S));
	} else {
		/* The next search tries @max again. */
		p->over = UINT32_MAX;
		p->at = tux_time_add(now, TUX_SEC(TUX_PMTU_RAISE_S));
	}
	return p->probe;
}

void tux_pmtu_probe_lost(struct tux_pmtu *p, uint32_t len, tux_time now)
{
	if (len != p->probe)
		return;
	p->at = now;
	if (++p->tries < TUX_PMTU_TRIES)
		return;
	p->over = len;
	pmtu_probe_next(p, now);
}

void tux_pmtu_again(struct tux_pmtu *p, tux_time now)
{
	if (p->len == UINT32_MAX)
		return;
	p->over = UINT32_MAX;
	pmtu_probe_next(p, now);
}
