/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

void report_begin(struct report *r, tux_time now)
{
	histogram_clear(&r->latency);
	r->began = now;
	r->own = cpu_own();
	r->all = r->own + cpu_others(&r->others);
}

void report_end(struct report *r, tux_time now)
{
	uint64_t own = cpu_own();

	r->took = tux_time_since(r->began, now);
	r->all = own + cpu_others(&r->others) - r->all;
	r->own = own - r->own;
}

static double micros(double ns)
{
	return ns / 1000;
}

static double latency(const struct report *r, double per_mille)
{
	return micros((double)histogram_at(&r->latency, per_mille));
}

void report_print(const struct report *r)
{
	double n = (double)r->latency.n;

	printf("rate=%.0f p50=%.2f p99=%.2f p99.9=%.2f max=%.2f errors=%" PRIu64
	       " cpu=%.3f cpu_all=%.3f ops=%.0f seconds=%.3f\n",
	       r->took ? n * 1e9 / (double)r->took : 0, latency(r, 500),
	       latency(r, 990), latency(r, 999), micros((double)r->latency.max),
	       r->errors, n > 0 ? micros((double)r->own) / n : 0,
	       n > 0 ? micros((double)r->all) / n : 0, n,
	       (double)r->took / 1e9);
}

double report_percent(const struct report *r)
{
	if (!r->took)
		return 0;
	return 100 * (double)(r->all - r->own) / (double)r->took;
}
