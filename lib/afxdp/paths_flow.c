/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Routes of flows, and the connections that hold them.
 */
#include "afxdp/paths_flow.h"

#include "afxdp/paths_give_way.h"

enum {
	LIMBO_MS = 1000,		/* of a flow without connection */
	ROUTES = 64,			/* found at once: some 0.5 ms */
};

/* ---- routes ---- */

static void unroute(struct tux_paths *p, struct tux_flow *f)
{
	if (f->hop >= 0)
		tux_neigh_put(&p->neigh, (unsigned)f->hop);
	f->hop = -1;
}

/* The kernel's route from @local to @peer.  Frames that AF_XDP sends do not go
 * through the encapsulation that a route may have. */
static enum tux_reason route_find(struct tux_paths *p,
				  const struct tux_addr *local,
				  const struct tux_addr *peer,
				  struct tux_route *r)
{
	if (tux_neigh_route(&p->neigh, local, peer, r))
		return TUX_REASON_NO_INTERFACE;
	return r->encap ? TUX_REASON_ENCAPSULATED : TUX_REASON_NONE;
}

static enum tux_reason route(struct tux_paths *p, struct tux_flow *f)
{
	struct tux_route r;
	enum tux_reason why = route_find(p, &f->local, &f->peer, &r);
	int hop = -1;

	if (!why && r.index == p->iface.index)
		hop = tux_neigh_get(&p->neigh, &r);
	if (!why && hop < 0)
		why = TUX_REASON_NO_INTERFACE;
	unroute(p, f);
	f->hop = (int16_t)(hop < 0 ? -1 : hop);
	f->why = (uint8_t)why;
	return why;
}

void tux_paths_reroute(struct tux_paths *p)
{
	p->reroute_next = 0;
	p->reroute_again = false;
	p->changed = true;
	tux_paths_reroute_on(p);
}

void tux_paths_reroute_on(struct tux_paths *p)
{
	struct tux_flow had;
	unsigned n = 0;

	for (; p->reroute_next < p->flows.top && n < ROUTES; p->reroute_next++) {
		struct tux_flow *f = &p->flows.at[p->reroute_next];

		if (!f->used)
			continue;
		had = *f;
		route(p, f);
		p->changed |= f->hop != had.hop || f->why != had.why;
		n++;
	}
	p->reroute_at = 0;
	if (p->reroute_next < p->flows.top)
		return;
	p->reroute_next = 0;
	p->reroute_at = TUX_NEVER;
}

/* ---- connections ---- */

/* Is the interface that @r names the one to use?  The first one asked for is,
 * until it is given back. */
static enum tux_reason flow_choose(struct tux_paths *p,
				   const struct tux_route *r)
{
	if (!*p->ifname && p->nic.state == TUX_NIC_OFF && !p->flows.n &&
	    p->iface.index != r->index) {
		tux_paths_give_way_anew(p);
		p->iface.index = r->index;
		tux_paths_look(p);
	}
	if (*p->ifname && !p->iface.index)
		return TUX_REASON_NO_INTERFACE;
	if (p->iface.index != r->index && !p->iface.bundled)
		return TUX_REASON_OTHER_INTERFACE;
	return tux_paths_lacks(&p->iface);
}

/* Packets for the address that @f leaves from are ours. */
static int hold_place(struct tux_paths *p, const struct tux_flow *f)
{
	struct tux_local *l = tux_places_hold(&p->places, &f->local, p->port);

	if (!l)
		return -TUX_REASON_NO_MEMORY;
	if (l->flows > 1 || !tux_paths_on(p))
		return 0;
	return tux_prog_add(&p->nic.prog, &l->addr);
}

static void drop_place(struct tux_paths *p, const struct tux_flow *f)
{
	struct tux_addr at;

	if (tux_places_release(&p->places, &f->local, &at) && tux_paths_on(p))
		tux_prog_del(&p->nic.prog, &at);
}

static int flow_add(struct tux_paths *p, const struct tux_addr *local,
		    const struct tux_addr *peer, struct tux_flow **fp,
		    tux_time now)
{
	struct tux_flow *f = tux_flows_add(&p->flows, local, peer);
	int r;

	if (!f)
		return -TUX_REASON_NO_MEMORY;
	r = hold_place(p, f);
	if (!r)
		r = -(int)route(p, f);
	if (r) {
		drop_place(p, f);
		unroute(p, f);
		tux_flows_release(&p->flows, f, now);
		tux_flows_del(&p->flows, f);
		return r;
	}
	*fp = f;
	return 0;
}

int tux_paths_admit(struct tux_paths *p, const struct tux_addr *local,
		    const struct tux_addr *peer, struct tux_flow **fp,
		    tux_time now)
{
	enum tux_reason why;
	struct tux_route r;
	int res = 1;

	*fp = tux_flows_find(&p->flows, local, peer);
	if (*fp) {
		tux_flows_hold(&p->flows, *fp);
		return 0;
	}
	why = route_find(p, local, peer, &r);
	if (why)
		return -(int)why;
	why = flow_choose(p, &r);
	if (!why && p->nic.state == TUX_NIC_OFF) {
		if (now >= p->retry_at)
			tux_paths_take(p, now);
		if (p->nic.state == TUX_NIC_OFF)
			why = p->why;
	}
	if (why)
		res = -(int)why;
	if (why ? p->mixed && p->iface.index == r.index : tux_paths_on(p))
		res = flow_add(p, local, peer, fp, now);
	if (!tux_paths_on(p) && why != TUX_REASON_OTHER_INTERFACE)
		p->waiting = true;
	tux_paths_plan(p, now);
	return res;
}

void tux_paths_leave(struct tux_paths *p, struct tux_flow *f, tux_time now)
{
	tux_flows_release(&p->flows, f, now);
	p->idle_at = now;
	tux_paths_plan(p, now);
}

void tux_paths_forget(struct tux_paths *p, tux_time now)
{
	uint32_t i;

	if (p->flows.n == p->flows.live_n)
		return;
	for (i = 0; i < p->flows.top; i++) {
		struct tux_flow *f = &p->flows.at[i];

		if (!f->used || f->refs ||
		    tux_time_since(f->gone_at, now) < TUX_MSEC(LIMBO_MS))
			continue;
		drop_place(p, f);
		unroute(p, f);
		tux_flows_del(&p->flows, f);
	}
}

enum tux_reason tux_paths_closed(const struct tux_paths *p,
				 const struct tux_flow *f)
{
	if (!tux_paths_on(p))
		return p->why ? p->why : TUX_REASON_NOT_STARTED;
	if (tux_paths_lacks(&p->iface))
		return tux_paths_lacks(&p->iface);
	if (f->why)
		return (enum tux_reason)f->why;
	return p->neigh.hop[f->hop].known ? TUX_REASON_NONE :
	       TUX_REASON_NO_NEIGHBOUR;
}

uint32_t tux_paths_mtu(const struct tux_paths *p, const struct tux_flow *f)
{
	uint32_t mtu = p->iface.mtu;

	if (mtu < TUX_NIC_MTU_MIN)
		mtu = TUX_NIC_MTU_MIN;	/* nothing can be sent */
	if (mtu > TUX_NIC_MTU)
		mtu = TUX_NIC_MTU;
	return mtu - (tux_addr_is_v4(&f->peer) ? TUX_ETH_V4_HDRS :
		      TUX_ETH_V6_HDRS);
}
