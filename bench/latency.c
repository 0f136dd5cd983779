/* SPDX-License-Identifier: BSD-2-Clause */
#include "latency.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { STEP = 5, LAST = 999 };		/* of a thousand */

static double at(const struct histogram *h, double per_mille)
{
	return (double)histogram_at(h, per_mille) / 1000;
}

void latency_print(const struct histogram *h)
{
	printf("messages=%" PRIu64 " p50=%.2f p90=%.2f p99=%.2f p99.9=%.2f "
	       "max=%.2f\n", h->n, at(h, 500), at(h, 900), at(h, 990),
	       at(h, 999), (double)h->max / 1000);
}

int latency_write(const struct histogram *h, const char *name)
{
	FILE *f = fopen(name, "w");
	int i;

	if (!f)
		return -errno;
	for (i = STEP; i <= LAST; i += STEP)
		fprintf(f, "%.2f %.3f\n", at(h, i), i / 1000.0);
	return fclose(f) ? -errno : 0;
}
