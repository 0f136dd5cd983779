/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nap - one look at, or sleep on, all that a waiting thread waits for
 */
#ifndef TUX_STACK_NAP_H
#define TUX_STACK_NAP_H

#include <poll.h>
#include <signal.h>

#include "loop/loop.h"
#include "stack/waiter.h"

struct tux_nap {
	struct tux_waiter *w;		/* NULL: no bell */
	struct pollfd *fds;		/* the application's */
	unsigned n;
	const struct tux_loop *loop;	/* slept on; NULL: does not drive */
	const sigset_t *mask;		/* NULL: the thread's own */
};

enum {
	TUX_NAP_FDS = 0x01,
	TUX_NAP_BELL = 0x02,
	TUX_NAP_LOOP = 0x04,		/* its epoll instance */
	TUX_NAP_LINK = 0x08,
};

/* Looks at the descriptors, from @now until @until; revents are filled.  The
 * loop is not looked at, only slept on.  Which of the above woke it; 0: the time
 * is up; -EINTR, -ENOMEM. */
int tux_nap(const struct tux_nap *x, tux_time until, tux_time now);

/* Is something in the waiter's bell? */
bool tux_nap_rung(const struct tux_nap *x);

/* The waiter is about to sleep: may it?  To be undone by tux_nap_rouse() in
 * either case, with what tux_nap() said. */
bool tux_nap_doze(const struct tux_nap *x);
void tux_nap_rouse(const struct tux_nap *x, int got);

#endif
