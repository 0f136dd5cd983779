/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu - time that processes have run: this one, and others to be named
 *
 * The kernel's own count in nanoseconds, of all threads, also of those that
 * have ended.  On a veth it includes the softirq that a sender runs for the
 * receiver.
 */
#ifndef BENCH_CPU_H
#define BENCH_CPU_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { CPU_OTHERS = 16 };

struct cpu {
	unsigned n;
	clockid_t clock[CPU_OTHERS];
};

/* Counts @pid too.  -ESRCH, -ENOSPC. */
int cpu_add(struct cpu *c, pid_t pid);

/* Nanoseconds so far. */
uint64_t cpu_own(void);
uint64_t cpu_others(const struct cpu *c);

#endif
