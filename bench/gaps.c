/* SPDX-License-Identifier: BSD-2-Clause */
#include "gaps.h"

#include <stdio.h>

#include "sys/clock.h"

static const unsigned over_us[GAPS] = { 10, 100, 1000 };

void gaps_look(struct gaps *g, tux_time time)
{
	tux_time begin = tux_clock_read(), last = begin, now = begin;
	unsigned i;

	while (now - begin < time) {
		now = tux_clock_read();
		for (i = 0; i < GAPS && now - last > TUX_USEC(over_us[i]); i++)
			g->in[i] += now - last;
		last = now;
	}
	g->all += now - begin;
}

void gaps_print(const struct gaps *g)
{
	unsigned i;

	printf("gaps over");
	for (i = 0; i < GAPS; i++)
		printf("%s %u us: %.2f %%", i ? "," : "", over_us[i],
		       100.0 * (double)g->in[i] / (double)g->all);
	puts(" of the time");
}
