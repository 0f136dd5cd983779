/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rseq - the kernel's news to a thread of where it runs
 *
 * libc has the kernel write the processor into each thread's storage, and
 * restart sequences that say there that they are under way.  In a routine the
 * storage is another's, of which the kernel thinks that it runs elsewhere or not
 * at all.  So who lends his storage ends that first: it then says "not
 * registered", and whoever looks falls back to asking the kernel.
 */
#ifndef TUX_RUN_RSEQ_H
#define TUX_RUN_RSEQ_H

#include <stdint.h>

/* The calling thread, which is about to lend its storage. */
void tux_rseq_leave(void);

/* In a child of fork() that was called in a routine, whose storage is this
 * thread's from now on: the kernel still knows the storage at @tls, which
 * nobody has any more. */
void tux_rseq_forked(uintptr_t tls);

#endif
