/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll - one look at, or one sleep on, all that a thread waits for
 */
#ifndef TUX_STACK_POLL_H
#define TUX_STACK_POLL_H

#include <poll.h>
#include <signal.h>

#include "loop/loop.h"
#include "stack/waiter.h"

struct tux_poll {
	struct tux_waiter *w;		/* NULL: no bell */
	struct pollfd *fds;		/* the application's */
	unsigned n;
	const struct tux_loop *loop;	/* slept on, too; NULL: none */
	const sigset_t *mask;		/* NULL: the thread's own */
};

enum {
	TUX_POLL_FDS = 0x01,
	TUX_POLL_BELL = 0x02,
	TUX_POLL_LOOP = 0x04,		/* its epoll instance */
	TUX_POLL_LINK = 0x08,
};

/* Waits for the descriptors, from @now until @until, and fills their revents.
 * The loop's descriptors, and the bell's, count only if that is a sleep.  A look
 * asks the bell itself: its descriptor may have been written late, for a ring that
 * was answered long ago, and only a sleep makes it unreadable.  Returns which of the
 * above are ready; 0: the time is up; -EINTR, -ENOMEM. */
int tux_poll(const struct tux_poll *x, tux_time until, tux_time now);

/* What tux_poll(@x, @until, @now), which returned @got, says of the loop. */
enum tux_loop_told tux_poll_told(const struct tux_poll *x, tux_time until,
				 tux_time now, int got);

/* Is something in the waiter's bell? */
bool tux_poll_rung(const struct tux_poll *x);

/* The waiter is about to sleep: false if it must not.  In either case
 * tux_poll_finish_sleep() follows, with what tux_poll() returned. */
bool tux_poll_prepare_sleep(const struct tux_poll *x);
void tux_poll_finish_sleep(const struct tux_poll *x, int got);

#endif
