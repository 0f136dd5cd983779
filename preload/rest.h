/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rest - a claimed connection of which nothing has moved goes back to the kernel
 *
 * A claimed connection pays for the duplex and for looks at rings with every call.
 * If the loop gives the connection up, the next call gives it back.  For a reason
 * that lasts, at either end, the connection is left to the kernel for good.  If the
 * peer is silent, the connection is a candidate again: its calls are the kernel's,
 * too, and it is claimed again only after a rest, which doubles each time.
 */
#ifndef TUX_PRELOAD_REST_H
#define TUX_PRELOAD_REST_H

#include <stdbool.h>

#include "sock.h"

/* The loop has given @s up, or is done with it.  Any thread. */
static inline void rest_told(struct sock *s)
{
	atomic_store(&s->rests, true);
}

/* Has the loop given claimed @s up? */
static inline bool rest_asked(const struct sock *s)
{
	return atomic_load_explicit(&s->rests, memory_order_acquire);
}

/* The loop has given up @s, reached by @fd: gives it back, unless the program has
 * already done with it what only the duplex knows, or a fork has given it to
 * another process.  Then it stays claimed, and on TCP for good.  Signals are
 * deferred, and no latch is held. */
void rest_begin(struct sock *s, int fd);

/* @s is CLAIMING, by this thread, and about to be claimed.  False: its rest goes on,
 * and it is looked at again after more turn-arounds. */
bool rest_end(struct sock *s);

#endif
