/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * paths_flow - the flows of the path manager: their routes, and how they come
 * and go
 */
#ifndef TUX_AFXDP_PATHS_FLOW_H
#define TUX_AFXDP_PATHS_FLOW_H

#include "afxdp/paths_iface.h"

/* A connection between @local and @peer wants to travel.  0 with its flow in
 * *@fp; 1: not yet known, `changed` will tell; a reason, negated. */
int tux_paths_admit(struct tux_paths *p, const struct tux_addr *local,
		    const struct tux_addr *peer, struct tux_flow **fp,
		    tux_time now);
void tux_paths_leave(struct tux_paths *p, struct tux_flow *f, tux_time now);

/* Why packets of @f cannot go now; NONE: they can, as far as we know. */
enum tux_reason tux_paths_closed(const struct tux_paths *p,
				 const struct tux_flow *f);

/* The longest datagram for @f. */
uint32_t tux_paths_mtu(const struct tux_paths *p, const struct tux_flow *f);

/* Finds the routes of all flows anew: those of some now, and of as many at each of the
 * next ticks, which are due at once.  Each is a question to the kernel, and the loop
 * has packets to serve in between. */
void tux_paths_reroute(struct tux_paths *p);
void tux_paths_reroute_on(struct tux_paths *p);

/* Drops flows that have been without a connection for long enough. */
void tux_paths_forget(struct tux_paths *p, tux_time now);

#endif
