/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals: each routine has a mask.
 */
#include "run/hook.h"

#if TUX_HOOKED

#include <errno.h>

#include "run/mask.h"
#include "run/sched_in.h"

static int change(int how, const sigset_t *set, sigset_t *old)
{
	struct tux_routine *r = tux_here.routine;
	int err;

	if (!r) {
		err = tux_real()->pthread_sigmask(how, set, old);
		if (set)
			tux_mask_changed();
		return err;
	}
	tux_sched_enter();
	err = tux_real()->pthread_sigmask(how, set, old);
	if (set && !err)
		tux_mask_own(r);
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

#endif
