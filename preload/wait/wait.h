/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait - a thread that sleeps in a call
 *
 * Waiters are pooled, not bound to threads: nothing has to run when a thread
 * ends, and a signal handler that waits takes one of its own.
 */
#ifndef TUX_PRELOAD_WAIT_H
#define TUX_PRELOAD_WAIT_H

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sock/sock.h"
#include "stack/channel.h"

struct waiting {
	struct tux_waiter w;		/* index 0 is all that is ever rung */
	_Atomic uint32_t queued;	/* for the watches: shared by all */
};

/* A waiter for this thread, its bell empty, or NULL: no memory, no fd. */
struct waiting *wait_take(void);
void wait_give(struct waiting *t);

/* Watches @s with @w until sock_unwatch(): @w rings @t when @events (of poll())
 * may be there, or on any change if @events has neither POLLIN nor POLLOUT.  The
 * thread that waits with @t runs the loop of @s. */
void wait_watch(struct waiting *t, struct sock *s, short events,
		struct watch *w);

/* Watches all socks at once, until sock_unwatch_all(). */
void wait_watch_all(struct waiting *t, struct watch *w);

/* Empties @t's bell, so that the next ring is noticed.  What rang meanwhile may
 * have been dropped: look at the socks afterwards. */
void wait_drain(struct waiting *t);

enum {
	WAIT_BRIEF = 1,		/* TCP was ready before but the call could not
				 * go on: does not ask TCP, and sleeps briefly */
	WAIT_PARTIAL = 2,	/* the call has moved bytes: any handler ends
				 * it */
};

/* Sleeps until claimed @s, reached by @fd, may allow what @events asks for
 * (POLLIN, POLLOUT), or @until.  @how is of WAIT_*.  1: try again; 0: the time
 * is up; -EINTR: a handler ran that ends the call. */
int wait_for(struct sock *s, int fd, short events, tux_time until,
	     unsigned how);

/* Would the kernel go on with a call that may wait until @until, after the
 * handlers that wait?  @how: WAIT_PARTIAL or not. */
bool wait_goes_on(tux_time until, unsigned how);

/* In a child, right after fork. */
void wait_forked(void);

#endif
