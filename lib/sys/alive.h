/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alive - does another process run?
 */
#ifndef TUX_SYS_ALIVE_H
#define TUX_SYS_ALIVE_H

enum tux_alive {
	TUX_ALIVE_RUNS,		/* ... or sleeps; or that is not known */
	TUX_ALIVE_STOPPED,	/* by a signal, or a debugger has it */
	TUX_ALIVE_GONE,		/* it has ended, and may still be a zombie */
};

/* How is process @pid?  Reads /proc: its numbers are those of the PID namespace in
 * which it was mounted, also in a child that has a namespace of its own. */
enum tux_alive tux_alive_look(int pid);

#endif
