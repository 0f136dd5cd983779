/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>

void report_begin(struct report *r, tux_time now)
{
	histogram_clear(&r->latency);
	histogram_clear(&r->short_ones);
	histogram_clear(&r->long_ones);
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

static double latency(const struct histogram *h, double per_mille)
{
	return micros((double)histogram_at(h, per_mille));
}

static void print_apart(const char *name, const struct histogram *h)
{
	printf(" %s_p50=%.2f %s_p99=%.2f", name, latency(h, 500), name,
	       latency(h, 990));
}

void report_print(const struct report *r)
{
	const struct histogram *h = &r->latency;
	double n = (double)h->n;

	printf("rate=%.0f p50=%.2f p99=%.2f p99.9=%.2f max=%.2f errors=%" PRIu64
	       " cpu=%.3f cpu_all=%.3f ops=%.0f seconds=%.3f",
	       r->took ? n * 1e9 / (double)r->took : 0, latency(h, 500),
	       latency(h, 990), latency(h, 999), micros((double)r->latency.max),
	       r->errors, n > 0 ? micros((double)r->own) / n : 0,
	       n > 0 ? micros((double)r->all) / n : 0, n,
	       (double)r->took / 1e9);
	if (r->long_ones.n) {
		print_apart("short", &r->short_ones);
		print_apart("long", &r->long_ones);
	}
	putchar('\n');
}

double report_percent(const struct report *r)
{
	if (!r->took)
		return 0;
	return 100 * (double)(r->all - r->own) / (double)r->took;
}
