/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/spin.h"

#include <string.h>

#include "sys/sys.h"

enum {
	CUT_NS = 1000000,
	MEAN_MAX_US = 200,	/* a sleep's two wake-ups are in it */
	WEIGHT = 4,
	PENALTY_MIN = 8,
	PENALTY_MAX = 4096,
	CPU_WORDS = 128,
};

static unsigned cpus(void)
{
	uint64_t mask[CPU_WORDS] = { 0 };
	unsigned i, n = 0;

	tux_sys_cpus(mask, sizeof(mask));
	for (i = 0; i < CPU_WORDS; i++)
		n += (unsigned)__builtin_popcountll(mask[i]);
	return n;
}

void tux_spin_init(struct tux_spin *s, enum tux_spin_how how)
{
	memset(s, 0, sizeof(*s));
	s->mean_ns = CUT_NS;
	s->penalty = PENALTY_MIN;
	s->never = how == TUX_SPIN_BESIDE && cpus() < 2;
	s->always = how == TUX_SPIN_ALWAYS;
}

static tux_time spin_for(struct tux_spin *s)
{
	if (s->never || s->mean_ns > TUX_USEC(MEAN_MAX_US))
		return 0;
	if (s->skip) {
		s->skip--;
		return 0;
	}
	return TUX_USEC(TUX_SPIN_US);
}

void tux_spin_begin(struct tux_spin *s, tux_time now)
{
	s->since = now;
	s->waits = s->on = false;
}

static void first_look(struct tux_spin *s)
{
	tux_time in = spin_for(s);

	s->waits = true;
	s->until = s->since + in;
	s->on = in > 0;
}

bool tux_spin_more(struct tux_spin *s, tux_time now)
{
	if (s->always)
		return true;
	if (!s->waits)
		first_look(s);
	if (s->on && now >= s->until) {
		s->on = false;
		s->skip = s->penalty;
		if (s->penalty < PENALTY_MAX)
			s->penalty *= 2;
	}
	return s->on;
}

void tux_spin_end(struct tux_spin *s, tux_time now)
{
	tux_time in = tux_time_min(tux_time_since(s->since, now), CUT_NS);

	if (!s->waits)
		return;
	s->mean_ns = s->mean_ns - s->mean_ns / WEIGHT + (uint32_t)in / WEIGHT;
	if (s->on && s->penalty > PENALTY_MIN)
		s->penalty /= 2;
	s->on = false;
}
