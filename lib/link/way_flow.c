/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * way_flow - the flows that travel over a way: their routes, and how they come
 * and go
 */
#include "link/way.h"

enum { LIMBO_MS = 1000 };		/* of a flow without connection */

/* ---- routes ---- */

static void unroute(struct tux_way *w, struct tux_flow *f)
{
	if (f->hop >= 0)
		tux_neigh_put(&w->neigh, (unsigned)f->hop);
	f->hop = -1;
}

static enum tux_reason route(struct tux_way *w, struct tux_flow *f)
{
	struct tux_route r;
	int hop = -1;

	if (!tux_neigh_route(&w->neigh, &f->local, &f->peer, &r) &&
	    r.index == w->iface.index)
		hop = tux_neigh_get(&w->neigh, &r);
	unroute(w, f);
	f->hop = (int16_t)(hop < 0 ? -1 : hop);
	return hop < 0 ? TUX_REASON_NO_INTERFACE : TUX_REASON_NONE;
}

void tux_way_reroute(struct tux_way *w)
{
	uint32_t i;

	for (i = 0; i < w->flows.top; i++)
		if (w->flows.at[i].used)
			route(w, &w->flows.at[i]);
	w->reroute = false;
	w->news = true;
}

/* ---- connections ---- */

/* Is the interface that @r names the one to use?  The first one asked for is,
 * until it is given back. */
static enum tux_reason choose(struct tux_way *w, const struct tux_route *r)
{
	if (*w->ifname && !w->iface.index)
		tux_way_look(w);
	if (!*w->ifname && w->nic.state == TUX_NIC_OFF && !w->flows.n) {
		w->iface.index = r->index;
		tux_way_look(w);
	}
	if (*w->ifname && !w->iface.index)
		return TUX_REASON_NO_INTERFACE;
	if (w->iface.index != r->index)
		return TUX_REASON_OTHER_INTERFACE;
	return tux_way_lacks(&w->iface);
}

static int add(struct tux_way *w, const struct tux_addr *local,
	       const struct tux_addr *peer, struct tux_flow **fp, tux_time now)
{
	struct tux_flow *f = tux_flows_add(&w->flows, local, peer);
	enum tux_reason why;

	if (!f)
		return -TUX_REASON_NO_MEMORY;
	why = route(w, f);
	if (!why && tux_prog_add(&w->nic.prog, local, peer))
		why = TUX_REASON_NO_MEMORY;
	if (why) {
		unroute(w, f);
		tux_flows_release(&w->flows, f, now);
		tux_flows_del(&w->flows, f);
		return -(int)why;
	}
	*fp = f;
	return 0;
}

int tux_way_admit(struct tux_way *w, const struct tux_addr *local,
		  const struct tux_addr *peer, struct tux_flow **fp,
		  tux_time now)
{
	enum tux_reason why;
	struct tux_route r;
	int res = 1;

	*fp = tux_flows_find(&w->flows, local, peer);
	if (*fp) {
		tux_flows_hold(&w->flows, *fp);
		return 0;
	}
	if (tux_neigh_route(&w->neigh, local, peer, &r))
		return -TUX_REASON_NO_INTERFACE;
	why = choose(w, &r);
	if (!why && w->nic.state == TUX_NIC_OFF) {
		if (now >= w->retry_at)
			tux_way_take(w, now);
		if (w->nic.state == TUX_NIC_OFF)
			why = w->why;
	}
	if (why)
		res = -(int)why;
	else if (tux_way_on(w))
		res = add(w, local, peer, fp, now);
	if (!tux_way_on(w) && why != TUX_REASON_OTHER_INTERFACE)
		w->waiting = true;
	tux_way_plan(w, now);
	return res;
}

void tux_way_leave(struct tux_way *w, struct tux_flow *f, tux_time now)
{
	tux_flows_release(&w->flows, f, now);
	w->idle_at = now;
	if (w->due_at == TUX_NEVER)
		tux_way_plan(w, now);
}

void tux_way_forget(struct tux_way *w, tux_time now)
{
	uint32_t i;

	if (w->flows.n == w->flows.live_n)
		return;
	for (i = 0; i < w->flows.top; i++) {
		struct tux_flow *f = &w->flows.at[i];

		if (!f->used || f->refs ||
		    tux_time_since(f->gone_at, now) < TUX_MSEC(LIMBO_MS))
			continue;
		if (tux_way_on(w))
			tux_prog_del(&w->nic.prog, &f->local, &f->peer);
		unroute(w, f);
		tux_flows_del(&w->flows, f);
	}
}

enum tux_reason tux_way_closed(const struct tux_way *w,
			       const struct tux_flow *f)
{
	if (!tux_way_on(w))
		return w->why ? w->why : TUX_REASON_NOT_STARTED;
	if (tux_way_lacks(&w->iface))
		return tux_way_lacks(&w->iface);
	if (f->hop < 0)
		return TUX_REASON_NO_INTERFACE;
	return w->neigh.hop[f->hop].known ? TUX_REASON_NONE :
	       TUX_REASON_NO_NEIGHBOUR;
}

uint32_t tux_way_mtu(const struct tux_way *w, const struct tux_flow *f)
{
	uint32_t mtu = w->iface.mtu;

	if (mtu < TUX_NIC_MTU_MIN)
		mtu = TUX_NIC_MTU_MIN;	/* the way is closed */
	if (mtu > TUX_NIC_MTU)
		mtu = TUX_NIC_MTU;
	return mtu - (tux_addr_is_v4(&f->peer) ? TUX_ETH_V4_HDRS :
		      TUX_ETH_V6_HDRS);
}
