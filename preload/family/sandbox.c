/* SPDX-License-Identifier: BSD-2-Clause */
#include "family/sandbox.h"

#include <errno.h>
#include <signal.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/claim.h"
#include "sock/fd.h"
#include "sock/holders.h"
#include "sock/leave.h"
#include "sock/observer.h"
#include "sock/option.h"
#include "sock/pass.h"
#include "sock/unclaim.h"
#include "sock/stack.h"
#include "sock/stage.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "sys/take.h"

enum { FOLLOW_S = 1 };		/* for the peers */

/* @s is of the parent's: on TCP, or lost to this process.  This process is not
 * counted out when it closes @s, because a vfork child of it could do that
 * (process.h); the kernel's count still tells the parent. */
static void leave_inherited(struct sock *s, int fd, bool late)
{
	late = late && !holders_are_plain(s->holders);
	if (late && stage_try(s, SOCK_CLAIMED, SOCK_CLAIMING))
		stage_try(s, SOCK_CLAIMING, SOCK_LOST);
	else if (stage_of(s) == SOCK_CLAIMED)
		unclaim_inherited(s, fd);
	s->holders = 0;
	if (stage_of(s) == SOCK_TCP)
		leave_calls(s);
	else if (stage_hold(s))
		claim_refuse_at(s, fd, TUX_REASON_SHARED);
}

static void give_back(struct sock *s, int fd, void *arg)
{
	const tux_time *until = arg;
	bool late = tux_clock_read() >= *until;

	if (s->listens)
		return;
	if (s->epoch != process_here.epoch) {
		leave_inherited(s, fd, late);
		return;
	}
	claim_stay(fd, TUX_REASON_SANDBOXED);
	if (stage_of(s) == SOCK_CLAIMED &&
	    (late || !pass_plain_for(fd, TUX_REASON_SANDBOXED)))
		unclaim_reset(s, fd);
	option_give(s, fd);
	observer_moved(s, fd);
}

static void leave_tux(void)
{
	tux_time until = tux_clock_read() + TUX_SEC(FOLLOW_S);

	fd_each(give_back, &until);
	/* Of connections that are closed, bytes may be left to send. */
	if (preload_stack())
		tux_channel_drain(preload_stack(), TUX_SEC(FOLLOW_S));
	stack_leave();
	observer_stopped();
}

/* All signals, but for those of faults: they would kill the process. */
static sigset_t signals(void)
{
	static const int faults[] = {
		SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS,
	};
	sigset_t set;

	sigfillset(&set);
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sigdelset(&set, faults[i]);
	return set;
}

/* No handler runs meanwhile: soon nothing defers it, and latches are held. */
void sandbox_begin(void)
{
	int saved = errno;
	sigset_t all = signals(), before;

	if (process_is_sandboxed() || process_is_vfork())
		return;
	pthread_sigmask(SIG_BLOCK, &all, &before);
	tux_defer_enter();
	if (claim_stop(TUX_REASON_SANDBOXED)) {
		leave_tux();
		process_sandboxed();
	}
	/* Another thread may have begun. */
	for (unsigned i = 1; !process_is_sandboxed(); i++)
		tux_await(i);
	tux_defer_leave();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
}
