/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * defer - signal handlers wait until their thread has left the library
 *
 * A thread is inside from tux_defer_enter() to tux_defer_leave(): there it may
 * hold latches, or the right to run a loop, or be on lists of waiters.  A
 * handler that ran there could wait for what its own thread holds, or leave by
 * siglongjmp() what is never given back.  So the first signal that comes inside
 * goes back to the kernel, and it and all others are blocked.  They are let in
 * when the thread leaves; the kernel delivers them then, as it would have.
 *
 * Entering and leaving cost no system call.  A deferred signal costs four.
 *
 * Only the preload puts a handler of its own in front of the application's, and
 * enters.  In a program that uses tux.h, no signal is deferred.
 */
#ifndef TUX_SYS_DEFER_H
#define TUX_SYS_DEFER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TUX_DEFER_NO_FD = INT32_MAX };	/* no process has it */

struct tux_defer {
	volatile uint64_t pending;	/* deferred signals; while there is one,
				 * all that can be are blocked */
	volatile uint32_t inside;	/* times entered and not left */
	bool restarts;		/* all handlers that wait have SA_RESTART */
	int *volatile sleep;	/* see tux_defer_sleep() */
	uint64_t deaf;		/* signals that do not end that sleep */
	uint64_t mask;		/* the thread's, while signals wait */
};

/* As tux_here in run/here.h. */
#ifdef __SANITIZE_ADDRESS__
#define TUX_DEFER_MODEL
#else
#define TUX_DEFER_MODEL tls_model("initial-exec"),
#endif

extern __thread struct tux_defer tux_defer
	__attribute__((TUX_DEFER_MODEL visibility("hidden")));

/* Runs the handlers that wait, with @mask in force besides the thread's own
 * (NULL: none). */
void tux_defer_run(const sigset_t *mask);

static inline void tux_defer_enter(void)
{
	tux_defer.inside++;
	atomic_signal_fence(memory_order_seq_cst);
}

static inline void tux_defer_leave(void)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (--tux_defer.inside == 0 && __builtin_expect(tux_defer.pending, 0))
		tux_defer_run(NULL);
}

/* As tux_defer_leave(), from a call that waits with @mask in force (NULL: the
 * thread's own) and a signal has @interrupted. */
static inline void tux_defer_leave_masked(const sigset_t *mask,
					  bool interrupted)
{
	atomic_signal_fence(memory_order_seq_cst);
	if (--tux_defer.inside == 0 && __builtin_expect(tux_defer.pending, 0))
		tux_defer_run(interrupted ? mask : NULL);
}

/* Inside, where the thread holds nothing and will go on to wait: handlers that
 * wait run now. */
static inline void tux_defer_pause(void)
{
	if (__builtin_expect(tux_defer.pending, 0))
		tux_defer_run(NULL);
}

/*
 * For a thread that is about to sleep in ppoll() with @mask (NULL: its own): @fd
 * belongs to an entry of the set that has no descriptor.  A signal that is deferred writes a descriptor
 * there that does not exist.  So ppoll() returns, even if it begins only then.
 * The thread calls tux_defer_woke() afterwards.  True: a signal waits that @mask
 * lets in, which to the caller is EINTR.
 */
static inline void tux_defer_sleep(int *fd, const sigset_t *mask)
{
	tux_defer.deaf = 0;
	if (mask)
		memcpy(&tux_defer.deaf, mask, sizeof(tux_defer.deaf));
	*(volatile int *)fd = -1;
	tux_defer.sleep = fd;
	atomic_signal_fence(memory_order_seq_cst);
	if (tux_defer.pending & ~tux_defer.deaf)
		*(volatile int *)fd = TUX_DEFER_NO_FD;
}

static inline bool tux_defer_woke(void)
{
	tux_defer.sleep = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	return tux_defer.pending & ~tux_defer.deaf;
}

/* For the handler that the kernel calls: true if @sig is deferred, and then the
 * handler returns at once.  @info and @context are what the kernel gave it;
 * @restarts says whether it was set with SA_RESTART.  A fault of the thread's
 * own (SIGSEGV and its like) is never deferred. */
bool tux_defer_signal(int sig, siginfo_t *info, void *context, bool restarts);

/* Calls @fn, the application's handler, for a signal that is not deferred.
 * What @fn calls is not inside, even after a fault that came inside. */
void tux_defer_call(void (*fn)(int, siginfo_t *, void *), int sig,
		    siginfo_t *info, void *context);

#endif
