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

/* Is @fd of a connection that is on Tux or may move there, or of an instance that
 * holds one? */
bool pollset_ours(int fd);

/* Does a call that polls @fd, and @sleeps or not, concern us?  If not, the kernel's
 * call is all it takes. */
bool pollset_asks(int fd, bool sleeps);

/* Could any descriptor concern it?  If not, there is no need to ask of each. */
static inline bool pollset_any(bool sleeps)
{
	return atomic_load_explicit(&fd_moved, memory_order_relaxed) ||
	       (sleeps && !tux_alone() &&
		(atomic_load(&fd_live) || atomic_load(&ep_range)));
}

/* poll() of @n descriptors for @ns nanoseconds, with @mask (or NULL) in force
 * meanwhile.  @strict, for select(): POLLERR and POLLHUP count only for those
 * who ask for what they end, and who gets nothing else is not asked again:
 * its fd is made negative.  A count or -errno. */
int pollset_wait(struct pollfd *fds, unsigned n, tux_time ns,
		const sigset_t *mask, bool strict);

#endif
