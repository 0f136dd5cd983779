/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pollset - poll(2) over kernel descriptors and Tux sockets alike
 */
#ifndef TUX_PRELOAD_POLLSET_H
#define TUX_PRELOAD_POLLSET_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

#include "base/time.h"
#include "epoll.h"
#include "fd.h"
#include "sys/alone.h"

/* Is @fd of a connection that is on Tux, may move there, or was lost in a fork; or
 * of an instance that holds one?  Such an instance is prepared to be polled
 * (nest_begin). */
bool pollset_ours(int fd);

/* Does poll() of @fd need the preload?  False: the kernel's call is all it takes.
 * One that @sleeps while other threads run needs it for a candidate, too, because
 * another thread may claim that meanwhile. */
bool pollset_asks(int fd, bool sleeps);

/* False: pollset_asks() is false for every descriptor. */
static inline bool pollset_any(bool sleeps)
{
	return atomic_load_explicit(&fd_moved, memory_order_relaxed) ||
	       (sleeps && !tux_alone() &&
		(atomic_load(&fd_live) || atomic_load(&ep_range)));
}

/* poll() of @n descriptors for @ns nanoseconds, with @mask (or NULL) in force
 * meanwhile.  With @strict, for select(), POLLERR and POLLHUP are reported only
 * if the caller asked for the direction that they end.  An entry that has nothing
 * else to report gets a negative fd.  A count or -errno. */
int pollset_wait(struct pollfd *fds, unsigned n, tux_time ns,
		const sigset_t *mask, bool strict);

#endif
