/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * poll_in - a call of poll(2) under way
 *
 *   poll_look   one look at the kernel and at the rings
 *   poll_quiet  the whole call, while all sockets are on TCP
 *   poll        the whole call otherwise; the functions that programs call
 */
#ifndef TUX_PRELOAD_POLL_IN_H
#define TUX_PRELOAD_POLL_IN_H

#include "pollset.h"
#include "ready.h"
#include "wait.h"

struct pollee {			/* a sock in the set */
	struct sock *sock;
	struct watch watch;
	unsigned i;		/* its place there */
};

struct polling {		/* one call */
	struct pollfd *fds;	/* the caller's */
	struct pollfd *kernel;	/* what to ask the kernel: n as well */
	struct pollee *e;	/* poll_quiet() needs none */
	unsigned n, m;		/* descriptors; socks */
	bool strict;
	bool nests;		/* there is an epoll instance of ours in it */
	tux_time until;
	const sigset_t *mask;
};

/* Takes a reference to each sock in the set that is claimed, or may be claimed by
 * another thread meanwhile. */
void poll_find_socks(struct polling *p);

/* Fills what to ask the kernel.  True if there is anything. */
bool poll_arrange(struct polling *p);

/* The caller's answer about the descriptor at place @i is @got.  Is there any? */
bool poll_answer(struct polling *p, unsigned i, short got);

/* The answers of the kernel and of the rings to the caller; how many. */
int poll_merge(struct polling *p);

/* Asks both; how many descriptors have something, or -errno. */
int poll_look(struct polling *p);

/* Where all sockets of @p have been on TCP for a while, the kernel waits, as it
 * would without us, and the helper runs the loop.  No sock is held or watched
 * meanwhile; a direction that moves rings.  True: *@r is the call's result. */
bool poll_quiet(struct polling *p, int *r);

#endif
