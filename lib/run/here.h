/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * here - what the code that runs can find out about itself
 *
 * One of it is in the thread-local storage of each thread. The storage of a
 * donor says which routine runs on its stack; so code in a routine, a signal
 * handler too, finds it, whatever thread of the kernel that is. Of the fixed
 * model: reached in one instruction, without a call and an allocation.
 */
#ifndef TUX_RUN_HERE_H
#define TUX_RUN_HERE_H

#include <stdint.h>

struct tux_routine;
struct tux_sched;

struct tux_here {
	struct tux_routine *routine;	/* NULL: not in one */
	uint32_t preempt_count;		/* regions entered and not left; 0: a
					 * routine can be preempted */
	uint32_t pending;		/* a tick came to one of them */
	uint32_t thread;		/* its number, if it has run slices; or 0 */
	struct tux_routine *lent_to;	/* on a donor: it runs a call of this
					 * routine, as a thread (blocking.h); or
					 * NULL */
	struct tux_sched *left;		/* the scheduler of which, and of those
					 * linked behind it, it runs slices while
					 * the thread is the application's and
					 * routines may have locks that the thread
					 * wants; or NULL */
};

/* Not under the sanitizer: its test for NULL takes the flags of an addition
 * that the linker makes into one that sets none.  (Nor may code of ours compare an
 * address with NULL that it computes from that of tux_here.) */
#ifdef __SANITIZE_ADDRESS__
#define TUX_HERE_MODEL
#else
#define TUX_HERE_MODEL tls_model("initial-exec"),
#endif

extern __thread struct tux_here tux_here
	__attribute__((TUX_HERE_MODEL visibility("hidden")));

#endif
