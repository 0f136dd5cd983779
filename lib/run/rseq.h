/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rseq - what the kernel tells a thread about where it runs
 *
 * libc has the kernel write the processor into each thread's storage, and
 * restart sequences that the storage names. In a routine the storage is another
 * thread's, which for the kernel runs elsewhere or not at all. So a thread that
 * lends its storage ends that first: the storage then says "not registered",
 * and its readers fall back to asking the kernel.  Some allocators register
 * an area in the storage by themselves, and would do so while the thread makes a
 * call of the routine (blocking.h).  So the thread registers another area, which
 * no code reads; the kernel refuses a second one.
 */
#ifndef TUX_RUN_RSEQ_H
#define TUX_RUN_RSEQ_H

#include <stdint.h>

/* The calling thread, which is about to lend its storage. */
void tux_rseq_leave(void);

/* In a child of fork() that was called in a routine; the storage of the routine
 * is this thread's from now on. The kernel still knows the storage at @tls,
 * which no thread has any more. */
void tux_rseq_forked(uintptr_t tls);

#endif
