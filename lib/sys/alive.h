/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alive - does another process run?
 */
#ifndef TUX_SYS_ALIVE_H
#define TUX_SYS_ALIVE_H

#include <stdint.h>

enum tux_alive {
	TUX_ALIVE_RUNS,		/* ... or sleeps; or that is not known */
	TUX_ALIVE_STOPPED,	/* by a signal, or a debugger has it */
	TUX_ALIVE_GONE,		/* it has ended, and may still be a zombie */
};

/* What tells a process from others that have its number, in another PID namespace or
 * later. */
struct tux_alive_who {
	int pid;
	uint64_t space;		/* its PID namespace; 0: not known */
	uint64_t start;		/* when it began, in ticks; 0: not known */
};

/* Stores in *@who what tells the calling process from others.  Reads /proc. */
void tux_alive_self(struct tux_alive_who *who);

/* How is @who?  Reads /proc, whose numbers are those of the PID namespace in which it
 * was mounted: what is found there may be another process, whose state says nothing.
 * That nothing is found says nothing to a caller in another namespace. */
enum tux_alive tux_alive_look(const struct tux_alive_who *who);

#endif
