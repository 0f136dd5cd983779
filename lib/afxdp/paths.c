/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/paths.h"

#include <string.h>

#include "afxdp/paths_give_way.h"
#include "kernel/counters.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"

enum {
	/* Without flows, until the interface is given back: drivers may reset
	 * their hardware when it is taken, and a peer could have it taken all
	 * the time. */
	UNUSED_MIN_S = 5,
	UNUSED_MAX_S = 320,
	UNUSED_CALM_S = 600,
	STEADY_MS = 60000,		/* kept for so long: retries start anew */
	/* In use: STIRS packets from one look to the next, a second later.
	 * To be taken again: STIRS datagrams over UDP sockets in STIR_MS. */
	STIRS = 32,
	STIR_MS = 100,
	PROBE_TICKS = 30,		/* between looks at known neighbours */
	REROUTE_MS = 100,		/* routes change in swarms */
	/* Each time, the loop asks the kernel for the route of every flow. */
	REROUTES_MS = 1000,
};

static const struct tux_backoff_rule unused = {
	.min = TUX_SEC(UNUSED_MIN_S),
	.max = TUX_SEC(UNUSED_MAX_S),
	.calm = TUX_SEC(UNUSED_CALM_S),
};

/* ---- the interface ---- */

/* The interface is no longer ours, although we want it. */
static void lose(struct tux_paths *p, enum tux_reason why, tux_time now)
{
	tux_paths_fail(p, why, now);
	tux_nic_drop(&p->nic);
}

static int paths_watch(struct tux_paths *p, int fd, unsigned what)
{
	struct epoll_event e = {
		.events = EPOLLIN, .data.u64 = p->tag + what,
	};

	return tux_sys_epoll_ctl(p->epfd, EPOLL_CTL_ADD, fd, &e);
}

static void on_taken(struct tux_paths *p)
{
	uint32_t i;

	p->why = TUX_REASON_NONE;
	p->waiting = p->denied = false;
	p->rx = p->tx = 0;
	if (p->nic.refused)
		tux_paths_say(p, TUX_LINK_REFUSED);
	tux_paths_say(p, TUX_LINK_TAKEN);
	for (i = 0; i < p->places.n; i++)
		tux_prog_add(&p->nic.prog, &p->places.at[i].addr);
	tux_paths_reroute(p);
}

static void on_nic(struct tux_paths *p, tux_time now)
{
	if (!tux_nic_finish(&p->nic))
		return;
	p->changed = true;
	tux_give_way_begin(&p->give_way);
	if (tux_paths_on(p)) {
		p->idle_at = p->taken_at = now;
		tux_backoff_again(&p->unused, &unused, now);
		on_taken(p);
	} else if (p->nic.reason) {
		tux_paths_fail(p, p->nic.reason, now);
	} else {
		tux_paths_say(p, TUX_LINK_LEFT);
	}
}

void tux_paths_count(struct tux_paths *p)
{
	tux_nic_halt(&p->nic);
	if (!tux_paths_on(p))
		return;
	tux_nic_count(&p->nic);
	tux_paths_say(p, TUX_LINK_COUNTED);
}

/* @before: the interface, until the news came. */
static void on_links(struct tux_paths *p, const struct tux_iface *before,
		     tux_time now)
{
	p->changed |= memcmp(before, &p->iface, sizeof(*before)) != 0;
	if (p->iface.up && !before->up)
		tux_paths_reroute(p);		/* they went with it */
	if (!tux_paths_on(p)) {
		/* What kept us from it may be over. */
		if (p->why && p->why == tux_paths_lacks(before))
			p->retry_at = now;
	} else if (p->iface.index != p->nic.iface.index) {
		lose(p, TUX_REASON_NO_INTERFACE, now);
	} else if (p->iface.bundled) {
		lose(p, TUX_REASON_BUNDLED, now);
	}
}

/* What comes while the routes are being found is for the next time. */
static void on_routes(struct tux_paths *p, tux_time now)
{
	if (p->reroute_next)
		p->reroute_again = true;
	else if (p->reroute_at == TUX_NEVER)
		p->reroute_at = tux_time_max(now + TUX_MSEC(REROUTE_MS),
					     p->rerouted_at +
					     TUX_MSEC(REROUTES_MS));
}

static void find_routes(struct tux_paths *p, tux_time now)
{
	if (!p->reroute_next)
		p->rerouted_at = now;
	tux_paths_reroute_on(p);
	if (p->reroute_next || !p->reroute_again)
		return;
	p->reroute_again = false;
	on_routes(p, now);
}

static void on_news(struct tux_paths *p, tux_time now)
{
	struct tux_iface before = p->iface;
	unsigned changed = tux_neigh_read(&p->neigh, &p->iface, p->ifname);

	/* Looks the name up: another interface may have got it long ago. */
	if (changed & TUX_NEIGH_LOST ||
	    (before.index && !p->iface.index && *p->ifname))
		tux_paths_look(p);
	if (changed & TUX_NEIGH_LINKS)
		on_links(p, &before, now);
	p->changed |= (changed & TUX_NEIGH_HOPS) != 0;
	if (changed & TUX_NEIGH_ROUTES)
		on_routes(p, now);
}

void tux_paths_event(struct tux_paths *p, unsigned what, tux_time now)
{
	if (what == TUX_PATHS_NIC)
		on_nic(p, now);
	else
		on_news(p, now);
	tux_paths_plan(p, now);
}

/* ---- time ---- */

/* Has the kernel probe next hops: it sends them nothing itself once packets go
 * over Tux, and so would not notice that a neighbour has gone. */
static void probe(struct tux_paths *p)
{
	bool all = p->ticks++ % PROBE_TICKS == 0;
	unsigned i;

	for (i = 0; i < TUX_HOPS; i++) {
		const struct tux_hop *h = &p->neigh.hop[i];

		if (h->refs && (all || !h->known))
			tux_neigh_probe(&p->neigh, i);
	}
}

/* May this process no longer ask whether its program is attached, since it has
 * given up its privilege?  Then it keeps the interface, and says so once. */
static bool denied(struct tux_paths *p)
{
	if (!tux_prog_denied(&p->nic.prog))
		return false;
	if (!p->denied)
		tux_paths_say(p, TUX_LINK_DENIED);
	p->denied = true;
	return true;
}

/* Is the program detached?  To ask takes the kernel's lock of all interfaces,
 * and may be slow.  Not if @received: packets have come through the program. */
static bool detached(struct tux_paths *p, bool received)
{
	return !denied(p) && !received && tux_prog_lost(&p->nic.prog);
}

/* Zero copy that does not work is not tried again; copying comes next. */
static bool tried_in_vain(struct tux_paths *p, tux_time now)
{
	enum tux_trial_state trial = tux_nic_try(&p->nic, now);

	if (trial != TUX_TRIAL_STUCK && trial != TUX_TRIAL_DEAF)
		return false;
	p->nic.zerocopy = TUX_ZEROCOPY_OFF;
	tux_paths_say(p, trial == TUX_TRIAL_DEAF ? TUX_LINK_DEAF : TUX_LINK_STUCK);
	return true;
}

/* Does anything need the interface now?  If UDP sockets can carry the flows
 * (`mixed`), only STIRS packets since the last look count; else any flow
 * does. */
static bool in_use(const struct tux_paths *p, const struct tux_tally *t)
{
	if (p->always || p->waiting)
		return true;
	if (p->mixed)
		return t->rx - p->rx + t->tx - p->tx >= STIRS;
	return p->flows.n;
}

/* No connection needs it: it is given back, and those that are there go on over
 * UDP. */
static void paths_give_back(struct tux_paths *p)
{
	p->given_back = true;
	p->changed = true;
	tux_nic_drop(&p->nic);
}

static void look_after(struct tux_paths *p, tux_time now)
{
	struct tux_tally t = { .rx = p->rx, .tx = p->tx };
	bool received;

	/* While it is being taken, only the thread that takes it may use it. */
	if (tux_paths_on(p))
		tux_nic_moved(&p->nic, &t);
	received = t.rx != p->rx;
	if (in_use(p, &t))
		p->idle_at = now;
	p->rx = t.rx;
	p->tx = t.tx;
	tux_paths_forget(p, now);
	if (tux_paths_on(p)) {
		if (detached(p, received))
			lose(p, TUX_REASON_DETACHED, now);
		else if (tried_in_vain(p, now))
			lose(p, TUX_REASON_ZERO_COPY, now);
		else if (tux_time_since(p->taken_at, now) >
			 TUX_MSEC(STEADY_MS))
			tux_backoff_reset(&p->retry);
	}
	if (tux_paths_on(p) && tux_time_since(p->idle_at, now) >=
	    tux_backoff_len(&p->unused, &unused, now))
		paths_give_back(p);
	if (p->nic.state == TUX_NIC_OFF && tux_paths_wanted(p) &&
	    now >= p->retry_at)
		tux_paths_take(p, now);
	probe(p);
}

void tux_paths_udp_used(struct tux_paths *p, unsigned n, tux_time now)
{
	if (tux_time_since(p->stir_at, now) > TUX_MSEC(STIR_MS)) {
		p->stir_at = now;
		p->stirs = 0;
	}
	p->stirs += n;
	if (p->stirs < STIRS)
		return;
	p->idle_at = now;
	if (!p->given_back)
		return;
	p->given_back = false;
	p->tick_at = now;
	tux_paths_plan(p, now);
}

void tux_paths_tick(struct tux_paths *p, tux_time now)
{
	if (now >= p->reroute_at)
		find_routes(p, now);
	if (now >= p->give_way_at)
		tux_paths_give_way(p, now);
	if (now >= p->tick_at) {
		p->tick_at = TUX_NEVER;
		look_after(p, now);
	}
	tux_paths_plan(p, now);
}

/* ---- birth and death ---- */

static int paths_open_all(struct tux_paths *p)
{
	int err = tux_nic_init(&p->nic);

	if (!err)
		err = tux_neigh_open(&p->neigh);
	if (!err)
		err = tux_flows_init(&p->flows, &p->slab.mem);
	if (!err)
		err = paths_watch(p, p->neigh.notify.fd, TUX_PATHS_NEIGH);
	if (!err)
		err = paths_watch(p, p->nic.fd, TUX_PATHS_NIC);
	return err;
}

int tux_paths_init(struct tux_paths *p, int epfd, uint64_t tag,
		   const struct tux_link_opts *o, uint16_t port)
{
	tux_time now = tux_clock_read();
	int err;

	p->epfd = epfd;
	p->tag = tag;
	atomic_store(&p->news, 1);
	p->reroute_at = p->tick_at = p->give_way_at = p->due_at = TUX_NEVER;
	tux_give_way_init(&p->give_way);
	p->nic.fd = p->counters = p->neigh.ask.fd = p->neigh.notify.fd = -1;
	tux_slab_init(&p->slab);
	err = paths_open_all(p);
	if (err) {
		tux_paths_fini(p);
		return err;
	}
	if (o->ifname) {
		strncpy(p->ifname, o->ifname, sizeof(p->ifname) - 1);
		tux_paths_look(p);
	}
	p->always = o->attach_start && o->ifname;
	p->yields = o->yields && !p->always;
	p->mixed = o->mixed;
	p->port = port;
	p->said = o->said;
	if (p->yields)
		p->counters = tux_counters_open();
	p->nic.zerocopy = o->zerocopy;
	if (p->always)
		tux_paths_take(p, now);
	tux_paths_plan(p, now);
	return 0;
}

void tux_paths_fini(struct tux_paths *p)
{
	tux_nic_fini(&p->nic);
	tux_neigh_close(&p->neigh);
	tux_fd_close(p->counters);
	tux_flows_fini(&p->flows);
	tux_slab_fini(&p->slab);
}

void tux_paths_forked(struct tux_paths *p)
{
	tux_nic_forked(&p->nic);
	tux_fd_close(p->counters);
	tux_fd_close(p->neigh.ask.fd);
	tux_fd_close(p->neigh.notify.fd);
}
