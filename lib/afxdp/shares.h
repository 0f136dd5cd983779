/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shares - the queues of an interface, divided among the loops of a stack
 *
 * One loop at a time sends and receives by a queue.  The path manager assigns: it says
 * among how many loops the queues are divided, and each of these then gets its share,
 * where queue q is that of loop q % n.  To divide the queues anew, or to give the
 * interface back, the path manager revokes the shares.  Each loop puts its own back in
 * its next turn; when none is held, no loop uses a queue.  A loop takes no lock, and
 * pays for one load a turn while its share stays.
 */
#ifndef TUX_AFXDP_SHARES_H
#define TUX_AFXDP_SHARES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "link/link.h"

struct tux_share {
	_Atomic bool held;
	_Atomic int fd;		/* an eventfd, which wakes the loop; -1: none */
};

struct tux_shares {
	_Atomic uint32_t n;	/* loops that may get one; 0: none may */
	struct tux_share at[TUX_LINK_LOOPS];
};

void tux_shares_init(struct tux_shares *s);

/* ---- the path manager's ---- */

/* No share is held.  Loops 0 to @n - 1 may get theirs from now on; all are woken. */
void tux_shares_assign(struct tux_shares *s, uint32_t n);

/* No loop may get a share any more.  All are woken, to put theirs back. */
void tux_shares_revoke(struct tux_shares *s);

/* Is no share held?  Only after tux_shares_revoke(): before, a loop may be about to get
 * its own. */
bool tux_shares_revoked(const struct tux_shares *s);

/* ---- any loop's ---- */

/* Wakes all loops except @i; TUX_LINK_LOOPS: all. */
void tux_shares_wake(const struct tux_shares *s, unsigned i);

/* Among how many loops the queues are divided now. */
static inline uint32_t tux_shares_n(const struct tux_shares *s)
{
	return atomic_load_explicit(&s->n, memory_order_acquire);
}

/* Loop @i, which holds no share, gets its own if there is one for it.  Returns among
 * how many loops the queues are divided, or 0; the loop has a share if that is more than
 * @i. */
uint32_t tux_shares_get(struct tux_shares *s, unsigned i);

/* Loop @i does not use its queues any more, and puts its share back, if it holds one.
 * The first loop is woken: it calls the path manager. */
void tux_shares_put(struct tux_shares *s, unsigned i);

#endif
