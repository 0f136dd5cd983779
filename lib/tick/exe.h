/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exe - an allocator that is linked into the executable itself
 *
 * Some programs have theirs inside, as Redis has jemalloc.  Its functions are
 * found by their names in the executable's own table of symbols, if that has not
 * been stripped; else what it exports.
 */
#ifndef TUX_TICK_EXE_H
#define TUX_TICK_EXE_H

/* Adds them to the critical code (tick/critical.h), the first time it is called.
 * Not in a routine.  How many ranges, or -errno. */
int tux_exe_critical(void);

#endif
