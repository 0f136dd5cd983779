/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option - numbers of command lines, read strictly
 */
#ifndef BENCH_OPTION_H
#define BENCH_OPTION_H

#include <stdint.h>

#include "base/time.h"

/* Prints "bench: message" on stderr and exits with @code: 2 for wrong usage, 1
 * for anything else. */
void option_fail(int code, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* The number in @s, between @min and @max, or a failure that names @what. */
uint64_t option_number(const char *what, const char *s, uint64_t min,
		       uint64_t max);

/* A positive number of anything; a duration in seconds, maybe 0. */
double option_rate(const char *what, const char *s);
tux_time option_seconds(const char *what, const char *s);

#endif
