/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * talk - how the bytes of one direction come: in bursts, between turn-arounds
 */
#include "policy/talk.h"

enum {
	WEIGHT = 8,		/* the newest burst counts an eighth */
	LONGEST = 1 << 30,	/* bursts beyond count as so long */
};

static uint64_t talk_load(const _Atomic uint64_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

static void talk_store(_Atomic uint64_t *v, uint64_t to)
{
	atomic_store_explicit(v, to, memory_order_relaxed);
}

void tux_talk_begin(struct tux_talk *t, uint64_t total, uint64_t theirs)
{
	talk_store(&t->total, total);
	talk_store(&t->began, total);
	talk_store(&t->other, theirs);
}

void tux_talk_turn(struct tux_talk *t, uint64_t total, uint64_t theirs)
{
	uint64_t len = total - talk_load(&t->began);
	uint32_t turns = tux_talk_turns(t), mean = tux_talk_mean(t);
	uint32_t add;

	talk_store(&t->began, total);
	talk_store(&t->other, theirs);
	if (!len)
		return;
	add = len < LONGEST ? (uint32_t)len : LONGEST;
	mean = turns ? mean - mean / WEIGHT + add / WEIGHT : add;
	atomic_store_explicit(&t->mean, mean, memory_order_relaxed);
	if (turns < UINT32_MAX)
		atomic_store_explicit(&t->turns, turns + 1,
				      memory_order_relaxed);
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
