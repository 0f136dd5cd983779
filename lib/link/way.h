/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * way - whether packets can travel over an interface, and which
 *
 * The slow side of the `xdp` link: it takes the interface when the first
 * connection asks for it and gives it back a while after the last, follows
 * routes, neighbours and the interface itself, and tries again what failed.
 * It is woken by descriptors and by `due_at`, and says by `news` that the
 * answers of tux_way_admit() or tux_way_closed() may be others now.
 */
#ifndef TUX_LINK_WAY_H
#define TUX_LINK_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "link/flow.h"
#include "link/link.h"
#include "link/neigh.h"
#include "link/nic.h"
#include "sys/slab.h"
#include "wire/reason.h"

/* What epoll says, beyond the caller's tag. */
enum { TUX_WAY_PACKETS, TUX_WAY_NEIGH, TUX_WAY_NIC };

struct tux_way {
	int epfd;
	uint64_t tag;
	char ifname[16];		/* empty: whichever is needed first */
	bool always;			/* keep it, also without connections */
	tux_link_said_fn *said;		/* or NULL */

	struct tux_neigh neigh;
	struct tux_nic nic;
	struct tux_iface iface;		/* index 0: none, or it is gone */
	struct tux_flows flows;
	struct tux_slab slab;

	enum tux_reason why;		/* the interface is not ours: why */
	bool waiting;			/* somebody asked in vain */
	bool news;
	bool reroute;			/* routes have changed */
	unsigned ticks;
	tux_time retry_at, retry_in;
	tux_time taken_at;
	tux_time idle_at;		/* the last flow went */
	tux_time due_at;		/* call tux_way_tick() */
};

/* @w is all zero.  -errno. */
int tux_way_init(struct tux_way *w, int epfd, uint64_t tag,
		 const struct tux_link_opts *o);
void tux_way_fini(struct tux_way *w);
void tux_way_forked(struct tux_way *w);

/* A connection between @local and @peer wants to travel.  0 with its flow in
 * *@fp; 1: not yet known, there will be news; a reason, negated. */
int tux_way_admit(struct tux_way *w, const struct tux_addr *local,
		  const struct tux_addr *peer, struct tux_flow **fp,
		  tux_time now);
void tux_way_leave(struct tux_way *w, struct tux_flow *f, tux_time now);

/* Why packets of @f cannot go now; NONE: they can, as far as we know. */
enum tux_reason tux_way_closed(const struct tux_way *w,
			       const struct tux_flow *f);

/* The longest datagram for @f. */
uint32_t tux_way_mtu(const struct tux_way *w, const struct tux_flow *f);

/* epoll has named @what (TUX_WAY_NEIGH, TUX_WAY_NIC). */
void tux_way_event(struct tux_way *w, unsigned what, tux_time now);

/* @w->due_at has come. */
void tux_way_tick(struct tux_way *w, tux_time now);

/* Says how the interface stands, if it is ours, when nobody drives any more. */
void tux_way_count(struct tux_way *w);

/* ---- between way.c and way_flow.c ---- */

/* Reads anew what the interface is. */
void tux_way_look(struct tux_way *w);

/* Tries to make it ours; if that fails, @w->why says why. */
void tux_way_take(struct tux_way *w, tux_time now);

/* What @i lacks, or NONE. */
enum tux_reason tux_way_lacks(const struct tux_iface *i);

/* Decides when to look again. */
void tux_way_plan(struct tux_way *w, tux_time now);

/* Finds the routes of all flows anew. */
void tux_way_reroute(struct tux_way *w);

/* Drops flows that have been without a connection for long enough. */
void tux_way_forget(struct tux_way *w, tux_time now);

/* Is the interface ours? */
static inline bool tux_way_on(const struct tux_way *w)
{
	return w->nic.state == TUX_NIC_ON;
}

#endif
