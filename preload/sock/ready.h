/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ready - what a sock allows now, in the words of poll(2) and epoll(7)
 *
 * Of a sock's two directions each is on TCP or on a ring.  The kernel answers
 * for the first kind, the duplex for the second.  EPOLL* and POLL* bits have
 * the same values, so one set of them does for both interfaces.
 */
#ifndef TUX_PRELOAD_READY_H
#define TUX_PRELOAD_READY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/time.h"
#include "sock/sock.h"

enum {
	READY_IN = EPOLLIN | EPOLLPRI | EPOLLRDNORM | EPOLLRDBAND | EPOLLMSG |
		   EPOLLRDHUP,
	READY_BYTES = EPOLLIN | EPOLLRDNORM,
	READY_OUT = EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND,
	READY_ALWAYS = EPOLLERR | EPOLLHUP,	/* told without being asked */
	READY_PLAIN = 64,	/* after so many waits with all socks on TCP,
				 * the kernel waits, and the helper runs the
				 * loop */
};

struct ready {
	uint32_t now;		/* what holds, as the rings say */
	uint32_t tcp;		/* what only the kernel can say */
};

struct ready ready_of(struct sock *s);

/* Is @s the kernel's alone from now on? */
bool ready_plain(const struct sock *s);

/* A turn of the loop for a caller that waits with @w, or with NULL, and will
 * not sleep, unless the thread took one this way a moment before @now.  True if
 * it was taken. */
bool ready_turn(const struct tux_waiter *w, tux_time now);

/* The kernel reported @told for @fd of @s: what of it is the application's.
 * May find the switch in TCP; *@r is what is ready then. */
uint32_t ready_told(struct sock *s, int fd, uint32_t told, struct ready *r);

#endif
