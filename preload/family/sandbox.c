/* SPDX-License-Identifier: BSD-2-Clause */
#include "family/sandbox.h"

#include <errno.h>

#include "ground/process.h"
#include "sock/claim.h"
#include "sock/fd.h"
#include "sock/observer.h"
#include "sock/pass.h"
#include "sock/rest.h"
#include "sock/stack.h"
#include "sock/stage.h"
#include "sys/clock.h"
#include "sys/defer.h"

enum { FOLLOW_S = 1 };		/* for the peers */

static void give_back(struct sock *s, int fd, void *arg)
{
	const tux_time *until = arg;

	claim_stay(fd, TUX_REASON_SANDBOXED);
	if (stage_of(s) == SOCK_CLAIMED &&
	    (tux_clock_read() >= *until ||
	     !pass_plain_for(fd, TUX_REASON_SANDBOXED)))
		rest_reset(s, fd);
	observer_moved(s, fd);
}

void sandbox_begin(void)
{
	int saved = errno;
	tux_time until;

	if (process_is_vfork() || !claim_stop(TUX_REASON_SANDBOXED))
		return;
	tux_defer_enter();
	until = tux_clock_read() + TUX_SEC(FOLLOW_S);
	fd_each(give_back, &until);
	observer_stopped();
	/* Of connections that are closed, bytes may be left to send. */
	if (preload_stack())
		tux_channel_drain(preload_stack(), TUX_SEC(FOLLOW_S));
	stack_leave();
	process_sandboxed();
	tux_defer_leave();
	errno = saved;
}
