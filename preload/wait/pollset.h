/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pollset - poll(2) over kernel descriptors and Tux sockets alike
 *
 * While all sockets of a set are on TCP, poll_plain.h is the whole call.
 */
#ifndef TUX_PRELOAD_POLLSET_H
#define TUX_PRELOAD_POLLSET_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

#include "base/time.h"
#include "ground/process.h"
#include "sock/fd.h"
#include "sys/alone.h"
#include "wait/epoll.h"
#include "wait/poll_look.h"

/* False: poll_asks() is false for every descriptor. */
static inline bool pollset_any(bool sleeps)
{
	if (!atomic_load_explicit(&socks_moved, memory_order_relaxed) &&
	    (!sleeps || tux_alone() ||
	     (!atomic_load(&fd_live) && !atomic_load(&ep_range))))
		return false;
	return !process_is_sandboxed();
}

/* poll() of @n descriptors for @ns nanoseconds, with @mask (or NULL) in force
 * meanwhile.  With @strict, for select(), POLLERR and POLLHUP are reported only
 * if the caller asked for the direction that they end.  An entry that has
 * nothing else to report gets a negative fd.  A count or -errno. */
int pollset_wait(struct pollfd *fds, unsigned n, tux_time ns,
		const sigset_t *mask, bool strict);

#endif
