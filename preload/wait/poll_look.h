/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll_look - one look of a poll(2) at the kernel and at the rings
 *
 * What is on TCP is the kernel's to poll: the set is copied, and the copy asks
 * only for that.  What is on rings is looked at.
 */
#ifndef TUX_PRELOAD_POLL_LOOK_H
#define TUX_PRELOAD_POLL_LOOK_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>

#include "base/time.h"
#include "sock/sock.h"

/* Is @fd of a connection that is on Tux, may move there, or was lost in a fork;
 * or of an instance that holds one?  Such an instance is prepared to be polled
 * (nest_begin). */
bool poll_ours(int fd);

/* Does poll() of @fd need the preload?  False: the kernel's call is all it
 * takes.  One that @sleeps while other threads run needs it for a candidate,
 * too, because another thread may claim that meanwhile. */
bool poll_asks(int fd, bool sleeps);

struct pollee {			/* a sock in the set */
	struct sock *sock;
	struct watch watch;
	unsigned i;		/* its place there */
};

struct polling {		/* one call */
	struct pollfd *fds;	/* the caller's */
	struct pollfd *kernel;	/* what to ask the kernel: n as well */
	struct pollee *e;	/* poll_plain() needs none */
	unsigned n, m;		/* descriptors; socks */
	bool strict;
	tux_time until;
	const sigset_t *mask;
};

/* Takes a reference to each sock in the set that is claimed, or may be claimed
 * by another thread meanwhile; epoll instances learn that they are polled. */
void poll_find_socks(struct polling *p);

/* Fills what to ask the kernel.  True if there is anything. */
bool poll_arrange(struct polling *p);

/* The caller's answer about the descriptor at place @i is @got.  Is there
 * any? */
bool poll_answer(struct polling *p, unsigned i, short got);

/* The answers of the kernel and of the rings to the caller; how many. */
int poll_merge(struct polling *p);

/* Asks both; how many descriptors have something, or -errno. */
int poll_look(struct polling *p);

#endif
