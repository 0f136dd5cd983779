/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fault - what goes wrong in the network, with hosts and in programs
 */
#include "fault.h"

#include "forge.h"
#include "life.h"
#include "seen.h"

static const char *const name[SIM_FAULTS] = {
#define X(fault, name) [SIM_##fault] = name,
	SIM_FAULT_LIST(X)
#undef X
};

const char *sim_fault_name(uint64_t what)
{
	return what < SIM_FAULTS ? name[what] : "none";
}

uint64_t sim_fault_named(const char *word)
{
	uint64_t i = 0;

	while (i < SIM_FAULTS && strcmp(name[i], word) != 0)
		i++;
	return i;
}

/* ---- links: @on, or as it was before ---- */

static bool set_link(struct sim_life *life, struct sim_end *e,
		     const uint64_t *v, bool on)
{
	struct sim *s = life->s;
	struct sim_link *there = sim_link(e->host, e->peer->host);
	struct sim_link *back = sim_link(e->peer->host, e->host);
	uint64_t n = v[SIM_FAULT_TIMES];

	switch (v[SIM_FAULT_WHAT]) {
	case SIM_PART:
		sim_part(s, e->host->i, e->peer->host->i, on);
		return true;
	case SIM_ONE_WAY:
		there->down = on;
		return true;
	case SIM_SPIKE:
		there->delay += on ? n : -n;
		return true;
	case SIM_NARROW:
		there->mtu = on ? (uint32_t)n : 0;
		return true;
	case SIM_HOLE:
		there->hole = on;
		return true;
	case SIM_LOSE:
		if (on)
			sim_drop(there, 1u << n % 12, 0, 3);
		return true;
	case SIM_VERSION:
		life->other_version[e->host->i] = on;
		return true;
	case SIM_TCP_DOWN:
		sim_tcp_down(e->conn, on);
		return true;
	case SIM_OWN_MTU:
		e->conn->mtu = (uint32_t)(n > 600 ? n : 600);
		if (e->c)
			tux_conn_set_mtu(e->c, e->conn->mtu, s->now);
		back->mtu = there->mtu = on ? e->conn->mtu : 0;
		return true;
	default:
		return false;
	}
}

/* ---- hosts ---- */

static bool set_host(struct sim_life *life, struct sim_end *e,
		     const uint64_t *v, bool on)
{
	struct sim *s = life->s;

	switch (v[SIM_FAULT_WHAT]) {
	case SIM_STOP:
		if (on)
			sim_stop(e->host, v[SIM_FAULT_FOR]);
		return true;
	case SIM_KILL:
		if (on)
			sim_kill(e->host);
		return true;
	case SIM_RESTART:
		if (on)
			sim_kill(e->host);
		else if (e->host->dead)
			sim_restart(e->host);
		return true;
	case SIM_NO_MEMORY:
		s->alloc_loss = on ? (uint32_t)v[SIM_FAULT_TIMES] : 0;
		return true;
	case SIM_NO_MEMORY_OPEN:
		e->plan.starve = (unsigned)v[SIM_FAULT_TIMES];
		return true;
	default:
		return false;
	}
}

/* ---- programs ---- */

static void pin(struct sim_end *e)
{
	if (e->dx && !e->held && !e->closed)
		sim_pin(e);
}

static bool set_program(struct sim_end *e, const uint64_t *v, bool on)
{
	switch (v[SIM_FAULT_WHAT]) {
	case SIM_PAUSE:
		sim_pause(e, on);
		return true;
	case SIM_CLOSE:
		if (on && e->begun)
			sim_close(e);
		return true;
	case SIM_ABORT:
		if (on && e->begun)
			sim_abort(e);
		return true;
	case SIM_RAW:
		if (on && e->c && !e->closed)
			sim_raw(e);
		return true;
	case SIM_SHARE:
		if (on && e->c && !e->closed)
			sim_share(e);
		else if (e->c && !e->closed)
			sim_alone(e);
		return true;
	case SIM_PIN:
		if (on)
			pin(e);
		return true;
	case SIM_BAR:
		if (e->c && e->host->stopped <= e->conn->s->now)
			sim_bar(e, on);
		return true;
	default:
		return false;
	}
}

/* ---- what comes again and again, until n are over ---- */

static void foul(struct sim_life *life, struct sim_end *e, uint64_t what,
		 uint64_t n)
{
	if (what == SIM_FOUL_PACKET)
		life->foul_packets = (uint32_t)n;
	else if (what == SIM_FOUL_HELLO)
		life->foul_hellos = (uint32_t)n;
	e->conn->foul = true;
}

static void one(struct sim_life *life, struct sim_end *e, uint64_t what,
		uint64_t i)
{
	bool path = what == SIM_STALL || what == SIM_UNSTALL ||
		    what == SIM_FLAP;

	if (!path) {
		sim_attack(life, e, (enum sim_fault)what);
		return;
	}
	if (!e->c)
		return;
	if (what == SIM_STALL || (what == SIM_FLAP && i % 2))
		sim_stall(e);
	else
		sim_unstall(e);
	sim_host_turn(e->host);
}

/* Number @i of the fault at item @n, and then the next. */
static void strike(struct sim *s, void *arg, uint64_t n, uint64_t i)
{
	struct sim_life *life = arg;
	const uint64_t *v = life->w->item[n].v;
	struct sim_end *e = sim_life_end(life, &life->w->item[n],
					 SIM_FAULT_CONN, SIM_FAULT_SIDE);

	if (!i || !e)
		return;
	if (v[SIM_FAULT_WHAT] != SIM_FOUL_FRAME)
		sim_seen_fault(s, v[SIM_FAULT_WHAT]);
	if (!e->host->dead && e->host->stopped <= s->now)
		one(life, e, v[SIM_FAULT_WHAT], i);
	if (i > 1)
		sim_at(s, s->now + v[SIM_FAULT_FOR] / v[SIM_FAULT_TIMES],
		       strike, life, n, i - 1);
}

/* ---- when ---- */

/* Both leave a connection that is foul, however far it has come. */
static void part_ways(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_end *e = arg;

	(void)n, (void)m;
	if (e->host->dead || e->closed)
		return;
	if (e->begun)
		sim_abort(e);
	else
		sim_at(s, s->now + TUX_MSEC(20), part_ways, e, 0, 0);
}

static void set(struct sim *s, void *arg, uint64_t n, uint64_t on)
{
	struct sim_life *life = arg;
	const struct sim_item *it = &life->w->item[n];
	const uint64_t *v = it->v;
	struct sim_end *e = sim_life_end(life, it, SIM_FAULT_CONN,
					 SIM_FAULT_SIDE);
	uint64_t what = v[SIM_FAULT_WHAT];

	if (!e)
		return;
	if (sim_fault_is_foul(what)) {
		foul(life, e, what, on ? v[SIM_FAULT_TIMES] : 0);
		if (!on) {
			part_ways(s, e, 0, 0);
			part_ways(s, e->peer, 0, 0);
		}
	}
	if (set_link(life, e, v, on) || set_host(life, e, v, on) ||
	    (!e->host->dead && set_program(e, v, on))) {
		if (on)
			sim_seen_fault(s, what);
	} else if (on) {
		strike(s, life, n, v[SIM_FAULT_TIMES]);
	}
}

void sim_fault_plan(struct sim_life *life, unsigned i)
{
	const uint64_t *v = life->w->item[i].v;
	tux_time end = v[SIM_FAULT_AT] + v[SIM_FAULT_FOR];

	sim_at(life->s, v[SIM_FAULT_AT], set, life, i, true);
	sim_at(life->s, end, set, life, i, false);
}
