/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mode - which threads run the loops, in the words of tuxrun -m and TUX_MODE
 */
#ifndef TUX_STACK_MODE_H
#define TUX_STACK_MODE_H

#include <string.h>

enum { TUX_LOOPS_MAX = 16 };	/* dedicated threads, with a loop each */

/* 0 for "inline", N for "threads=N" with N from 1 to TUX_LOOPS_MAX; -1 for
 * anything else. */
static inline int tux_mode_threads(const char *mode)
{
	static const char key[] = "threads=";
	int n = 0;

	if (!strcmp(mode, "inline"))
		return 0;
	if (strncmp(mode, key, sizeof(key) - 1) != 0)
		return -1;
	for (mode += sizeof(key) - 1; *mode >= '0' && *mode <= '9'; mode++)
		if (n <= TUX_LOOPS_MAX)
			n = n * 10 + (*mode - '0');
	return *mode || n < 1 || n > TUX_LOOPS_MAX ? -1 : n;
}

#endif
