/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * burst - how the bytes of one direction come: in bursts, between turn-arounds
 */
#include "policy/burst.h"

enum {
	WEIGHT = 8,		/* the newest burst counts an eighth */
	LONGEST = 1 << 30,	/* bursts beyond count as so long */
};

static uint64_t burst_load(const _Atomic uint64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

static void burst_store(_Atomic uint64_t *v, uint64_t to)
{
	atomic_store_explicit(v, to, memory_order_relaxed);
}

void tux_burst_begin(struct tux_burst *t, uint64_t total, uint64_t theirs)
{
	burst_store(&t->total, total);
	burst_store(&t->began, total);
	burst_store(&t->other, theirs);
}

void tux_burst_turn(struct tux_burst *t, uint64_t total, uint64_t theirs)
{
	uint64_t len = total - burst_load(&t->began);
	uint32_t turns = tux_burst_turns(t), mean = tux_burst_mean(t);
	uint32_t add;

	burst_store(&t->began, total);
	burst_store(&t->other, theirs);
	if (!len)
		return;
	add = len < LONGEST ? (uint32_t)len : LONGEST;
	mean = turns ? mean - mean / WEIGHT + add / WEIGHT : add;
	atomic_store_explicit(&t->mean, mean, memory_order_relaxed);
	if (turns < UINT32_MAX)
		atomic_store_explicit(&t->turns, turns + 1,
				      memory_order_relaxed);
}

void tux_burst_copy(struct tux_burst *t, const struct tux_burst *from)
{
	burst_store(&t->total, tux_burst_total(from));
	burst_store(&t->began, burst_load(&from->began));
	burst_store(&t->other, burst_load(&from->other));
	atomic_store_explicit(&t->turns, tux_burst_turns(from),
			      memory_order_relaxed);
	atomic_store_explicit(&t->mean,
			      atomic_load_explicit(&from->mean,
						   memory_order_relaxed),
			      memory_order_relaxed);
}
