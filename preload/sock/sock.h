/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sock - a TCP socket of the application that may move to Tux
 *
 * The kernel's descriptor stays the application's descriptor; this is what the
 * preload knows besides.  Objects are never unmapped, only recycled, so that a
 * thread that raced with close() reads stale memory but no foreign memory, and
 * notices.
 */
#ifndef TUX_PRELOAD_SOCK_H
#define TUX_PRELOAD_SOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "policy/backoff.h"
#include "policy/candidate.h"
#include "stack/channel.h"

enum sock_stage {		/* see stage.h; up to CLAIMING there is no duplex */
	SOCK_FREE,		/* in no table */
	SOCK_LISTENER,		/* listen() was called; reachable, or `why` */
	SOCK_CANDIDATE,		/* connected or connecting; not claimed yet, since
				 * it is not worth it yet (candidate.h), or not
				 * again, after a claim in vain (unclaim.h) */
	SOCK_CLAIMING,		/* a thread is about to claim it: wait */
	SOCK_CLAIMED,		/* `end` and `dx` are set */
	SOCK_TCP,		/* stays on TCP for good; `why` says so */
	SOCK_LOST,		/* in a child: upgraded, and the parent's */
	SOCK_PLAIN,		/* was claimed, and is plain TCP again for good */
	SOCK_CLOSED,		/* its last descriptor is closed */
	SOCK_STAGES,
};

#define SOCK_PASSING ((uint64_t)1 << 32)

struct watch {			/* somebody who wants to know about a sock */
	struct tux_list node;	/* in sock->watches */
	struct tux_waiter *waiter;
	uint32_t index;		/* what to ring there: an fd number */
	unsigned wants;		/* TUX_CAN_* and TUX_IS_* of sock_poll() that
				 * end the wait; 0: any change does */
	/* Nonzero while `index` is in the waiter's bell; who takes it out
	 * clears it.  Watches that ring for the same index may share one. */
	_Atomic uint32_t *queued;
};

struct sock {
	_Atomic uint64_t refs;	/* descriptors, threads inside a call, loop;
				 * and SOCK_PASSING for each thread that is
				 * in the kernel with a candidate */
	_Atomic uint32_t fds;	/* descriptors that name it (dup) */
	_Atomic uint8_t stage;	/* enum sock_stage */
	_Atomic uint8_t nonblock;	/* O_NONBLOCK, once claimed */
	_Atomic uint8_t linger0;	/* SO_LINGER {1, 0} */
	_Atomic uint8_t rdshut;	/* SHUT_RD */
	_Atomic uint8_t shuts;	/* calls of shutdown(), */
	_Atomic uint8_t hidden_shuts;	/* and those that the kernel knows not of */
	_Atomic uint8_t path;	/* the TUX_*_ON_RING and TUX_TX_WAITS of the
				 * last sock_ready() */
	_Atomic uint8_t plain_looks;	/* looks of poll() in a row that found it on
				 * TCP, up to READY_PLAIN */
	bool listens;		/* it was made as a listener */
	bool moved;		/* it is counted in socks_moved */
	bool active;		/* this process called connect() */
	bool v6only;		/* of a listener */
	bool reachable;		/* ... for whom the stack listens */
	_Atomic bool sends;	/* ... this process has sent a connection of it
				 * to another after the connection moved */
	_Atomic bool passed;	/* of a connection: it was in a message */
	_Atomic bool shared;	/* ... other processes have asked for it, and may
				 * have moved bytes of it since */
	_Atomic bool spawned;	/* ... a program has got it that was started beside
				 * this process, and whose end nobody counts */
	_Atomic tux_time marked_at;	/* ... when its peers were last told */
	uint8_t why;		/* enum tux_reason, when on TCP */
	_Atomic int fd;		/* the descriptor that it was claimed with, or
				 * another one, if that was closed */
	int domain;		/* AF_INET or AF_INET6 */
	uint32_t epoch;		/* of the process that made or claimed it: see
				 * process.h */
	uint32_t fork_n;	/* the last fork that counted it: see
				 * family/inherit.c */
	uint32_t forks;		/* ... and how many there were when it was
				 * claimed */
	_Atomic uint64_t holders;	/* the count of processes that hold it; 0:
				 * there is none, and only this one does */
	uint64_t given;		/* ... which exec is about to leave */
	bool given_candidate;	/* ... as a candidate, LOST meanwhile, */
	bool given_tcp;		/* ... or as one that is on TCP, LOST, too */
	_Atomic uint32_t err;	/* errno that a later call will return */
	_Atomic uint32_t lowat;	/* SO_RCVLOWAT */
	_Atomic bool lowat_stays;	/* ... which the kernel does not have */
	_Atomic int64_t rcvtimeo, sndtimeo;	/* ns; 0: none */
	_Atomic uintptr_t rx_owner, tx_owner;	/* thread with the latch */
	struct tux_candidate candidate;	/* as a candidate: see candidate.h */
	_Atomic uint8_t decided;	/* enum tux_reason: what the loop told last */
	_Atomic bool given_up;	/* claimed, and the next call is to give it
				 * back: see unclaim.h */
	struct tux_backoff pause;	/* how long it is not claimed again */
	_Atomic tux_time pause_until;	/* not claimed again before; 0: it never
				 * was */
	_Atomic bool asleep;	/* a candidate that keeps its end: see unclaim.h */
	_Atomic bool slept;	/* ... which it is to be: the loop has pinned it */
	_Atomic tux_time awake_until;	/* ... which does not sleep before */
	struct sock *_Atomic listener;	/* of an accepted one: who made it
				 * reachable */
	struct tux_addr local;	/* of a listener */
	struct tux_tuple tuple;	/* of a connection, once looked up */
	struct tux_end *end;
	struct tux_duplex *dx;
	struct tux_latch watch_latch;	/* protects watches */
	struct tux_list watches;
	struct sock *next_free;
};

/* A sock in @stage that no descriptor names yet, with one reference, or NULL:
 * no memory. */
struct sock *sock_new(enum sock_stage stage);

/* Gives back @n of what sock->refs counts; the last one frees @s.  sock_put():
 * one reference. */
void sock_let_go(struct sock *s, uint64_t n);

static inline void sock_put(struct sock *s)
{
	sock_let_go(s, 1);
}

/* Listener @s is not reachable over Tux any more: its UDP port is free.  So is
 * that of a listener whose last reference goes. */
void sock_unlisten(struct sock *s);

/* Claimed socks that still exist.  While there is none, the kernel's poll()
 * knows all that is ready. */
extern _Atomic uint32_t socks_moved;

/* @s is about to be claimed: counts it.  sock_unmoves(): this process has
 * closed it, or it is free. */
void sock_moves(struct sock *s);
void sock_unmoves(struct sock *s);

/* What can be done with claimed @s without asking TCP: tux_duplex_poll(), and
 * what the preload itself knows (an error kept, SHUT_RD). */
unsigned sock_poll(struct sock *s);

/* Registers and removes a watch.  After sock_unwatch() returns, no thread rings
 * for it any more. */
void sock_watch(struct sock *s, struct watch *w);
void sock_unwatch(struct sock *s, struct watch *w);

/* As the two above, of all socks at once, for a thread that leaves a wait to
 * the kernel: rung when a direction of any sock has moved, and by sock_ring()
 * of any.  The thread looks at its socks after sock_watch_all(), and then
 * sleeps. */
void sock_watch_all(struct watch *w);
void sock_unwatch_all(struct watch *w);

/* Rings all watches whose index is not in the bell yet. */
void sock_ring(struct sock *s);

/* Claimed @s may allow more.  If a direction has moved, as sock_ring(); if not,
 * rings the watches of @s that want what it allows: an acknowledgment does not
 * wake a thread that waits for bytes.  The threads are woken by
 * tux_wakes_go(@wakes), or at once if @wakes is NULL. */
void sock_ready(struct sock *s, struct tux_wakes *wakes);

/* In a child, right after fork. */
void sock_forked(void);

#endif
