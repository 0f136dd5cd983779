/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a core tells its host; how hosts come and go.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* ---- events out of the core: a note is taken, no more ---- */

static void on_ready(void *arg, struct tux_conn *c)
{
	(void)arg;
	sim_app_wake(tux_conn_user(c));
}

static int on_own(void *arg, struct tux_conn *c)
{
	struct sim_end *e = tux_conn_user(c);

	(void)arg;
	if (e->owned)
		sim_fail(e->conn->s, "%c owns twice", e->host->name);
	if (e->closed)
		return -EBADF;		/* the application was faster */
	if (e->plan.no_fd)
		return -EMFILE;
	e->owned = true;
	e->sock.refs++;
	return 0;
}

static void on_tcp(void *arg, struct tux_conn *c)
{
	struct sim_end *e = tux_conn_user(c);

	(void)arg;
	e->tcp_work = true;
}

static void on_tcp_shut(void *arg, struct tux_conn *c)
{
	(void)arg;
	sim_tcp_shut(tux_conn_user(c));
}

static void on_gone(void *arg, struct tux_conn *c, bool reset)
{
	struct sim_end *e = tux_conn_user(c);

	(void)arg;
	e->gone = true;
	e->gone_reset = reset;
}

static void on_trace(void *arg, void *user, const struct tux_trace *t)
{
	(void)arg;
	sim_told(user, t);
	sim_trace_event(user, t);
}

/* ---- birth and end ---- */

void sim_host_init(struct sim_host *h)
{
	static const uint8_t net4[16] = { [10] = 0xff, 0xff, 10 };
	static const uint8_t net6[16] = { 0x20, 0x01, 0x0d, 0xb8 };
	uint32_t loss = h->s->alloc_loss;
	struct tux_core_opts o = {
		.mem = &h->s->mem,
		.events = &h->events,
		.arg = h,
		.seed = { sim_rand(h->s), sim_rand(h->s) },
		.port = h->s->tcp_ports ? 0 : (uint16_t)(7000 + h->i),
		.ack_delay = TUX_MSEC(1),
		.cc = h->s->cc,
	};

	memcpy(h->addr.ip, h->s->v6 ? net6 : net4, sizeof(h->addr.ip));
	h->addr.ip[15] = (uint8_t)(1 + h->place);
	h->addr.port = o.port;
	h->timer_at = TUX_NEVER;
	h->events = (struct tux_core_events){
		.ready = on_ready, .own = on_own, .tcp = on_tcp,
		.tcp_shut = on_tcp_shut, .gone = on_gone,
		.trace = h->s->mute && !h->s->seen ? NULL : on_trace,
	};
	h->s->alloc_loss = 0;		/* no core, no story */
	if (tux_core_new(&h->core, &o))
		sim_fail(h->s, "no core");
	h->s->alloc_loss = loss;
}

void sim_host_forget(struct sim_end *e)
{
	e->reason = tux_conn_reason(e->c);
	e->on_tux = tux_conn_tx_on_tux(e->c) || tux_conn_rx_on_tux(e->c);
	/* Whoever is not on Tux can say why. */
	if (!e->host->dead && e->gone && !e->on_tux &&
	    e->reason == TUX_REASON_NONE)
		sim_fail(e->conn->s, "%c: on TCP, and no reason",
			 e->host->name);
	sim_look(e, true);
	e->stats = *tux_conn_stats(e->c);
	sim_told_all(e);
	tux_conn_close(e->c);
	e->c = NULL;
}

static void forget_all(struct sim_host *h)
{
	struct tux_list *n;

	TUX_LIST_EACH(n, &h->ends) {
		struct sim_end *e = TUX_CONTAINER(n, struct sim_end, node);

		if (e->c)
			sim_host_forget(e);
	}
}

void sim_host_fini(struct sim_host *h)
{
	forget_all(h);
	tux_core_free(h->core);
	h->core = NULL;
}

/* kill -9: the kernel closes what the process had open. */
void sim_kill(struct sim_host *h)
{
	struct tux_list *n;

	if (h->dead)
		return;
	h->dead = true;
	sim_note(h->s, "%c killed", h->name);
	sim_host_fini(h);
	TUX_LIST_EACH(n, &h->ends) {
		struct sim_end *e = TUX_CONTAINER(n, struct sim_end, node);

		while (e->sock.refs)
			sim_tcp_put(e, false);
		e->closed = e->aborted = true;
	}
}

void sim_restart(struct sim_host *h)
{
	h->dead = false;
	h->stopped = 0;
	sim_note(h->s, "%c restarted", h->name);
	sim_host_init(h);
}

static void go_on(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	(void)s, (void)n, (void)m;
	sim_host_turn(arg);
}

void sim_stop(struct sim_host *h, tux_time in)
{
	h->stopped = h->s->now + in;
	sim_note(h->s, "%c stopped", h->name);
	sim_at(h->s, h->stopped, go_on, h, 0, 0);
}

int sim_host_open(struct sim_end *e)
{
	struct sim_conn *k = e->conn;
	struct tux_conn_opts o = {
		.tuple = k->tuple, .active = e->side == 0, .key = k->key,
		.user = e, .mtu = k->mtu, .dx = e->dx, .box = e->box,
	};
	int err;

	if (e->plan.starve)
		k->s->alloc_fail_at = k->s->alloc_n + e->plan.starve;
	err = tux_core_open(e->host->core, &o, &e->c, k->s->now);
	if (e->plan.starve)
		k->s->alloc_fail_at = 0;
	e->waits = err == -EEXIST;
	if (err)
		e->c = NULL;
	else if (e->plan.preset)
		e->plan.preset(e);
	return e->waits ? 0 : err;
}

void sim_host_claim(struct sim_end *e)
{
	struct sim_conn *k = e->conn;

	e->dx = calloc(1, tux_duplex_size(k->ring));
	tux_duplex_init(e->dx, k->ring);
	if (k->small && !e->plan.deaf) {
		e->box = calloc(1, tux_msgbox_size(k->small, k->bulk));
		tux_msgbox_init(e->box, k->small, k->bulk);
	}
	if (sim_host_open(e)) {
		e->reason = TUX_REASON_NO_MEMORY;
		free(e->dx);
		e->dx = NULL;
		free(e->box);
		e->box = NULL;
		return;
	}
	sim_host_turn(e->host);
}
