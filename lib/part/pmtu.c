/* SPDX-License-Identifier: BSD-2-Clause */
#include "part/pmtu.h"

void tux_pmtu_init(struct tux_pmtu *p)
{
	*p = (struct tux_pmtu){
		.len = UINT32_MAX, .over = UINT32_MAX, .gone = UINT32_MAX,
		.at = TUX_NEVER,
	};
}

static void forget_losses(struct tux_pmtu *p)
{
	p->gone = UINT32_MAX;
	p->rounds = 0;
}

/* The next length is tried at once. */
static void go_on(struct tux_pmtu *p, tux_time now)
{
	p->probe = 0;
	p->tries = 0;
	p->at = now;
}

bool tux_pmtu_carried(struct tux_pmtu *p, uint32_t len, tux_time now)
{
	if (len >= p->gone)
		forget_losses(p);
	if (len <= p->len)
		return false;
	p->len = len;
	if (p->over <= len)
		p->over = UINT32_MAX;
	go_on(p, now);
	return true;
}

bool tux_pmtu_lost(struct tux_pmtu *p, uint32_t len, tux_time sent_at,
		   tux_time now)
{
	if (len <= TUX_PMTU_FLOOR || len > p->len)
		return false;
	if (len < p->gone)
		p->gone = len;
	if (sent_at < p->round_at)
		return false;
	p->round_at = now;
	if (++p->rounds < TUX_PMTU_ROUNDS)
		return false;
	forget_losses(p);
	p->len = TUX_PMTU_FLOOR;
	p->over = UINT32_MAX;
	go_on(p, now);
	return true;
}

/* First what is most likely, then whether the longest passes after all; then
 * halfway, until that is no use. */
static uint32_t next(const struct tux_pmtu *p, uint32_t max)
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
		p->probe = next(p, max);
	if (p->probe) {
		p->at = tux_time_add(now, TUX_SEC(TUX_PMTU_ANSWER_S));
	} else {
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
	go_on(p, now);
}

void tux_pmtu_again(struct tux_pmtu *p, tux_time now)
{
	if (p->len == UINT32_MAX)
		return;
	p->over = UINT32_MAX;
	go_on(p, now);
}
