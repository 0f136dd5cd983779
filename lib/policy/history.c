/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * history - what earlier connections to a peer have shown
 */
#include "policy/history.h"

#include "base/bytes.h"

enum {
	HOLD_MIN_S = 5,
	HOLD_MAX_S = 600,
	CALM_S = 600,
	PAUSE_S = 1,		/* it ends a row */
};

static const struct tux_backoff_rule silence = {
	.min = TUX_SEC(HOLD_MIN_S),
	.max = TUX_SEC(HOLD_MAX_S),
	.calm = TUX_SEC(CALM_S),
};

static unsigned history_slot(const struct tux_addr *a)
{
	uint32_t ip = tux_get32(a->ip) ^ tux_get32(a->ip + 4) ^
		      tux_get32(a->ip + 8) ^ tux_get32(a->ip + 12);

	/* Fibonacci hashing: the high bits of the product are mixed best. */
	return (uint32_t)((ip ^ a->port) * 2654435769u) >> 26;
}

static void was_silent(struct tux_history_peer *e, const struct tux_addr *addr,
		       tux_time now)
{
	if (!e->until || !tux_addr_same(&e->addr, addr)) {
		e->addr = *addr;
		tux_backoff_reset(&e->hold);
	}
	e->until = tux_time_add(now, tux_backoff_again(&e->hold, &silence, now));
}

void tux_history_decided(struct tux_history *p, const struct tux_addr *addr,
			 bool tux, enum tux_reason why, tux_time now)
{
	struct tux_history_peer *e = &p->peer[history_slot(addr)];

	if ((!tux && why != TUX_REASON_PEER_SILENT) || !tux_latch_try(&p->latch))
		return;
	if (!tux)
		was_silent(e, addr, now);
	else if (tux_addr_same(&e->addr, addr))
		e->until = 0;
	tux_latch_drop(&p->latch);
}

bool tux_history_waits(struct tux_history *p, const struct tux_addr *addr,
		       tux_time now)
{
	const struct tux_history_peer *e = &p->peer[history_slot(addr)];
	bool waits;

	if (!tux_latch_try(&p->latch))
		return false;
	waits = now < e->until && tux_addr_same(&e->addr, addr);
	tux_latch_drop(&p->latch);
	return waits;
}

/* ---- connections that end soon ---------------------------------------- */

/* Does the row of @e, which is about @addr, go on at @now? */
static bool goes_on(const struct tux_history_row *e,
		    const struct tux_addr *addr, tux_time now)
{
	return now <= tux_time_add(e->at, TUX_SEC(PAUSE_S)) &&
	       tux_addr_same(&e->addr, addr);
}

void tux_history_ended(struct tux_history *p, const struct tux_addr *addr,
		       tux_time now)
{
	struct tux_history_row *e = &p->row[history_slot(addr)];

	if (!tux_latch_try(&p->latch))
		return;
	atomic_store_explicit(&p->rows, true, memory_order_relaxed);
	if (!goes_on(e, addr, now)) {
		e->addr = *addr;
		e->n = e->left = 0;
		e->probed = 0;
	}
	if (e->n < TUX_HISTORY_BRIEF)
		e->n++;
	e->at = now;
	tux_latch_drop(&p->latch);
}

void tux_history_lasted(struct tux_history *p, const struct tux_addr *addr)
{
	struct tux_history_row *e = &p->row[history_slot(addr)];

	if (!tux_latch_try(&p->latch))
		return;
	if (tux_addr_same(&e->addr, addr))
		e->n = 0;
	tux_latch_drop(&p->latch);
}

static bool history_probes(const struct tux_history_row *e, tux_time now)
{
	return e->left >= TUX_HISTORY_PROBE - 1 &&
	       now >= tux_time_add(e->probed, TUX_MSEC(TUX_HISTORY_PROBE_MS));
}

static void was_begun(struct tux_history_row *e, bool brief, tux_time now)
{
	e->left = brief ? e->left + 1 : 0;
	e->at = now;
	if (!brief)
		e->probed = now;
}

bool tux_history_brief(struct tux_history *p, const struct tux_addr *addr,
		       tux_time now)
{
	struct tux_history_row *e = &p->row[history_slot(addr)];
	bool row, brief;

	if (!atomic_load_explicit(&p->rows, memory_order_relaxed) ||
	    !tux_latch_try(&p->latch))
		return false;
	row = e->n == TUX_HISTORY_BRIEF && goes_on(e, addr, now);
	brief = row && !history_probes(e, now);
	if (row)
		was_begun(e, brief, now);
	tux_latch_drop(&p->latch);
	return brief;
}
