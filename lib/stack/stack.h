/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack - the loops of a process
 */
#ifndef TUX_STACK_STACK_H
#define TUX_STACK_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "link/link.h"
#include "sys/carried.h"
#include "sys/wake.h"
#include "wire/addr.h"
#include "wire/reason.h"

struct tux_stack;

enum tux_io {
	TUX_IO_XDP,
	TUX_IO_UDP,		/* without a key */
	TUX_IO_AUTO,		/* XDP; or UDP with a key, if only that works */
};

struct tux_cc_ops;

struct tux_stack_opts {
	const char *ifname;	/* only connections over it; NULL: any but lo */
	enum tux_io io;
	unsigned threads;	/* dedicated loops; 0: inline */
	unsigned loops;		/* inline: at most so many; 0: one */
	bool able;		/* -EUNATCH rather than a stack of which no
				 * connection can move, as far as the process is
				 * to blame: later, tuxd may have been loaded */
	bool attach_start;	/* xdp: take the interface at once, and keep it */
	bool yields;		/* xdp: leave it to other programs' bulk */
	enum tux_zerocopy zerocopy;	/* xdp: what to try first */
	const struct tux_cc_ops *cc;	/* congestion control; NULL: CUBIC */
	uint32_t message_max;	/* the longest message that ends may send or
				 * take; 0: they take none */

	/* Told on a loop's thread; @user is the end's.  Short, and calls
	 * nothing here but tux_waiter_*(). */
	/* tux_duplex_poll() changed; see tux_loop_opts. */
	void (*ready)(void *user, struct tux_wakes *wakes);
	void (*decided)(void *user, bool tux, enum tux_reason why);
	/* The loop is done with an end that was closed, or given up. */
	void (*gone)(void *user);
	void (*returned)(void *user, tux_time until);
	/* The first packet of the end's peer has come to loop @loop, counted from 1,
	 * which is another one than the end's.  True: the end goes there, and from this
	 * call on, that loop's thread may be told of it.  NULL: ends stay. */
	bool (*moves)(void *user, unsigned loop);
	/* Another process has asked for the connection by tux_recall(): see struct
	 * tux_loop_opts.  NULL: others are not heard. */
	bool (*sleeps)(void *user, const struct tux_carried *c);
	void (*recalled)(void *user, bool asleep);
	tux_link_said_fn *said;			/* of an interface; or NULL */
};

/* Starts the stack: loops, sockets, threads (all signals blocked in them).
 * -errno. */
int tux_stack_new(struct tux_stack **sp, const struct tux_stack_opts *o);

/* Ends the stack: its threads, its sockets, its connections as they are,
 * without a word to the peers.  Nobody uses it, its ends or waits in it. */
void tux_stack_free(struct tux_stack *s);

/* Before a fork: stores which process runs the loops, where its child finds it when it
 * asks for a connection (loop/recall.h). */
void tux_stack_forks(struct tux_stack *s);

/* In a forked child: closes what the child inherited and frees nothing that the
 * parent's threads may have held.  The stack is of no use afterwards. */
void tux_stack_forked(struct tux_stack *s);

/* Ends the threads of the stack, its sockets, and its connections as they are:
 * from then on, it makes no system call.  Threads of the application may still
 * be in a wait.  The stack is of no use afterwards. */
void tux_stack_leave(struct tux_stack *s);

/* At exit, after tux_channel_drain(): ends the threads, and the links say how
 * they stand, unless a thread of the application is still in a wait.  The stack is of
 * no use afterwards. */
void tux_stack_count(struct tux_stack *s);

/* TCP socket @fd is about to connect or to listen, or listens, and its
 * connections may move: says so to their peers, if the backend wants that. */
void tux_stack_mark(struct tux_stack *s, int fd);

/* May this process serve a connection that its parent has accepted?  It asks
 * the kernel for the connection's key, so tuxd must be there. */
bool tux_stack_adopts(const struct tux_stack *s);

/* Listener @fd: its connections will not move, and their peers are told @why,
 * if the backend can. */
void tux_stack_refuse(struct tux_stack *s, int fd, enum tux_reason why);

/* Socket @fd, established, of connection @t: it will not move, and the peer, if
 * it can move, may ask over UDP.  Then it is told @why. */
void tux_stack_tell(struct tux_stack *s, int fd, const struct tux_tuple *t,
		    bool active, enum tux_reason why);

/* TCP socket @fd listens on @local (any address: all zero; @v6only as the
 * socket has it): be reachable for its connections' HELLOs.  0, or the reason
 * why not, negated (-TUX_REASON_PORT_TAKEN, ...).  Counted: as many
 * tux_stack_unlisten() calls undo it. */
int tux_stack_listen(struct tux_stack *s, int fd, const struct tux_addr *local,
		     bool v4, bool v6only);
void tux_stack_unlisten(struct tux_stack *s, const struct tux_addr *local);

#endif
