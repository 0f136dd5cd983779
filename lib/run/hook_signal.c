/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals: each routine has a mask, and one signal is ours.
 */
#include "run/hook.h"

#if TUX_HOOKED

#include <errno.h>

#include "run/mask.h"
#include "run/preempt.h"
#include "run/sched_in.h"

/* All but the signal that ends slices, which nobody needs to block. */
static const sigset_t *without_ours(int how, const sigset_t *set, sigset_t *copy)
{
	int sig = tux_preempt_signal();

	if (!set || how == SIG_UNBLOCK || !sig)
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
	else if (set && !err)
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
	return sig > 0 && sig == tux_preempt_signal();
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

#endif
