/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop - one core, one link, and the connections on it
 *
 * A loop belongs to no thread. One thread at a time drives it: calls
 * tux_loop_turn(), and sleeps on its epoll instance in between. All other
 * threads only ring its bell, with the index of an end.
 *
 * loop.c is the turn, loop_end.c what happens to one connection in it, loop_pass.c what
 * loops of a stack and other threads pass on to each other.
 */
#ifndef TUX_LOOP_LOOP_H
#define TUX_LOOP_LOOP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn/core.h"
#include "kernel/xfrm.h"
#include "link/link.h"
#include "loop/end.h"
#include "loop/forward.h"
#include "policy/cpu_busy.h"
#include "sys/carried.h"
#include "sys/slab.h"
#include "sys/wake.h"
#include "wire/reason.h"

struct tux_loop;

struct tux_cc_ops;

/* What a loop sleeps on, which may be there before the loop. */
struct tux_loop_held {
	int epfd;
	int bell_fd;		/* in epfd */
};

struct tux_loop_opts {
	const struct tux_link_ops *link;
	struct tux_link_opts link_opts;
	const struct tux_loop_held *held;	/* open already, stays the
						 * caller's; NULL */
	struct tux_ends *ends;		/* shared by the loops of a stack */
	struct tux_recall *recall;	/* the same; or NULL */
	unsigned number;		/* of the loop there, below 32 */
	tux_time ack_delay;
	const struct tux_cc_ops *cc;	/* NULL: CUBIC */
	/* Told in a turn, by the thread that drives; @user is the end's.
	 * The wake-ups that @wakes collects are due at the end of the turn. */
	void (*ready)(void *user, struct tux_wakes *wakes);
	/* Is it on Tux both ways?  If not, @why; NONE: it may move now. */
	void (*decided)(void *user, bool tux, enum tux_reason why);
	void (*gone)(void *user);
	/* An end with `returns` was on Tux, and is on TCP again both ways,
	 * until @until at least: its calls may be the kernel's.  NULL: of no
	 * interest. */
	void (*returned)(void *user, tux_time until);
	/* With `recall`: another process has asked for the connection.  sleeps():
	 * both directions are plain TCP and pinned (tux_duplex_sleep), their
	 * latches are held, and the kernel has counted @c.  False: it is to be
	 * plain TCP for good; NULL: each is.  recalled(): it has been answered, and
	 * is @asleep, or plain TCP for good; no latch is held. */
	bool (*sleeps)(void *user, const struct tux_carried *c);
	void (*recalled)(void *user, bool asleep);
	/* A packet of @d fits no connection of @l. */
	void (*stranger)(void *arg, struct tux_loop *l,
			 const struct tux_dgram *d);
	/* The link cannot carry the connection of @e; with NONE: now it can. */
	void (*refused)(void *arg, const struct tux_end *e,
			enum tux_reason why);
	/* The first packet of the peer of @e, which the loop may give away, came to loop
	 * @via of the stack.  The loop that gets @e; NULL: this one keeps it. */
	struct tux_loop *(*moves)(void *arg, const struct tux_end *e,
				  unsigned via);
	/* Loop @to has got something that came here: a thread has to run it. */
	void (*passed)(void *arg, struct tux_loop *to);
	void *arg;			/* for these four: the loop's owner */
};

struct tux_loop {
	struct tux_loop_opts o;
	struct tux_core *core;
	struct tux_link *link;
	struct tux_xfrm xfrm;		/* which connections have to stay on
					 * TCP; open from the first one on */
	struct tux_bell *bell;
	struct tux_loop_held held;	/* epfd is readable: there is work, as
					 * the link's fd */
	_Atomic uint32_t end_n;		/* ends that it is not done with */
	_Atomic tux_time away_until;	/* connections are left to TCP until then,
					 * because the processors are busy; 0:
					 * they are not */
	_Atomic bool tends;		/* the link has a deadline of its own */
	_Atomic bool hears;		/* packets may come that fit no end of it */
	struct tux_forward forward;

	/* the driver's */
	tux_time now;
	tux_time looked_at;		/* when epoll was last asked */
	bool woken;			/* epoll has something: look soon */
	bool looked;			/* the last sleep said that epoll has
					 * nothing */
	bool more;			/* there was more to send */
	uint32_t way;			/* link->way, as the ends know it */
	struct tux_cpu_busy busy;	/* are connections left to TCP? */
	uint64_t sleeps, packets;	/* counted for `busy` */
	uint64_t passed;		/* datagrams, to other loops */
	uint32_t recalled_n;		/* ends that other processes ask for, */
	tux_time recalled_at;		/* ... which are not looked at before */
	struct tux_wakes wakes;		/* due at the end of the turn */
	struct tux_slab slab;
	uint8_t *buf;			/* for lifelines */
};

/* The epoll data of ends and of links begin here; below are the bell and what
 * the kernel tells of IPsec. */
enum {
	TUX_LOOP_BELL = 0,
	TUX_LOOP_XFRM = 1,
	TUX_LOOP_LINK = 1 << 8,
	TUX_LOOP_END = 1 << 24,
};

enum { TUX_LOOP_FDS = 1 + TUX_LINK_FDS };

/* Opens @h.  -errno; then, too, tux_loop_let_go() may be called. */
int tux_loop_hold(struct tux_loop_held *h);
void tux_loop_let_go(struct tux_loop_held *h);

/* In a forked child, which rings the parent's loop if it @recalls ends. */
void tux_loop_held_forked(struct tux_loop_held *h, bool recalls);

int tux_loop_new(struct tux_loop **lp, const struct tux_loop_opts *o);
void tux_loop_free(struct tux_loop *l);		/* NULL is fine */

/* In a forked child: closes the loop's own descriptors, and nothing else. */
void tux_loop_forked(struct tux_loop *l);

/* Closes all that @l has open.  Its memory stays, for threads that may still
 * look at it; no thread runs it any more. */
void tux_loop_leave(struct tux_loop *l);

/* Takes in what has come, sends what can go.  How many things it found; more
 * may be waiting if that is not 0. */
unsigned tux_loop_turn(struct tux_loop *l);

/* A turn in two halves.  _take() takes in what has come, lets timers expire, and
 * tells the ends concerned.  _send() sends what can go; tux_loop_flush() may be called
 * in its place.  Each returns how many things it found. */
unsigned tux_loop_take(struct tux_loop *l);
unsigned tux_loop_send(struct tux_loop *l);

/* Takes in rings, and sends what they ask for.  Takes in no datagrams, and so lets no
 * timer expire: a datagram that stops the timer may be waiting.  Returns how many
 * things it found. */
unsigned tux_loop_flush(struct tux_loop *l);

/* What the driver sleeps on, into @p; how many.  The first is the epoll
 * instance, the others are the link's. */
unsigned tux_loop_fds(const struct tux_loop *l, struct pollfd *p);

/* When the next turn is due, if nothing comes; TUX_NEVER. */
tux_time tux_loop_deadline(const struct tux_loop *l);

/* The driver is about to sleep: false if it must not.  In either case
 * tux_loop_finish_sleep() follows. */
bool tux_loop_prepare_sleep(struct tux_loop *l);

/* What the sleep said of the epoll instance. */
enum tux_loop_told {
	TUX_LOOP_UNTOLD,		/* it was not asked */
	TUX_LOOP_NOTHING,
	TUX_LOOP_READABLE,
};

/* Awake. */
void tux_loop_finish_sleep(struct tux_loop *l, enum tux_loop_told told);

/* Nobody drives any more: has the link say how things stand. */
void tux_loop_count(struct tux_loop *l);

/* ---- any thread ---- */

/* Nothing rings, no datagram was forwarded, and no end is asked for. */
bool tux_loop_quiet(const struct tux_loop *l);

/* Puts end @i in the bell and wakes the driver if it sleeps. */
void tux_loop_ring(struct tux_loop *l, uint32_t i);

/* Hands in a copy of a datagram that another loop received. */
void tux_loop_forward(struct tux_loop *l, const struct tux_dgram *d);

/* Wakes the driver if it sleeps. */
void tux_loop_wake(struct tux_loop *l);

#endif
