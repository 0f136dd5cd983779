/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk - how the bytes of one direction come: in bursts, between turn-arounds
 */
#include "part/talk.h"

enum { WEIGHT = 8 };		/* the newest burst counts an eighth */

static uint64_t talk_load(const _Atomic uint64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

static void talk_store(_Atomic uint64_t *v, uint64_t to)
{
	atomic_store_explicit(v, to, memory_order_relaxed);
}

/* The burst before has ended: counts it. */
static void talk_turn(struct tux_talk *t, uint64_t len)
{
	uint32_t turns = tux_talk_turns(t);
	int64_t mean = atomic_load_explicit(&t->mean, memory_order_relaxed);

	if (len > INT32_MAX)
		len = INT32_MAX;
	mean = turns ? mean + ((int64_t)len - mean) / WEIGHT : (int64_t)len;
	atomic_store_explicit(&t->mean, (uint32_t)mean, memory_order_relaxed);
	if (turns < UINT32_MAX)
		atomic_store_explicit(&t->turns, turns + 1,
				      memory_order_relaxed);
}

void tux_talk_moved(struct tux_talk *t, const struct tux_talk *other,
		    uint64_t n)
{
	uint64_t total = talk_load(&t->total), theirs = tux_talk_total(other);

	if (theirs != talk_load(&t->other)) {
		if (total > talk_load(&t->began))
			talk_turn(t, total - talk_load(&t->began));
		talk_store(&t->began, total);
		talk_store(&t->other, theirs);
	}
	talk_store(&t->total, total + n);
}

void tux_talk_copy(struct tux_talk *t, const struct tux_talk *from)
{
	talk_store(&t->total, tux_talk_total(from));
	talk_store(&t->began, talk_load(&from->began));
	talk_store(&t->other, talk_load(&from->other));
	atomic_store_explicit(&t->turns, tux_talk_turns(from),
			      memory_order_relaxed);
	atomic_store_explicit(&t->mean,
			      atomic_load_explicit(&from->mean,
						   memory_order_relaxed),
			      memory_order_relaxed);
}
