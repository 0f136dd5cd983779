/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/leave.h"

#include "sock/fd.h"
#include "sock/say.h"
#include "sock/stage.h"

void leave_listener(struct sock *s)
{
	struct sock *l = atomic_exchange(&s->listener, NULL);

	if (l)
		sock_put(l);
}

void leave_calls(struct sock *s)
{
	leave_listener(s);
	/* Where other processes hold it, its close has to be counted. */
	if (!s->holders)
		fd_leave(s);
}

void leave_for(struct sock *s, enum tux_reason why)
{
	s->why = (uint8_t)why;
	stage_try(s, SOCK_CLAIMING, SOCK_TCP);
	say_decided(s, false, why, NULL);
	leave_calls(s);
}
