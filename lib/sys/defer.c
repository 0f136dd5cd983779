/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/defer.h"

#include <errno.h>
#include <ucontext.h>

#include "sys/sys.h"

__thread struct tux_defer tux_defer;

static uint64_t bit(int sig)
{
	return (uint64_t)1 << (sig - 1);
}

/* What a thread brings on itself: blocked, it would end the process. */
static uint64_t faults(void)
{
	return bit(SIGSEGV) | bit(SIGBUS) | bit(SIGFPE) | bit(SIGILL) |
	       bit(SIGTRAP) | bit(SIGSYS);
}

/* Those between the classic and the real-time signals are the C library's. */
static uint64_t deferrable(void)
{
	uint64_t libc = 0;

	for (int sig = SIGSYS + 1; sig < SIGRTMIN; sig++)
		libc |= bit(sig);
	return ~(faults() | libc);
}

/* A positive code: the kernel sent it, for what the thread has just done. */
static bool is_own_fault(int sig, const siginfo_t *info)
{
	return (faults() & bit(sig)) && info->si_code > 0;
}

static void change_mask(int how, const uint64_t *mask, uint64_t *old)
{
	TUX_SYS(SYS_rt_sigprocmask, how, mask, old, sizeof(*mask), 0, 0);
}

/* The signal is pending again, for this thread.  Its number and all else that
 * its sender gave come back as they are. */
static bool send_back(int sig, const siginfo_t *info)
{
	return TUX_SYS(SYS_rt_tgsigqueueinfo,
		       TUX_SYS(SYS_getpid, 0, 0, 0, 0, 0, 0),
		       TUX_SYS(SYS_gettid, 0, 0, 0, 0, 0, 0), sig, info, 0,
		       0) == 0;
}

/* The mask that is in force when the handler has returned.  The kernel's is
 * shorter than libc's, and other things may follow it. */
static uint64_t *mask_after(void *context)
{
	return (void *)&((ucontext_t *)context)->uc_sigmask;
}

bool tux_defer_signal(int sig, siginfo_t *info, void *context, bool restarts)
{
	struct tux_defer *d = &tux_defer;
	uint64_t block = deferrable() | bit(sig), now, after;

	if (!d->inside || is_own_fault(sig, info))
		return false;
	/* SA_NODEFER leaves the signal open. */
	change_mask(SIG_BLOCK, &block, &now);
	if (!send_back(sig, info)) {
		change_mask(SIG_SETMASK, &now, NULL);
		return false;
	}
	memcpy(&after, mask_after(context), sizeof(after));
	if (!d->pending)
		d->mask = after;
	d->restarts = restarts && (d->restarts || !d->pending);
	d->pending |= bit(sig);
	after |= block;
	memcpy(mask_after(context), &after, sizeof(after));
	if (d->sleep && (bit(sig) & ~d->deaf))
		*d->sleep = TUX_DEFER_NO_FD;
	return true;
}

void tux_defer_call(void (*fn)(int, siginfo_t *, void *), int sig,
		    siginfo_t *info, void *context)
{
	struct tux_defer before = tux_defer;

	if (!before.inside) {
		fn(sig, info, context);
		return;
	}
	tux_defer = (struct tux_defer){ .inside = 0 };
	fn(sig, info, context);
	tux_defer = before;
}

void tux_defer_run(const sigset_t *mask)
{
	struct tux_defer *d = &tux_defer;
	struct timespec none = { 0 };
	uint32_t inside = d->inside;
	int saved = errno;

	d->pending = 0;
	d->inside = 0;
	change_mask(SIG_SETMASK, &d->mask, NULL);
	if (mask)
		tux_sys_ppoll(NULL, 0, &none, mask);
	d->inside = inside;
	errno = saved;
}
