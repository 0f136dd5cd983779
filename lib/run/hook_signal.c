/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals: each routine has a mask, and one signal is ours.
 */
#include "run/hook.h"

#if TUX_HOOKED

#include <errno.h>

#include "run/mask.h"
#include "run/sched_in.h"
#include "tick/tick_signal.h"

/* To others the signal that ends slices does not come. */
static bool gets_ours(void)
{
	return tux_here.routine || tux_here.thread;
}

/* All but that signal, which nobody needs to block. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *copy)
{
	int sig = tux_tick_signal();

	if (!set || how == SIG_UNBLOCK || !sig || !gets_ours())
		return set;
	*copy = *set;
	sigdelset(copy, sig);
	return copy;
}

static int change(int how, const sigset_t *set, sigset_t *old)
{
	struct tux_routine *r = tux_here.routine;
	sigset_t copy;
	int err;

	tux_sched_enter();
	set = without_ours(how, set, &copy);
	err = tux_real()->pthread_sigmask(how, set, old);
	if (set && !err && r)
		tux_mask_own(r);
	else if (set && !err && gets_ours())
		tux_mask_changed();
	tux_sched_leave();
	return err;
}

TUX_HOOK int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return change(how, set, old);
}

TUX_HOOK int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	int err = change(how, set, old);

	if (!err)
		return 0;
	errno = err;
	return -1;
}

static bool ours(int sig)
{
	return sig > 0 && sig == tux_tick_signal();
}

TUX_HOOK int sigaction(int sig, const struct sigaction *a, struct sigaction *old)
{
	if (!a || !ours(sig))
		return tux_real()->sigaction(sig, a, old);
	errno = EINVAL;
	return -1;
}

TUX_HOOK sighandler_t signal(int sig, sighandler_t fn)
{
	if (!ours(sig))
		return tux_real()->signal(sig, fn);
	errno = EINVAL;
	return SIG_ERR;
}

/* ---- calls that wait with a mask, or for signals ---- */

static const sigset_t *mask_of(const sigset_t *set, sigset_t *copy)
{
	return without_ours(SIG_SETMASK, set, copy);
}

TUX_HOOK int ppoll(struct pollfd *p, nfds_t n, const struct timespec *t,
		   const sigset_t *set)
{
	sigset_t copy;

	return tux_real()->ppoll(p, n, t, mask_of(set, &copy));
}

TUX_HOOK int pselect(int n, fd_set *r, fd_set *w, fd_set *x,
		     const struct timespec *t, const sigset_t *set)
{
	sigset_t copy;

	return tux_real()->pselect(n, r, w, x, t, mask_of(set, &copy));
}

TUX_HOOK int epoll_pwait(int fd, struct epoll_event *e, int n, int ms,
			 const sigset_t *set)
{
	sigset_t copy;

	return tux_real()->epoll_pwait(fd, e, n, ms, mask_of(set, &copy));
}

TUX_HOOK int sigsuspend(const sigset_t *set)
{
	sigset_t copy;

	return tux_real()->sigsuspend(mask_of(set, &copy));
}

TUX_HOOK int sigwait(const sigset_t *set, int *sig)
{
	sigset_t copy;

	return tux_real()->sigwait(mask_of(set, &copy), sig);
}

TUX_HOOK int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t copy;

	return tux_real()->sigwaitinfo(mask_of(set, &copy), info);
}

TUX_HOOK int sigtimedwait(const sigset_t *set, siginfo_t *info,
			  const struct timespec *t)
{
	sigset_t copy;

	return tux_real()->sigtimedwait(mask_of(set, &copy), info, t);
}

#endif
