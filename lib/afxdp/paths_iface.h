/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths_iface - the interface of the path manager: whether it is ours
 *
 * Also the struct that the files of the path manager share: paths.c,
 * paths_flow.c and this.  A stack has one, which belongs to its first loop; the links
 * of the others use it, too.
 */
#ifndef TUX_AFXDP_PATHS_IFACE_H
#define TUX_AFXDP_PATHS_IFACE_H

#include <stdbool.h>
#include <stdint.h>

#include "afxdp/flow.h"
#include "afxdp/nic.h"
#include "afxdp/places.h"
#include "base/latch.h"
#include "base/time.h"
#include "kernel/neigh.h"
#include "link/link.h"
#include "policy/backoff.h"
#include "policy/give_way.h"
#include "sys/slab.h"
#include "wire/reason.h"

struct tux_paths {
	struct tux_latch latch;		/* see paths.h */
	_Atomic uint32_t news;		/* how often answers may have changed, and 1;
					 * never 0 */
	int epfd;
	uint64_t tag;
	char ifname[16];		/* empty: whichever is needed first */
	bool always;			/* keep it, also without connections */
	tux_link_said_fn *said;		/* or NULL */

	struct tux_neigh neigh;
	struct tux_nic nic;
	struct tux_iface iface;		/* index 0: none, or it is gone */
	struct tux_flows flows;
	struct tux_places places;
	uint16_t port;			/* of UDP: packets for us go there */
	struct tux_slab slab;

	enum tux_reason why;		/* the interface is not ours: why */
	bool waiting;			/* somebody asked in vain */
	bool mixed;			/* UDP sockets carry what AF_XDP does not */
	bool given_back;			/* as flows are idle */
	unsigned stirs;			/* datagrams over UDP sockets, */
	tux_time stir_at;		/* ... since then */
	bool changed;			/* `news` is to be counted up */
	bool yields;			/* see policy/give_way.h */
	struct tux_give_way give_way;
	tux_time give_way_at;		/* look at the counters; TUX_NEVER */
	int counters;			/* to ask how much it carries */
	bool denied;			/* it is ours, but bpf() is refused */
	uint64_t rx, tx;		/* packets at the last tick */
	unsigned ticks;
	tux_time retry_at;		/* take it again; TUX_NEVER */
	struct tux_backoff retry;	/* how long after it was not to be had */
	tux_time taken_at;
	tux_time idle_at;		/* in use, last */
	struct tux_backoff unused;	/* how long it is kept unused */
	tux_time reroute_at;		/* find the routes anew; TUX_NEVER */
	tux_time rerouted_at;		/* that was begun last, */
	uint32_t reroute_next;		/* ... and goes on with that flow */
	bool reroute_again;		/* routes have changed meanwhile */
	tux_time tick_at;		/* look after the rest; TUX_NEVER */
	tux_time due_at;		/* call tux_paths_tick() */
};

/* Says @what about the interface to the caller of tux_paths_init(). */
void tux_paths_say(const struct tux_paths *p, enum tux_link_what what);

/* Asks what the interface is.  The kernel may answer late: its news tell of
 * changes, so this is for when there were none yet. */
void tux_paths_look(struct tux_paths *p);

/* Tries to make it ours; if that fails, @p->why says why. */
void tux_paths_take(struct tux_paths *p, tux_time now);

/* How many queues to send by the interface has that may be used; without a name, the
 * least of all that it may be.  1, if none is known.  Asks the kernel; without the latch,
 * by any thread. */
uint32_t tux_paths_queues(const struct tux_paths *p);

/* What @i lacks, or NONE. */
enum tux_reason tux_paths_lacks(const struct tux_iface *i);

/* Decides when to look again.  A deadline that is set stays, however often this
 * is called before it. */
void tux_paths_plan(struct tux_paths *p, tux_time now);

/* The interface is not to be had, for @why: it is tried again later. */
void tux_paths_fail(struct tux_paths *p, enum tux_reason why, tux_time now);

/* Does a connection, or the caller of tux_paths_init(), want the interface? */
bool tux_paths_wanted(const struct tux_paths *p);

/* Is the interface ours? */
static inline bool tux_paths_on(const struct tux_paths *p)
{
	return p->nic.state == TUX_NIC_ON;
}

#endif
