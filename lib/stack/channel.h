/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * channel - how threads outside a loop reach it, and wait for it
 *
 * An `end` is a connection as its application holds it: the duplex that both
 * share, and the loop's bell, which the application rings. A `waiter` is what
 * threads sleep on: an epoll instance, or one thread in poll() or recv(). What
 * happens to its connections comes as indices (file descriptors) in its bell.
 *
 * With dedicated threads the loops run by themselves. Inline, the thread that
 * would sleep in tux_channel_wait() runs the loop meanwhile; a helper thread
 * takes over when no thread waits for some milliseconds, or when several
 * threads contend.
 */
#ifndef TUX_STACK_CHANNEL_H
#define TUX_STACK_CHANNEL_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "conn/duplex.h"
#include "policy/candidate.h"
#include "stack/stack.h"
#include "stack/waiter.h"
#include "wire/addr.h"

struct tux_end;

/* ---- an end: one connection ------------------------------------------ */

struct tux_end_opts {
	int fd;			/* the connected TCP socket */
	bool lent;		/* the end uses @fd itself, and closes it after
				 * tux_end_close(); false: it takes a
				 * duplicate */
	struct tux_tuple tuple;
	bool active;		/* this process called connect() */
	bool messages;		/* beside the stream: see post.h */
	bool asks;		/* ... what became of each that it sends */
	enum tux_path_mode mode;	/* AUTO does not hold for messages: such
				 * a connection moves at once */
	bool returns;		/* while the path is not proved: a reason that
				 * lasts, or a peer that stays silent, ends it as
				 * if it had been closed, with gone(), and the
				 * connection is the kernel's.  When it has been
				 * on Tux, and is on TCP again both ways,
				 * returned() is told */
	unsigned loop;		/* of what will wait for its events, as in struct
				 * tux_waiter; 0: the thread's own */
	/* What the connection has carried so far; NULL: nothing. */
	const struct tux_candidate *candidate;
	void *user;
};

/* Claims the connection: from now on every read and write goes through the
 * duplex.  0 with *@ep set, or a reason, negated. */
int tux_end_claim(struct tux_stack *s, const struct tux_end_opts *o,
		  struct tux_end **ep);

/* Sets y->packet, if it is not known yet, to the payload of a segment of TCP
 * socket @fd: close to that of a packet, which backend @io limits, too. */
void tux_end_segment(struct tux_candidate *y, enum tux_io io, int fd);

struct tux_duplex *tux_end_duplex(const struct tux_end *e);

/* Have bytes come on @d's receive ring since the last call with @last, which is
 * 0 at first?  Those that were taken from TCP do not count. */
static inline bool tux_end_ring_grew(const struct tux_duplex *d, uint64_t *last)
{
	uint64_t taken = atomic_load(&d->rx.taken);
	uint64_t before = *last > taken ? *last : taken;
	uint64_t head = tux_pipe_head(&d->rxp);

	if (head <= before)
		return false;
	*last = head;
	return true;
}

/* The descriptor that was claimed is about to be closed, but @fd, a duplicate
 * of it, stays open. */
void tux_end_set_fd(struct tux_end *e, int fd);

/* Calls @fn with the application's descriptor, which is not closed meanwhile; not if it
 * is closed already. */
void tux_end_with_fd(struct tux_end *e, void (*fn)(void *arg, int fd), void *arg);

/* Rings for @bits (TUX_DOORBELL_*) and for what the duplex's calls left in
 * dx->rung, and wakes the loop if it sleeps.  With @now, if no thread drives,
 * the caller takes a turn, so that it sends even if it will not wait soon. */
void tux_end_ring(struct tux_end *e, uint32_t bits, bool now);

/* One turn of the loop of @e, without sleeping, if no thread drives it: for callers
 * that ask a connection again and again instead of waiting. */
void tux_end_turn(struct tux_end *e);

/* Rings for whatever the duplex's calls left in dx->rung; cheap if nothing. */
void tux_end_flush(struct tux_end *e, bool now);

/* The application closes its descriptor (latches not held): the loop keeps a
 * private one as long as it needs and says gone() at the end.  To be called
 * before the real close(), which is not due if the descriptor is lent; with
 * @abort the peer gets a reset.  After gone() the loop hears no more of it. */
void tux_end_close(struct tux_end *e, bool abort);

/* The application itself will close the descriptor that it lent, after
 * gone(). */
void tux_end_keep_fd(struct tux_end *e);

/* Has the loop said gone() for @e? */
bool tux_end_over(const struct tux_end *e);

/* Gives the end and its duplex back: after gone(), or in it, when no thread is
 * in a call with them any more. */
void tux_end_free(struct tux_end *e);

/* Asks for plain TCP in both directions for good, because of @why, which cannot
 * be undone.  @now: as for tux_end_ring(). */
void tux_end_ask_raw(struct tux_end *e, enum tux_reason why, bool now);

/* The same.  True once both directions are plain.  The peer has to follow, so
 * the loop has to run between two calls.  @tcp is the connection's socket.  Not
 * in a forked child. */
bool tux_end_is_raw(struct tux_end *e, const struct tux_tcp *tcp,
		    enum tux_reason why);

/* Has the peer followed, and do only bytes that the application has not read keep @e
 * from being plain?  The peer has sent those again that it still had. */
bool tux_end_unread(const struct tux_end *e);

/* The same, and waits at most @for_ns.  0; -EBUSY: the peer did not follow in time,
 * or will not (tux_end_unread(), tux_duplex_hopeless()). */
int tux_end_raw(struct tux_end *e, const struct tux_tcp *tcp,
		enum tux_reason why, tux_time for_ns);

/* Waits for what tux_recall_call(@e) has asked for, as a child would: several ends
 * that were asked for at once take no longer than one.  0; -EBUSY: the peer did not
 * follow within a second, or tux_end_unread(). */
int tux_end_recalled(struct tux_end *e);

/* How many descriptors of its own does the loop have for @e? */
unsigned tux_end_copies(const struct tux_end *e);

/* The application takes the socket over, after tux_end_is_raw() or to reset the
 * connection.  True once the loop has let go of it; to be called until then,
 * and the loop has to run between two calls.  The loop does not end TCP; it
 * answers the peer for some seconds, and then says gone(). */
bool tux_end_has_left(struct tux_end *e);

/* Between two of those calls: runs the loop of @e, or waits if another thread
 * does, for a millisecond at most and not beyond @until. */
void tux_end_pause(struct tux_end *e, tux_time until);

/* ---- waiting --------------------------------------------------------- */

/* From now on, threads run the loop of @e while they wait with @w.  Without
 * this call, a thread runs the loop of the connections that it has claimed
 * itself. */
void tux_waiter_follow(struct tux_waiter *w, const struct tux_end *e);

/* Sleeps, driving if need be, until @w's bell rings, one of the @n descriptors
 * in @fds is ready, a signal arrives (with @mask in force, NULL: the thread's
 * own) or @until passes.  Their revents are filled by the last look at them;
 * without a look they stay as they are.  1: look; 0: the time is up; -EINTR.
 * The stack may be NULL: then it only sleeps. */
int tux_channel_wait(struct tux_stack *s, struct tux_waiter *w,
		     struct pollfd *fds, unsigned n, tux_time until,
		     const sigset_t *mask);

/* One turn without sleeping, if nobody drives: what has arrived is taken in,
 * what waits is sent.  For callers with a timeout of 0.  @w: as for
 * tux_channel_wait(), or NULL. */
void tux_channel_turn(struct tux_stack *s, const struct tux_waiter *w);

/* At exit: sends what is still in rings, and FINs, until the peers have it or
 * @for_ns has passed. */
void tux_channel_drain(struct tux_stack *s, tux_time for_ns);

#endif
