/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll_look - what one epoll_wait() reports
 *
 * An item that both the kernel (epoll_told.h) and the rings report takes one
 * place.
 */
#ifndef TUX_PRELOAD_EPOLL_LOOK_H
#define TUX_PRELOAD_EPOLL_LOOK_H

#include <signal.h>

#include "wait/epoll.h"

struct look {			/* one epoll_wait() */
	struct ep *ep;
	int fd;			/* the descriptor it was called with */
	struct epoll_event *evs;
	int max;
	tux_time first;		/* how long the caller asked to wait; then NEVER */
	tux_time until;		/* the instant of that; 0: do not wait */
	const sigset_t *mask;
	uint32_t seq;		/* 0 until it looks */
	int n;			/* events in evs */
	bool half;		/* of one of them the kernel knows more */
};

/* ---- one item (the latch of the instance is held) ----------------------- */

/* The look begins, unless it has. */
void look_begin(struct look *l);

/* What of @it the application may be told. */
static inline uint32_t look_wanted(const struct item *it)
{
	return it->spent ? 0 : it->events | READY_ALWAYS;
}

/* What the rings tell @it, by its level or by its edge. */
uint32_t look_rings_tell(struct item *it, const struct ready *r);

/* The application is told @got of @it. */
void look_report(struct look *l, struct item *it, uint32_t got);

/* @it, of EPOLLONESHOT, was reported: it is silent until the next MOD.  The
 * kernel's item is so by itself if it was the kernel that reported
 * (@by_kernel). */
void look_spend(struct ep *ep, struct item *it, bool by_kernel);

/* ---- the rings -------------------------------------------------------- */

/* Takes what rings into the list of ready items (latch held). */
void look_drain(struct ep *ep);

/* Items of the list that are ready, up to @max events in all. */
void look_rings(struct look *l, int max);

/* Is any item of the list ready?  Drops those that are not (latch held). */
bool look_any(struct ep *ep);

/* The same, once the bell has filled the list. */
bool look_finds(struct ep *ep);

#endif
