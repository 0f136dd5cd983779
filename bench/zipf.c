/* SPDX-License-Identifier: BSD-2-Clause */
#include "zipf.h"

#include <math.h>

static double zeta(uint64_t n, double theta)
{
	double sum = 0;
	uint64_t i;

	for (i = 1; i <= n; i++)
		sum += pow((double)i, -theta);
	return sum;
}

void zipf_init(struct zipf *z, uint64_t n, double theta)
{
	z->n = n;
	z->theta = theta;
	z->alpha = 1 / (1 - theta);
	z->zeta = zeta(n, theta);
	z->second = 1 + pow(0.5, theta);
	z->eta = (1 - pow(2.0 / (double)n, 1 - theta)) /
		 (1 - zeta(2, theta) / z->zeta);
}

uint64_t zipf_draw(const struct zipf *z, double u)
{
	double uz = u * z->zeta;
	uint64_t i;

	if (uz < 1)
		return 0;
	if (uz < z->second)
		return 1;
	i = (uint64_t)((double)z->n * pow(z->eta * u - z->eta + 1, z->alpha));
	return i < z->n ? i : z->n - 1;
}
