/* SPDX-License-Identifier: BSD-2-Clause */
#include "hook/bypass.h"

#include "sock/claim.h"
#include "sock/fd.h"
#include "sock/pass.h"
#include "sys/clock.h"
#include "wait/poll_look.h"

#define BYPASS_FOR TUX_SEC(1)

bool bypass_fd(int fd)
{
	return !poll_ours(fd) || pass_plain_for(fd, TUX_REASON_BYPASSED);
}

void bypass_all(void)
{
	tux_time until;

	if (!claim_stop(TUX_REASON_BYPASSED))
		return;
	until = tux_clock_read() + BYPASS_FOR;
	for (int fd = 0; fd < fd_top() && tux_clock_read() < until; fd++)
		bypass_fd(fd);
}
