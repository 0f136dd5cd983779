/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/way.h"

#include <errno.h>

#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"

enum {
	TICK_MS = 1000,
	REROUTE_MS = 100,		/* routes change in swarms */
	IDLE_MS = 5000,			/* without flows, until it is given back */
	RETRY_MIN_MS = 1000, RETRY_MAX_MS = 60000,
	PROBE_TICKS = 30,		/* between looks at known neighbours */
};

static bool wanted(const struct tux_way *w)
{
	return w->flows.live_n || w->waiting || w->always;
}

void tux_way_plan(struct tux_way *w, tux_time now)
{
	/* While the interface is ours, or on the way to or from us, somebody has
	 * to look after it. */
	w->due_at = TUX_NEVER;
	if (wanted(w) || w->flows.n || w->nic.state != TUX_NIC_OFF)
		w->due_at = now + TUX_MSEC(TICK_MS);
	if (w->reroute)
		w->due_at = now + TUX_MSEC(REROUTE_MS);
}

/* ---- the interface ---- */

static void say(const struct tux_way *w, enum tux_link_what what)
{
	struct tux_link_note n = {
		what, w->nic.iface.name, &w->nic.tally, &w->nic.feature,
	};

	if (w->said)
		w->said(&n);
}

void tux_way_look(struct tux_way *w)
{
	struct tux_iface i = { 0 };
	int err;

	err = w->iface.index ?
	      tux_neigh_iface(&w->neigh, w->iface.index, NULL, &i) : -ENODEV;
	/* Another one may have come under its name. */
	if (err && *w->ifname)
		tux_neigh_iface(&w->neigh, 0, w->ifname, &i);
	w->iface = i;
}

enum tux_reason tux_way_lacks(const struct tux_iface *i)
{
	if (!i->index)
		return TUX_REASON_NO_INTERFACE;
	if (!i->up)
		return TUX_REASON_LINK_DOWN;
	return i->mtu < TUX_NIC_MTU_MIN ? TUX_REASON_MTU : TUX_REASON_NONE;
}

static void fail(struct tux_way *w, enum tux_reason why, tux_time now)
{
	w->why = why;
	w->retry_at = now + w->retry_in;
	w->retry_in = tux_time_min(2 * w->retry_in, TUX_MSEC(RETRY_MAX_MS));
	w->waiting = false;		/* who still does will ask again */
	w->news = true;
}

void tux_way_take(struct tux_way *w, tux_time now)
{
	enum tux_reason why;

	tux_way_look(w);
	why = tux_way_lacks(&w->iface);
	if (why)
		fail(w, why, now);
	else
		tux_nic_take(&w->nic, &w->iface);
}

/* The interface is no longer ours, although we want it. */
static void lose(struct tux_way *w, enum tux_reason why, tux_time now)
{
	fail(w, why, now);
	tux_nic_drop(&w->nic);
}

static int watch(struct tux_way *w, int fd, unsigned what)
{
	struct epoll_event e = {
		.events = EPOLLIN, .data.u64 = w->tag + what,
	};

	return tux_sys_epoll_ctl(w->epfd, EPOLL_CTL_ADD, fd, &e);
}

/* The sockets of the first queues are in the link's own list: see xdp.c. */
static void on_taken(struct tux_way *w)
{
	uint32_t i;

	w->why = TUX_REASON_NONE;
	w->waiting = false;
	if (w->nic.refused)
		say(w, TUX_LINK_REFUSED);
	say(w, TUX_LINK_TAKEN);
	for (i = TUX_LINK_FDS; i < w->nic.n; i++)
		watch(w, w->nic.xsk[i].fd, TUX_WAY_PACKETS);
	for (i = 0; i < w->flows.top; i++) {
		struct tux_flow *f = &w->flows.at[i];

		f->queue = 0;
		if (f->used)
			tux_prog_add(&w->nic.prog, &f->local, &f->peer);
	}
	tux_way_reroute(w);
}

static void on_nic(struct tux_way *w, tux_time now)
{
	tux_nic_settle(&w->nic);
	if (tux_way_on(w)) {
		w->idle_at = w->taken_at = now;
		on_taken(w);
	} else if (w->nic.reason) {
		fail(w, w->nic.reason, now);
	} else {
		say(w, TUX_LINK_LEFT);
	}
}

void tux_way_count(struct tux_way *w)
{
	tux_nic_settle(&w->nic);
	if (!tux_way_on(w))
		return;
	tux_nic_count(&w->nic);
	say(w, TUX_LINK_COUNTED);
}

static void on_links(struct tux_way *w, tux_time now)
{
	struct tux_iface before = w->iface;

	if (!before.index && !*w->ifname)
		return;
	tux_way_look(w);
	w->news |= memcmp(&before, &w->iface, sizeof(before)) != 0;
	if (w->iface.up && !before.up)
		tux_way_reroute(w);		/* they went with it */
	if (!tux_way_on(w)) {
		/* What kept us from it may be over. */
		if (w->why && w->why == tux_way_lacks(&before))
			w->retry_at = now;
	} else if (w->iface.index != w->nic.iface.index) {
		lose(w, TUX_REASON_NO_INTERFACE, now);
	}
}

void tux_way_event(struct tux_way *w, unsigned what, tux_time now)
{
	unsigned changed;

	if (what == TUX_WAY_NIC) {
		on_nic(w, now);
	} else {
		changed = tux_neigh_read(&w->neigh);
		if (changed & TUX_NEIGH_LINKS)
			on_links(w, now);
		w->news |= (changed & TUX_NEIGH_HOPS) != 0;
		w->reroute |= (changed & TUX_NEIGH_ROUTES) != 0;
	}
	tux_way_plan(w, now);
}

/* ---- time ---- */

/* The kernel's own traffic to a neighbour stops when ours begins: without being
 * asked, it would not notice that one has gone. */
static void probe(struct tux_way *w)
{
	bool all = w->ticks++ % PROBE_TICKS == 0;
	unsigned i;

	for (i = 0; i < TUX_HOPS; i++) {
		const struct tux_hop *h = &w->neigh.hop[i];

		if (h->refs && (all || !h->known))
			tux_neigh_probe(&w->neigh, i);
	}
}

/* Zero copy that does not work is not tried again; copying comes next. */
static bool tried_in_vain(struct tux_way *w, tux_time now)
{
	enum tux_trial_state trial = tux_nic_try(&w->nic, now);

	if (trial != TUX_TRIAL_STUCK && trial != TUX_TRIAL_DEAF)
		return false;
	w->nic.zerocopy = TUX_ZEROCOPY_OFF;
	say(w, trial == TUX_TRIAL_DEAF ? TUX_LINK_DEAF : TUX_LINK_STUCK);
	return true;
}

void tux_way_tick(struct tux_way *w, tux_time now)
{
	tux_way_forget(w, now);
	if (tux_way_on(w)) {
		if (!tux_prog_attached(&w->nic.prog))
			lose(w, TUX_REASON_DETACHED, now);
		else if (tried_in_vain(w, now))
			lose(w, TUX_REASON_ZERO_COPY, now);
		else if (tux_time_since(w->taken_at, now) >
			 TUX_MSEC(RETRY_MAX_MS))
			w->retry_in = TUX_MSEC(RETRY_MIN_MS);
	}
	if (w->flows.n)
		w->idle_at = now;
	if (tux_way_on(w) && !wanted(w) && !w->flows.n &&
	    tux_time_since(w->idle_at, now) >= TUX_MSEC(IDLE_MS))
		tux_nic_drop(&w->nic);
	if (w->nic.state == TUX_NIC_OFF && wanted(w) && now >= w->retry_at)
		tux_way_take(w, now);
	if (w->reroute)
		tux_way_reroute(w);
	probe(w);
	tux_way_plan(w, now);
}

/* ---- birth and death ---- */

static int open_all(struct tux_way *w)
{
	int err = tux_nic_init(&w->nic);

	if (!err)
		err = tux_neigh_open(&w->neigh);
	if (!err)
		err = tux_flows_init(&w->flows, &w->slab.mem);
	if (!err)
		err = watch(w, w->neigh.news.fd, TUX_WAY_NEIGH);
	if (!err)
		err = watch(w, w->nic.fd, TUX_WAY_NIC);
	return err;
}

int tux_way_init(struct tux_way *w, int epfd, uint64_t tag,
		 const struct tux_link_opts *o)
{
	tux_time now = tux_clock_read();
	int err;

	w->epfd = epfd;
	w->tag = tag;
	w->due_at = TUX_NEVER;
	w->retry_in = TUX_MSEC(RETRY_MIN_MS);
	w->nic.fd = w->neigh.ask.fd = w->neigh.news.fd = -1;
	tux_slab_init(&w->slab);
	err = open_all(w);
	if (err) {
		tux_way_fini(w);
		return err;
	}
	if (o->ifname)
		strncpy(w->ifname, o->ifname, sizeof(w->ifname) - 1);
	w->always = o->attach_start && o->ifname;
	w->said = o->said;
	w->nic.zerocopy = o->zerocopy;
	if (w->always)
		tux_way_take(w, now);
	tux_way_plan(w, now);
	return 0;
}

void tux_way_fini(struct tux_way *w)
{
	tux_nic_fini(&w->nic);
	tux_neigh_close(&w->neigh);
	tux_flows_fini(&w->flows);
	tux_slab_fini(&w->slab);
}

void tux_way_forked(struct tux_way *w)
{
	tux_nic_forked(&w->nic);
	tux_fd_close(w->neigh.ask.fd);
	tux_fd_close(w->neigh.news.fd);
}
