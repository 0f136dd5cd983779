/* SPDX-License-Identifier: BSD-2-Clause */
#include "option.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const double SECONDS_MAX = 1e6, RATE_MAX = 1e9;

void option_fail(int code, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(code);
}

uint64_t option_number(const char *what, const char *s, uint64_t min,
		       uint64_t max)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || *end || errno || n < min || n > max)
		option_fail(2, "--%s %s: not a number from %llu to %llu", what,
			    s, (unsigned long long)min,
			    (unsigned long long)max);
	return n;
}

static double real(const char *what, const char *s, double max)
{
	char *end;
	double v = strtod(s, &end);

	if (*s < '0' || *s > '9' || *end || !(v >= 0 && v <= max))
		option_fail(2, "--%s %s: not a number up to %.0f", what, s,
			    max);
	return v;
}

double option_rate(const char *what, const char *s)
{
	double v = real(what, s, RATE_MAX);

	if (v <= 0)
		option_fail(2, "--%s %s: must be above 0", what, s);
	return v;
}

tux_time option_seconds(const char *what, const char *s)
{
	return (tux_time)(real(what, s, SECONDS_MAX) * 1e9);
}
