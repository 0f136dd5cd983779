/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * preempt_in - between the handler's first instructions and the rest
 */
#ifndef TUX_RUN_PREEMPT_IN_H
#define TUX_RUN_PREEMPT_IN_H

/* Of struct tux_here, for the assembler. */
#define TUX_HERE_PREEMPT_COUNT 8

#ifndef __ASSEMBLER__

#include <signal.h>

/* Adds 1 to preempt_count and calls tux_preempt_tick(). */
void tux_preempt_handler(int sig, siginfo_t *info, void *context)
	__attribute__((visibility("hidden")));
extern const char tux_preempt_handler_end[]
	__attribute__((visibility("hidden")));

/* @restorer: where the handler returns to. */
void tux_preempt_tick(int sig, siginfo_t *info, void *context,
		      const char *restorer)
	__attribute__((visibility("hidden")));

#endif

#endif
