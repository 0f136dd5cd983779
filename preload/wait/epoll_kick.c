/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/epoll_kick.h"

#include <errno.h>

#include "ground/libc.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "wait/seat.h"

#define KICK_FOR TUX_MSEC(100)

void kick_sleepers(struct ep *ep)
{
	struct epoll_event e = { .events = EPOLLIN };
	int saved = errno;

	if (!seat_count(ep) || ep->kick >= 0)
		return;
	ep->kick = tux_fd_lift(libc.eventfd(1, EFD_CLOEXEC |
					       EFD_NONBLOCK));
	ep->kick_until = tux_clock_read() + KICK_FOR;
	e.data.u64 = tag_make(TAG_PRIVATE, ep->kick);
	libc.epoll_ctl(atomic_load(&ep->fd), EPOLL_CTL_ADD, ep->kick, &e);
	errno = saved;
}

void kick_end(struct ep *ep)
{
	struct epoll_event e = { 0 };

	if (ep->kick < 0)
		return;
	libc.epoll_ctl(atomic_load(&ep->fd), EPOLL_CTL_DEL, ep->kick, &e);
	tux_fd_close(ep->kick);
	ep->kick = -1;
}

void kick_told(struct ep *ep, uint64_t tag)
{
	if (ep->kick < 0 || tag != tag_make(TAG_PRIVATE, ep->kick))
		return;
	if (!seat_count(ep) || tux_clock_read() >= ep->kick_until)
		kick_end(ep);
}
