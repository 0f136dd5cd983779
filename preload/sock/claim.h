/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * claim - how a TCP socket comes to be ours
 *
 * listen() makes a listener, accept() and connect() make candidates, unless it
 * is known by then that the connection will never move.  A read, write or
 * epoll_ctl of a process claims one when it is worth it (candidate.h); with
 * path=tux, the first does.  So does a poll() that may sleep while other
 * threads run.  Not accept(): the process that accepts may leave the connection
 * to a child.
 */
#ifndef TUX_PRELOAD_CLAIM_H
#define TUX_PRELOAD_CLAIM_H

#include <stdbool.h>

#include "sock/candidate.h"
#include "sock/unclaim.h"
#include "sock/sock.h"

/* accept(@listener) has returned @fd, connected to @peer; NULL: the program has
 * not asked. */
void claim_accepted(int listener, int fd, const struct tux_addr *peer);

/* connect(@fd) to @peer has succeeded, or goes on in the background. */
void claim_connecting(int fd, const struct tux_addr *peer);

/* Connection @fd, for which there is no sock, is left to the kernel, and none
 * of its calls are looked at.  @peer: this process connects to it; NULL: it has
 * accepted the connection.  May change errno. */
void claim_leave(int fd, const struct tux_addr *peer, enum tux_reason why);

/* Is there nothing to settle, since the calls of @s are the kernel's?  Only
 * loads: this is all that most calls of a connection on TCP pay. */
static inline bool claim_is_kernels(const struct sock *s)
{
	switch (atomic_load_explicit(&s->stage, memory_order_relaxed)) {
	case SOCK_LISTENER:
	case SOCK_TCP:
	case SOCK_PLAIN:
		return true;
	case SOCK_CANDIDATE:
		return !candidate_asks(s) && !unclaim_called(s);
	default:
		return false;
	}
}

/* @s, which is SOCK_CLAIMING by this thread, stays on TCP for good.
 * claim_refuse_at(): looks up its addresses by @fd, and tells the peer. */
void claim_refuse(struct sock *s, enum tux_reason why);
void claim_refuse_at(struct sock *s, int fd, enum tux_reason why);

/* As claim_refuse(), for whatever candidate @fd is, and for all processes that
 * hold it; claim_pin(): because the program uses it in a way that needs plain
 * TCP. */
void claim_stay(int fd, enum tux_reason why);
void claim_pin(int fd);

/* @s, reached by @fd, is closed while it is a candidate.  @goes_on: other
 * processes hold it. */
void claim_over(struct sock *s, int fd, bool goes_on);

/* No connection is claimed from now on, and @why: see allow_stop().  Claimed
 * ones go back to TCP when their peers follow; until then, the hooks serve both
 * paths.  False: it was so before. */
bool claim_stop(enum tux_reason why);

/* As sock_get(), and a candidate that is connected by now is claimed.  NULL if
 * the descriptor is not ours or stays on TCP: then use the kernel's call.
 * Tells observers: hold no lock that one takes. */
struct sock *sock_claimed(int fd);

#endif
