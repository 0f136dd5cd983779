/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll_nest - an instance that is itself polled, or held by another
 *
 * The waiter's eventfd is then one of the kernel's items, and stands for the
 * rings: readable while a look would find something, or since something rang.
 * That costs system calls, and so is done only for instances seen in use that
 * way.
 */
#ifndef TUX_PRELOAD_EPOLL_NEST_H
#define TUX_PRELOAD_EPOLL_NEST_H

#include "wait/epoll.h"

/* From now on the descriptor of @ep is readable while a look at @ep would find
 * something. */
void nest_begin(struct ep *ep);

/* Has the kernel's instance watch the eventfd of @ep, which is there.  False:
 * it does not.  nest_unbell(): no longer, unless others poll the instance.
 * (latch held) */
bool nest_bell(struct ep *ep);
void nest_unbell(struct ep *ep);

/* The eventfd of @ep is there: has the kernel's instance watch it, if need be
 * (latch held). */
void nest_join(struct ep *ep);

/* @ep has no sock and will have none: the kernel's instance does without the
 * eventfd (latch held). */
void nest_end(struct ep *ep);

/* Makes that eventfd say whether a look would find something (latch held). */
void nest_show(struct ep *ep);

/* Has it say nothing while a look is under way, except to a thread that sleeps
 * on it. */
void nest_hush(struct ep *ep);

/* Would the kernel report anything for the application now?  (latch held) */
bool nest_peek(struct ep *ep);

/* @fd is about to be polled.  Is it an instance that holds socks? */
bool nest_polled(int fd);

/* The kernel has told something of @it, which has no sock, and the application is
 * not told: the kernel tells it again, if @told, and may tell what comes (latch
 * held). */
void nest_rearm(struct ep *ep, struct item *it, bool told);

/* Readable, says the kernel of @fd, an instance; is it true? */
bool nest_true(int fd);

#endif
