/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unclaim - gives a claimed connection back to the kernel once both of its
 * directions are on TCP
 *
 * A claimed connection pays for the duplex and for looks at rings with every
 * call.  If the loop gives the connection up before anything has moved, the
 * next call gives it back.  For a reason that lasts, at either end, the
 * connection is left to the kernel for good.  If the peer is silent, the
 * connection is a candidate again: its calls are the kernel's, too, and it is
 * claimed again only after a pause, which doubles each time.
 *
 * A connection that was on Tux, and is on TCP again in both directions, is a
 * candidate again, too, but keeps its end, which is asleep: both directions are
 * pinned in the duplex.  Its calls are counted as those of any candidate.  When
 * it is worth Tux again, or the peer would move a direction, the duplex gets
 * the counts, and the connection is claimed as before.  It does not go back to
 * sleep for a second, so that the peer's next attempt finds it awake.
 *
 * So does one that a child uses: the loop pins it at once, and it is a candidate from
 * the next call on.  It is not claimed before this process is alone with it, and what
 * others have moved then counts, too.  A child that no hook has seen is not counted:
 * what that uses stays on TCP.
 */
#ifndef TUX_PRELOAD_UNCLAIM_H
#define TUX_PRELOAD_UNCLAIM_H

#include <stdbool.h>

#include "ground/process.h"
#include "sock/sock.h"
#include "sys/carried.h"

/* The next call on @s is to try unclaim_try(): the loop has given @s up, is done
 * with it, or has told that all of it is on TCP again.  Any thread. */
static inline void unclaim_ask(struct sock *s)
{
	atomic_store(&s->given_up, true);
}

/* Has unclaim_ask(@s) been called, and no unclaim_try() settled it since? */
static inline bool unclaim_asked(const struct sock *s)
{
	return atomic_load_explicit(&s->given_up, memory_order_acquire);
}

/* While the end of @s sleeps, has the peer or the loop asked for it?  Needs no
 * reference: another thread may recycle @s, and clear `dx`, after `asleep` was
 * read, but the memory of a duplex stays mapped. */
static inline bool unclaim_called(const struct sock *s)
{
	const struct tux_duplex *dx = *(struct tux_duplex *const volatile *)&s->dx;

	return s->asleep && s->epoch == process_here.epoch && dx &&
	       atomic_load_explicit(&dx->called, memory_order_relaxed);
}

/* The loop has pinned both directions of claimed @s, because another process uses it,
 * and the kernel has counted @c.  The next call makes it a candidate.  Both latches are
 * held.  False: nobody counts that process, so @s is to stay on TCP for good. */
bool unclaim_slept(struct sock *s, const struct tux_carried *c);

/* Makes claimed @s, reached by @fd, the kernel's again: the loop has given @s up,
 * or all of @s is on TCP, and then its end sleeps.  @s stays claimed if the kernel
 * does not know all that the program did (a shutdown, say), or if a fork shares
 * @s.  If a thread is inside, a later call tries again.  Signals are deferred, and
 * no latch is held. */
void unclaim_try(struct sock *s, int fd);

/* Frees the end of the last claim of @s, unless that end is asleep.  @s is CLAIMING
 * by this thread, its pause has passed, and it may be claimed.  False, and the end
 * stays: a second descriptor or another thread holds @s, and may be in a call with
 * that end. */
bool unclaim_free_end(struct sock *s);

/* Wakes the sleeping end of @s, which is CLAIMING by this thread: the duplex gets
 * the counts of what the kernel carried.  False: the end is over, shut down or has
 * failed, or a direction is pinned for good. */
bool unclaim_wake(struct sock *s);

/* @s cannot be claimed now: if its end was asked for, it sleeps on. */
void unclaim_doze(struct sock *s);

/* @s stays on TCP for good.  If it has a sleeping end, waits until the loop has
 * closed its duplicate of the descriptor, for 100 ms at most. */
void unclaim_leave(struct sock *s);

/* The program resets the connection of @s, reached by @fd, and keeps the
 * socket.  If @s is claimed, the peer is told, and the socket is the kernel's
 * from then on. */
void unclaim_reset(struct sock *s, int fd);

/* The last descriptor of @s, @fd, is about to be closed while its end sleeps.
 * True: the end is awake, and the caller closes it as that of a claimed
 * connection.  @goes_on: other processes hold the connection, which stays on
 * TCP. */
bool unclaim_close(struct sock *s, int fd, bool goes_on);

/* Is the end of @s asleep in this process, which is to close it? */
bool unclaim_sleeps(const struct sock *s);

/* @s, reached by @fd, is claimed by the process that this one was forked from.
 * Asks its loop to take @s back to TCP for good, which takes milliseconds.  Then
 * all processes go on with the kernel's socket.  This process has lost @s if the
 * other one refuses; if that gives no answer, the connection is reset. */
void unclaim_inherited(struct sock *s, int fd);

/* Asks for the end of @s, as tux_recall() does, and leaves the rest to the caller. */
int unclaim_recall(struct sock *s);

#endif
