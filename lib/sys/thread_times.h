/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thread_times - the processor time that the calling thread gets
 */
#ifndef TUX_SYS_THREAD_TIMES_H
#define TUX_SYS_THREAD_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

struct tux_thread_times {	/* since the thread began */
	tux_time ran;		/* it was on a processor */
	tux_time waited;	/* it could run, and waited for a processor */
	uint64_t sleeps;	/* how often it gave the processor up to wait for
				 * something else */
};

/* False: the kernel does not tell.  proc_pid_schedstat(5), getrusage(2). */
bool tux_thread_times(struct tux_thread_times *t);

#endif
