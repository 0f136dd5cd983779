/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * api_in - what the files behind tux.h share; nobody else's
 *
 * Cut by noun; a file calls those below it:
 *   open.c        a stack, its options, its end
 *   process.c     all stacks, when the process forks or exits
 *   shared.c      what stacks beside each other share
 *   threads.c     its network threads, if it has several
 *   look.c        statistics
 *   serve.c       a network thread: turns and sleep
 *   hand_over.c   ... and which of them runs which loop
 *   embed.c       the same within the application's own loop
 *   sleep.c       what surrounds the sleep
 *   turn.c        one turn: the loop, rings, epoll, a slice
 *   routine.c     code of the application's own on the network thread
 *   request.c     what one loop has another one do
 *   file.c        its calls on files;  ring.c: an io_uring for them
 *   service.c     services and their callbacks;  users.c: counts the
 *		   connections and calls that use a service
 *   listen.c      listeners, and what they accept
 *   attach.c      sockets that the program has accepted or connected itself
 *   announce.c    what the peers of listeners are told
 *   connect.c     how connections begin
 *   deliver.c     a run of a connection's task
 *   claim.c       when a connection may move to Tux
 *   closing.c     how a connection ends;  detach.c: without its socket
 *   stream.c      the bytes that it receives,
 *   write.c       and sends
 *   message.c     its messages
 *   tell.c        calls its callbacks
 *   wait.c        calls that wait for room;  wake.c: wakes them
 *   ask.c         requests and errors that end it, noted for its task
 *   connection.c  the table of connections, their events, references
 *   move.c        a connection goes to the loop of another queue
 *   host.c        addresses and sockets
 *   say.c         what the library tells in words
 *
 * Which thread may touch what: the network thread, on its own stack, makes
 * connections, asks epoll and frees; the task of a connection, in a routine,
 * delivers and ends it. Library code in a routine turns preemption off
 * (run/sched.h), so on the network thread the two interleave only while a
 * callback runs. Other threads take the latch of a direction, or raise events.
 */
#ifndef TUX_API_API_IN_H
#define TUX_API_API_IN_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#include <tux.h>

#include "base/latch.h"
#include "base/list.h"
#include "base/time.h"
#include "loop/loop.h"
#include "policy/candidate.h"
#include "policy/history.h"
#include "run/sched.h"
#include "stack/channel.h"
#include "stack/spin.h"
#include "sys/take.h"
#include "tick/tick.h"
#include "wire/addr.h"
#include "wire/reason.h"

struct tux_driver;
struct tux_ring;

enum {
	TUX_CONNECTIONS_MAX = 65536,	/* and index 0 is nobody's */
	TUX_GROUP = 32,
	TUX_GROUP_MAX = 512,
	TUX_SLICE_US = 100,
	TUX_IFACE_ADDRS = 64,		/* more are not looked at */
	TUX_GIVEN = 64,			/* sockets that a loop can be given,
					 * until it looks */
};

/* ---- a service ---- */

struct tux_service {
	struct tux *t;			/* the first loop */
	struct tux_list node;		/* in t->services */
	struct { tux_open_fn *fn; void *arg; } on_open;
	struct { tux_stream_fn *fn; void *arg; } on_stream;
	struct { tux_message_fn *fn; void *arg; } on_message;
	struct { tux_room_fn *fn; void *arg; } on_room;
	struct { tux_settled_fn *fn; void *arg; } on_settled;
	struct { tux_gone_fn *fn; void *arg; } on_gone;
	unsigned group;
	bool serial;
	_Atomic bool freed;		/* ... with its last connection */
	uint16_t port;
	uint32_t users;			/* see users.h */
	struct tux_list listeners;
	struct tux_strand strand;	/* if it is serial */
};

/* A TCP listener, as its peers know of it. */
struct tux_announced {
	struct tux_list node;		/* in shared->announced, if the program
					 * accepts by itself */
	int fd;
	struct tux_addr local;
	bool v6only;
	bool reachable;			/* the stack listens for it, too */
	uint8_t why;			/* enum tux_reason, if not */
	tux_time marked_at;		/* when its peers were last told */
};

struct tux_listener {
	struct tux_list node;		/* in its service's */
	struct tux_list pause;		/* in t->paused */
	struct tux_service *s;
	struct tux_announced a;
};

/* ---- a connection ---- */

enum tux_stage {
	TUX_STAGE_FREE,
	TUX_STAGE_CONNECTING,
	TUX_STAGE_OPEN,
	TUX_STAGE_CLOSING,		/* waits for its messages */
	TUX_STAGE_GONE,			/* gone has returned */
};

/* Events, for the connection's task to look at. */
enum {
	TUX_EVENT_OPEN = 0x01,		/* it begins */
	TUX_EVENT_READY = 0x02,		/* rings or box have changed */
	TUX_EVENT_IN = 0x04,		/* TCP says readable, */
	TUX_EVENT_OUT = 0x08,		/* writable, */
	TUX_EVENT_BREAK = 0x10,		/* or an error */
	TUX_EVENT_AGAIN = 0x20,		/* tux_again() */
	TUX_EVENT_END = 0x40,		/* look at what is asked for */
	TUX_EVENT_OVER = 0x80,		/* the loop is done with it */
	TUX_EVENT_PUT = 0x100,		/* the last reference is gone */
	TUX_EVENT_FIN = 0x200,		/* TCP says that the peer has ended */
	TUX_EVENT_LOOK = 0x400,		/* a callback that is watched is due */
	TUX_EVENT_QUEUED = 0x80000000u,	/* the task will look */
};

/* What is asked of a connection, for good. */
enum {
	TUX_ASK_DISCONNECT = 0x01,
	TUX_ASK_ABORT = 0x02,
	TUX_ASK_SHUTDOWN = 0x04,	/* tux_close() */
};

/* What waits for room. */
enum { TUX_WANTS_STREAM = 0x01, TUX_WANTS_MESSAGE = 0x02 };

/* Beside TUX_IN and TUX_OUT in `watched`: tux_watch() was called. */
enum { TUX_LEVEL = 0x80 };

struct tux_connection {
	/* The loop that it belongs to, which may become another one (move.h); NULL: the
	 * entry is free.  Any thread may read it; tux_api_new() sets the rest.  Entries
	 * that lie side by side are used by different threads. */
	_Alignas(64) struct tux *_Atomic t;
	struct tux_task task;
	struct tux_strand strand;	/* its own; see task.strand */
	struct tux_service *s;
	void *user;
	uint32_t index;
	bool roams;			/* it was accepted, and may go to another loop */

	_Atomic uint32_t events, asked, wants;
	struct tux_latch waits_latch;
	struct tux_list waits;		/* calls that wait; see wake.h */
	_Atomic uint32_t waits_n, writes_n;	/* ... and those to write */
	_Atomic uint32_t refs;		/* the library's, until gone, is one */
	_Atomic uint8_t stage;		/* enum tux_stage */
	_Atomic uint8_t watched;	/* TUX_LEVEL, TUX_IN, TUX_OUT */
	_Atomic uint8_t closed;		/* fd is no more; under both latches */
	_Atomic uint32_t err;		/* errno that broke it; 0 */

	int fd;
	bool active;
	struct tux_tuple tuple;
	_Atomic(struct tux_end *) end;	/* NULL: plain TCP; set before OPEN, or
					 * of a candidate, under both latches */
	struct tux_duplex *dx;		/* set before `end` */
	bool messages;			/* it has a box of them; if so, `end`
					 * is set before OPEN */
	struct tux_latch plain[2];	/* of directions without a duplex */
	struct tux_candidate candidate;	/* what TCP carried without an end */
	bool shut;			/* tux_shut() without an end */

	/* its task's */
	bool is_candidate;		/* it may be claimed later */
	bool told;			/* the program knows of it, from open or
					 * from tux_connect(): gone is due */
	bool err_told;			/* the stream callback may see err, */
	bool err_read;			/* and has */
	bool unread;			/* watched: a read may give something, */
	bool looked, took;		/* and the last callback has tried one, and
					 * got something */
	bool fin;			/* TCP has the peer's FIN */
	bool ended;			/* tux_ended() */
	uint32_t turns_told;		/* tux_duplex_rx_turns() */
	uint64_t rx_told;		/* offset of the ring it was told of */
	tux_time closing_at;		/* not settled by then: not waited for */

	/* the network thread's own */
	bool over;			/* the loop knows nothing of it */
	struct tux_list closing;	/* in t->closing */
	struct tux_list dead;		/* in t->dead */
	struct tux_connection *next_free;

	/* looking */
	_Atomic uint32_t why;		/* enum tux_reason */
	_Atomic uint8_t tux;		/* both directions are on Tux */
	_Atomic uint64_t stream_tx, stream_rx;	/* bytes, by any path */
	_Atomic uint64_t failed;	/* messages */
};

/* ---- a stack ---- */

/* A socket of TCP that the first loop has accepted for another one. */
struct tux_given {
	struct tux_service *s;
	int fd;
	uint8_t why;			/* enum tux_reason: it stays on TCP */
};

/* What stacks beside each other have in common. */
struct tux_shared {
	struct tux_stack *stack;	/* NULL: TCP alone, */
	uint32_t tcp_why;		/* for this enum tux_reason */
	struct tux_latch latch;		/* of what follows */
	unsigned open_n;		/* stacks that are not closed, */
	struct tux_list closed;		/* and those that are: the loops may
					 * still tell of their connections */
	struct tux_list announced;	/* listeners of the program's own */
};

/* One loop of a stack, with all that a thread needs to run it.  The program knows
 * the first (threads.h). */
struct tux {
	struct tux_opts o;
	struct tux *first;		/* itself, if it is the only one */
	struct tux_threads *threads;	/* the first's; NULL: the only one */
	unsigned number;		/* among the loops of the stack */
	_Atomic unsigned thread;	/* the number of the one that runs it, */
	struct tux *next_run;		/* as the one before it there; NULL */
	char ifname[16];
	_Atomic uint64_t said;		/* bits of reasons that were said */
	pid_t pid;			/* of the process that has opened it */
	bool forked;
	_Atomic bool ends;		/* tux_close() is at it */
	_Atomic unsigned unended;	/* threads that have connections then */
	struct tux_list node;		/* among all stacks (process.c); closed:
					 * in shared->closed */

	struct tux_shared *shared;	/* with those beside it */
	struct tux_stack *stack;	/* of it; NULL: TCP alone */
	unsigned loop_n;		/* the loop of its connections, from 1, */
	struct tux_driver *d;		/* its driver; NULL, */
	struct tux_loop *l;		/* and itself, if @t may run it; NULL */
	struct tux_sched *sched;
	struct tux_ring *ring;		/* ring.c's */

	/* services of all loops are the first's */
	struct tux_latch services_latch;	/* of these, and of their users */
	struct tux_list services;
	struct tux_list spare;		/* that are no more */

	/* rings from other threads: indices of connections, 0 for the stack */
	struct tux_waiter w;
	_Atomic uint32_t rung;		/* 0 is in the bell */
	_Atomic uint32_t stop;
	_Atomic bool exits;		/* the process does: no callbacks */
	_Atomic bool halted;		/* tux_run() has returned */
	struct tux_latch go_latch;
	struct tux_list going;		/* errands that wait for their task */
	struct tux_list requests;	/* of other loops, */
	unsigned outside_n;		/* and calls of thread 0, outside of its
					 * routines, that wait for connections */
	struct tux_latch given_latch;	/* of what follows */
	struct tux_given given[TUX_GIVEN];
	unsigned given_n;

	/* the network thread's */
	_Atomic uint32_t run_by;	/* it is driven */
	bool acquired;			/* it has the right to run d's loop, */
	bool in_turn;			/* and is in a turn of it */
	unsigned ready_n;		/* callbacks that could run at once */
	tux_time now;
	int epfd;			/* listeners and TCP */
	bool look;			/* it has something */
	tux_time looked_at;
	struct tux_spin spin;
	struct tux_list paused, closing, dead;
	struct tux_list gone;		/* errands that have one */
	tux_time paused_until;
	bool paused_said;
	struct tux_connection *at;	/* the table of all loops */

	/* the first's, for all loops */
	struct tux_latch table_latch;	/* of this: */
	struct tux_connection *free;
	_Atomic uint32_t used;		/* entries that ever were in use, and 1 */

	/* host.c's: addresses of the interface, as of addr_at */
	struct tux_addr addr[TUX_IFACE_ADDRS];
	unsigned addr_n;
	tux_time addr_at;

	/* embed.c's */
	int fd;				/* epoll of all the below */
	int timer_fd;
	tux_time timer_at;
	int watched[TUX_LOOP_FDS];
	unsigned watched_n;
	bool asleep;			/* between turns, ready to be woken */
	bool awake;			/* between turns, fd is kept readable */
	bool nested;			/* fd is watched by the first's */

	/* looking */
	uint64_t turns, callbacks, messages, sleeps, file_calls;
	tux_tick network_spent;
	_Atomic tux_tick spent;		/* on the network and in callbacks, as of
					 * the last turn, */
	_Atomic tux_tick slice_since;	/* and in this one since then; 0: not */
	_Atomic uint64_t on_tux_now, on_tux;
	struct tux_history history;	/* peers that did not answer */
	_Atomic uint64_t connections_now;	/* and what was given */
	_Atomic uint64_t connections, refused;
	_Atomic uint64_t came;		/* connections, from other loops */
	_Atomic uint64_t listener_n;
};

/* The first of @of, a list under t->go_latch, which it leaves; NULL. */
static inline struct tux_list *tux_api_take_first(struct tux *t,
						  struct tux_list *of)
{
	struct tux_list *n = NULL;

	tux_latch_take(&t->go_latch);
	if (!tux_list_empty(of)) {
		n = of->next;
		tux_list_remove(n);
	}
	tux_latch_drop(&t->go_latch);
	return n;
}

/* The next connection of @t behind index *@i, which is 0 at first; NULL: there are no
 * more. */
static inline struct tux_connection *tux_api_next(const struct tux *t, uint32_t *i)
{
	uint32_t n = atomic_load(&t->first->used);

	while (++*i < n)
		if (atomic_load(&t->at[*i].t) == t)
			return &t->at[*i];
	return NULL;
}

/* ---- questions ---- */

/* Is it of this process?  In a child, also one that shares the memory with its
 * parent, it is the parent's. */
static inline bool tux_api_is_own(const struct tux *t)
{
	return !t->forked && getpid() == t->pid;
}

/* Why @s gets no more listeners and connections: -EOWNERDEAD, -ESHUTDOWN; 0. */
static inline int tux_api_closed(const struct tux_service *s)
{
	if (s->t->forked)
		return -EOWNERDEAD;
	return atomic_load(&s->freed) || atomic_load(&s->t->ends) ?
	       -ESHUTDOWN : 0;
}

static inline bool tux_api_usable(const struct tux_connection *c)
{
	return atomic_load_explicit(&c->stage, memory_order_acquire) ==
	       TUX_STAGE_OPEN &&
	       !atomic_load_explicit(&c->asked, memory_order_relaxed);
}

/* 0; -EAGAIN: it is not open yet; -ENOTCONN: it is no more; or why it could not
 * connect. */
static inline int tux_api_unusable(const struct tux_connection *c)
{
	/* First: it may open meanwhile. */
	uint8_t was = atomic_load(&c->stage);

	if (tux_api_usable(c))
		return 0;
	if (was != TUX_STAGE_CONNECTING || atomic_load(&c->asked))
		return -ENOTCONN;
	return atomic_load(&c->err) ? -(int)atomic_load(&c->err) : -EAGAIN;
}

/* Are bytes, the end and errors of the stream told by its callback now? */
static inline bool tux_api_hears(const struct tux_connection *c)
{
	uint8_t watched = atomic_load_explicit(&c->watched,
					       memory_order_relaxed);

	return c->s->on_stream.fn && (!watched || watched & TUX_IN);
}

/* The latches of the directions.  While a thread waits for one of a candidate,
 * the connection may be claimed; then the duplex's counts. */
static inline struct tux_latch *tux_api_rx(struct tux_connection *c)
{
	return c->end ? &c->dx->rx.latch : &c->plain[0];
}

static inline struct tux_latch *tux_api_tx(struct tux_connection *c)
{
	return c->end ? &c->dx->tx.latch : &c->plain[1];
}

static inline struct tux_latch *tux_api_take_rx(struct tux_connection *c)
{
	struct tux_latch *l = tux_api_rx(c);

	tux_latch_take(l);
	while (l != tux_api_rx(c)) {
		tux_latch_drop(l);
		l = tux_api_rx(c);
		tux_latch_take(l);
	}
	return l;
}

static inline struct tux_latch *tux_api_take_tx(struct tux_connection *c)
{
	struct tux_latch *l = tux_api_tx(c);

	tux_latch_take(l);
	while (l != tux_api_tx(c)) {
		tux_latch_drop(l);
		l = tux_api_tx(c);
		tux_latch_take(l);
	}
	return l;
}

#endif
