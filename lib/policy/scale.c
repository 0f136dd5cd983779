/* SPDX-License-Identifier: BSD-2-Clause */
#include "policy/scale.h"

#include <string.h>

enum { NONE = TUX_SCALE_LOOPS };	/* no thread's number, and no loop's */

/* What each thread has. */
struct load {
	unsigned share[TUX_SCALE_LOOPS];
	unsigned loops[TUX_SCALE_LOOPS];
};

static struct load load_of(const struct tux_scale *s, const unsigned *share)
{
	struct load l = { { 0 }, { 0 } };
	unsigned i;

	for (i = 0; i < s->loops; i++) {
		l.share[s->thread[i]] += share[i];
		l.loops[s->thread[i]]++;
	}
	return l;
}

void tux_scale_init(struct tux_scale *s, unsigned loops, unsigned least,
		    unsigned most)
{
	unsigned i;

	memset(s, 0, sizeof(*s));
	s->loops = loops;
	s->least = least;
	s->most = most;
	s->down_looks = TUX_SCALE_DOWN_LOOKS;
	s->since = TUX_SCALE_SOON;
	for (i = 0; i < loops; i++)
		s->thread[i] = (uint8_t)(i % least);
}

unsigned tux_scale_threads(const struct tux_scale *s)
{
	bool has[TUX_SCALE_LOOPS] = { false };
	unsigned i, n = 0;

	for (i = 0; i < s->loops; i++) {
		n += !has[s->thread[i]];
		has[s->thread[i]] = true;
	}
	return n;
}

/* ---- threads by what they have to do ---- */

/* The thread with the least to do of those that have loops, but for @not. */
static unsigned lightest(const struct tux_scale *s, const struct load *l,
			 unsigned not)
{
	unsigned j, best = NONE;

	for (j = 0; j < s->loops; j++)
		if (l->loops[j] && j != not &&
		    (best == NONE || l->share[j] < l->share[best]))
			best = j;
	return best;
}

static unsigned without_loops(const struct tux_scale *s, const struct load *l)
{
	unsigned j;

	for (j = 0; j < s->loops; j++)
		if (!l->loops[j])
			return j;
	return NONE;
}

/* ---- one more ---- */

static void count_up(struct tux_scale *s, const struct load *l)
{
	unsigned j;

	for (j = 0; j < s->loops; j++)
		if (l->share[j] <= TUX_SCALE_UP)
			s->up[j] = 0;
		else if (s->up[j] < TUX_SCALE_UP_LOOKS)
			s->up[j]++;
}

/* The busiest thread of those in @left that was above T_scaleup long enough, and
 * has something to give away. */
static unsigned busiest(const struct tux_scale *s, const struct load *l,
			uint32_t left)
{
	unsigned j, best = NONE;

	for (j = 0; j < s->loops; j++)
		if (left >> j & 1 && s->up[j] == TUX_SCALE_UP_LOOKS &&
		    l->loops[j] > 1 &&
		    (best == NONE || l->share[j] > l->share[best]))
			best = j;
	return best;
}

/* The loop of thread @from with the most to do, of those in @left. */
static unsigned heaviest(const struct tux_scale *s, const unsigned *share,
			 unsigned from, uint32_t left)
{
	unsigned i, best = NONE;

	for (i = 0; i < s->loops; i++)
		if (s->thread[i] == from && left >> i & 1 &&
		    (best == NONE || share[i] > share[best]))
			best = i;
	return best;
}

/* Deals the loops of @from out to both, each to the one that has less by then,
 * those with the most to do first.  False: it would win too little. */
static bool split(struct tux_scale *s, const unsigned *share, unsigned from,
		  unsigned to, unsigned to_has)
{
	unsigned keeps = 0, gets = to_has, all = 0, i;
	uint32_t left = UINT32_MAX, moves = 0;
	bool kept = false;

	if (!from) {
		left &= ~UINT32_C(1);
		keeps = all = share[0];
		kept = true;
	}
	while ((i = heaviest(s, share, from, left)) != NONE) {
		left &= ~(UINT32_C(1) << i);
		all += share[i];
		if (!kept || keeps <= gets) {
			keeps += share[i];
			kept = true;
		} else {
			gets += share[i];
			moves |= UINT32_C(1) << i;
		}
	}
	if (!moves || (keeps > gets ? keeps : gets) + TUX_SCALE_GAIN > all)
		return false;
	for (i = 0; i < s->loops; i++)
		if (moves >> i & 1)
			s->thread[i] = (uint8_t)to;
	return true;
}

/* A thread more is wanted soon after a thread less: it was too soon for that. */
static void count_again(struct tux_scale *s)
{
	if (s->since == TUX_SCALE_SOON)
		s->down_looks = TUX_SCALE_DOWN_LOOKS;
	else if (s->down_looks < TUX_SCALE_DOWN_MOST)
		s->down_looks *= 2;
}

static bool one_more(struct tux_scale *s, const struct load *l,
		     const unsigned *share)
{
	bool may = tux_scale_threads(s) < s->most;
	uint32_t left = UINT32_MAX;
	unsigned from, to;

	while ((from = busiest(s, l, left)) != NONE) {
		to = may ? without_loops(s, l) : lightest(s, l, from);
		if (to != NONE && split(s, share, from, to, l->share[to])) {
			s->up[from] = 0;
			if (may)
				count_again(s);
			return true;
		}
		left &= ~(UINT32_C(1) << from);
	}
	return false;
}

/* ---- one less ---- */

static void unite(struct tux_scale *s, unsigned from, unsigned to)
{
	unsigned i;

	for (i = 0; i < s->loops; i++)
		if (s->thread[i] == from)
			s->thread[i] = (uint8_t)to;
}

static bool one_less(struct tux_scale *s, const struct load *l)
{
	unsigned a = lightest(s, l, NONE), b = lightest(s, l, a);

	if (tux_scale_threads(s) <= s->least ||
	    l->share[a] >= TUX_SCALE_DOWN ||
	    l->share[a] + l->share[b] > TUX_SCALE_JOINED) {
		s->down = 0;
		return false;
	}
	if (++s->down < s->down_looks)
		return false;
	s->down = 0;
	s->since = 0;
	unite(s, a ? a : b, a ? b : a);
	return true;
}

bool tux_scale_look(struct tux_scale *s, const unsigned *share)
{
	struct load l = load_of(s, share);

	if (s->since < TUX_SCALE_SOON)
		s->since++;
	count_up(s, &l);
	return one_more(s, &l, share) || one_less(s, &l);
}

void tux_scale_undo(struct tux_scale *s, const struct tux_scale *was)
{
	memcpy(s->thread, was->thread, sizeof(s->thread));
	s->down_looks = was->down_looks;
	s->since = was->since;
}
