/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll_kick - wakes the threads that sleep in the kernel's epoll_wait()
 *
 * An eventfd in the kernel's instance, readable for a moment.
 */
#ifndef TUX_PRELOAD_EPOLL_KICK_H
#define TUX_PRELOAD_EPOLL_KICK_H

#include "wait/epoll.h"

/* Threads may sleep in the kernel's epoll_wait() while the first sock comes
 * into @ep: has them look again (latch held). */
void kick_sleepers(struct ep *ep);

/* The kernel has reported @tag, of no item of @ep (latch held): takes the
 * eventfd away if it was that, once threads have left the kernel's call, or had
 * a while to. */
void kick_told(struct ep *ep, uint64_t tag);

/* Takes the eventfd away, whether or not threads have left (latch held). */
void kick_end(struct ep *ep);

#endif
