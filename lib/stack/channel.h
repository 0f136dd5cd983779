/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * channel - how threads outside a loop reach it, and wait for it
 *
 * An `end` is a connection as its application holds it: the duplex that both
 * share, and the loop's bell for news.  A `waiter` is somebody who sleeps: an
 * epoll instance, or one thread in poll() or recv().  News for it comes as
 * indices (file descriptors) in its bell.
 *
 * Who drives: with dedicated threads the loops run by themselves.  Inline, the
 * thread that would sleep in tux_channel_wait() runs the loop meanwhile; a
 * helper thread takes over when nobody waits for some milliseconds, or when
 * several threads contend.
 */
#ifndef TUX_STACK_CHANNEL_H
#define TUX_STACK_CHANNEL_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/bell.h"
#include "base/time.h"
#include "conn/duplex.h"
#include "link/link.h"
#include "wire/addr.h"
#include "wire/reason.h"

struct tux_stack;
struct tux_end;

/* ---- a stack: the loops of this process ------------------------------ */

enum tux_io { TUX_IO_XDP, TUX_IO_UDP };

struct tux_cc_ops;

struct tux_stack_opts {
	const char *ifname;	/* only connections over it; NULL: any but lo */
	enum tux_io io;
	unsigned threads;	/* dedicated loops; 0: one loop, inline */
	bool attach_start;	/* xdp: take the interface at once, and keep it */
	enum tux_zerocopy zerocopy;	/* xdp: what to try first */
	const struct tux_cc_ops *cc;	/* congestion control; NULL: CUBIC */
	uint32_t message_max;	/* the longest message that ends may send or
				 * take; 0: they take none */

	/* Told on a loop's thread; @user is the end's.  Short, and calls
	 * nothing here but tux_waiter_*(). */
	void (*ready)(void *user);		/* tux_duplex_poll() changed */
	void (*decided)(void *user, bool tux, enum tux_reason why);
	void (*gone)(void *user);		/* the loop is done with a closed end */
	tux_link_said_fn *said;			/* of an interface; or NULL */
};

/* Starts the stack: loops, sockets, threads (all signals blocked in them).
 * -errno. */
int tux_stack_new(struct tux_stack **sp, const struct tux_stack_opts *o);

/* Ends the stack: its threads, its sockets, its connections as they are, without
 * a word to the peers.  Nobody uses it, its ends or waits in it. */
void tux_stack_free(struct tux_stack *s);

/* In a forked child: closes what the child inherited and frees nothing that the
 * parent's threads may have held.  The stack is of no use afterwards. */
void tux_stack_forked(struct tux_stack *s);

/* At exit: sends what is still in rings, and FINs, until the peers have it or
 * @for_ns has passed. */
void tux_stack_drain(struct tux_stack *s, tux_time for_ns);

/* At exit, after that: nobody drives any more, and the links say how they stand.
 * The stack is of no use afterwards. */
void tux_stack_count(struct tux_stack *s);

/* TCP socket @fd is about to connect or to listen, and its connections may move:
 * says so to their peers, if the backend wants that. */
void tux_stack_mark(struct tux_stack *s, int fd);

/* TCP socket @fd listens on @local (any address: all zero; @v6only as the socket
 * has it): be reachable for its connections' HELLOs.  0, or the reason why
 * not, negated (-TUX_REASON_PORT_TAKEN, ...).  Counted: as many
 * tux_stack_unlisten() calls undo it. */
int tux_stack_listen(struct tux_stack *s, int fd, const struct tux_addr *local,
		     bool v4, bool v6only);
void tux_stack_unlisten(struct tux_stack *s, const struct tux_addr *local);

/* ---- an end: one connection ------------------------------------------ */

struct tux_end_opts {
	int fd;			/* the connected TCP socket */
	struct tux_tuple tuple;
	bool active;		/* this process called connect() */
	bool messages;		/* beside the stream: see post.h */
	bool asks;		/* ... what became of each that it sends */
	void *user;
};

/* Claims the connection: from now on every read and write goes through the
 * duplex.  0 with *@ep set, or a reason, negated. */
int tux_end_claim(struct tux_stack *s, const struct tux_end_opts *o,
		  struct tux_end **ep);

struct tux_duplex *tux_end_duplex(const struct tux_end *e);

/* The descriptor that was claimed is about to be closed, but @fd, a duplicate
 * of it, stays open. */
void tux_end_set_fd(struct tux_end *e, int fd);

/* The caller put @bits (TUX_RING_*) to the duplex's account: tell the loop, and
 * wake it if it sleeps.  With @now, and nobody driving, a turn is taken here
 * and now, so that a thread that will not wait soon still sends. */
void tux_end_ring(struct tux_end *e, uint32_t bits, bool now);

/* Rings for whatever the duplex's calls left in dx->rung; cheap if nothing. */
void tux_end_flush(struct tux_end *e, bool now);

/* The application closes its descriptor (latches not held): the loop keeps a
 * private one as long as it needs and says gone() at the end.  To be called
 * before the real close(); with @abort the peer gets a reset. */
void tux_end_close(struct tux_end *e, bool abort);

/* Gives the end and its duplex back: after gone(), or in it, when no thread is
 * in a call with them any more. */
void tux_end_free(struct tux_end *e);

/* Asks for plain TCP in both directions for good, and waits at most @for_ns;
 * @tcp is the connection's socket.  0; -EBUSY if the peer did not follow in
 * time. */
int tux_end_raw(struct tux_end *e, const struct tux_tcp *tcp, tux_time for_ns);

/* ---- waiting --------------------------------------------------------- */

struct tux_waiter {
	struct tux_bell *bell;
	int fd;			/* eventfd, readable after a wake-up */
	_Atomic uint32_t sleepers;	/* threads in tux_channel_wait() */
};

/* A waiter for indices below @cap (a power of two).  -errno. */
int tux_waiter_init(struct tux_waiter *w, uint32_t cap);
void tux_waiter_fini(struct tux_waiter *w);

/* News for index @i; the caller guards against ringing for one twice. */
void tux_waiter_ring(struct tux_waiter *w, uint32_t i);

/* Sleeps, driving if need be, until @w's bell rings, one of the @n descriptors
 * in @fds is ready (revents are filled), a signal arrives (with @mask in
 * force, NULL: the thread's own) or @until passes.  1: look; 0: the time is
 * up; -EINTR.  The stack may be NULL: then it only sleeps. */
int tux_channel_wait(struct tux_stack *s, struct tux_waiter *w,
		     struct pollfd *fds, unsigned n, tux_time until,
		     const sigset_t *mask);

/* One turn without sleeping, if nobody drives: what has arrived is taken in,
 * what waits is sent.  For callers with a timeout of 0. */
void tux_channel_turn(struct tux_stack *s);

#endif
