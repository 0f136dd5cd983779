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

/* Does polling @fd concern us?  If not, the kernel's call is all it takes. */
bool pollset_ours(int fd);

/* poll() of @n descriptors for @ns nanoseconds, with @mask (or NULL) in force
 * meanwhile.  @strict, for select(): POLLERR and POLLHUP count only for those
 * who ask for what they end, and who gets nothing else is not asked again:
 * its fd is made negative.  A count or -errno. */
int pollset_wait(struct pollfd *fds, unsigned n, tux_time ns,
		const sigset_t *mask, bool strict);

#endif
