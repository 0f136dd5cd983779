/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/spin.h"

#include "io/sys.h"

enum { CUT_NS = 1000000, WEIGHT = 4, CPU_WORDS = 128 };

static unsigned cpus(void)
{
	uint64_t mask[CPU_WORDS] = { 0 };
	unsigned i, n = 0;

	tux_sys_cpus(mask, sizeof(mask));
	for (i = 0; i < CPU_WORDS; i++)
		n += (unsigned)__builtin_popcountll(mask[i]);
	return n;
}

void tux_spin_init(struct tux_spin *s)
{
	s->never = cpus() < 2;
	s->mean_ns = CUT_NS;
}

tux_time tux_spin_for(const struct tux_spin *s)
{
	tux_time mean = s->mean_ns;

	return s->never || mean > TUX_USEC(TUX_SPIN_MAX_US) ?
	       0 : TUX_USEC(TUX_SPIN_MAX_US);
}

void tux_spin_learn(struct tux_spin *s, tux_time in)
{
	uint32_t ns = in < CUT_NS ? (uint32_t)in : CUT_NS;

	s->mean_ns = s->mean_ns - s->mean_ns / WEIGHT + ns / WEIGHT;
}
