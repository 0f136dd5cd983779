/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll_told - what the kernel's instance reports, made the application's
 */
#ifndef TUX_PRELOAD_EPOLL_TOLD_H
#define TUX_PRELOAD_EPOLL_TOLD_H

#include "wait/epoll_look.h"

/* Makes @k events that the kernel put at evs + n the application's: those that
 * are not for it are left out. */
void told_take(struct look *l, int k);

/* Are the @k events that the kernel told of @fd, an instance or none, all as
 * the program registered them?  All tags have the highest bit, which is soon
 * seen. */
static inline bool told_as_own(int fd, const struct epoll_event *evs, int k)
{
	struct ep *ep = ep_peek(fd);
	uint64_t any = 0;

	for (int i = 0; i < k; i++)
		any |= evs[i].data.u64;
	return !(any >> 63) &&
	       (!ep || atomic_load_explicit(&ep->own, memory_order_relaxed));
}

/* What told_take() does, for @k events of an instance without socks, by its
 * descriptor @fd: how many are for the application.  It was closed: -EBADF. */
int told_direct(int fd, struct epoll_event *evs, int k);

#endif
