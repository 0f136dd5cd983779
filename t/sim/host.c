/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a host does for its core; how hosts come and go.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

/* ---- effects: carried out at once ---- */

/* What duplicating the descriptor comes to. */
static int own(struct sim_end *e)
{
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

static void owned(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_end *e = arg;

	(void)n, (void)m;
	if (!e->owing)
		return;
	e->owing = false;
	tux_conn_owned(e->c, own(e), s->now);
	sim_look(e, true);
	sim_host_effects(e->host);
	sim_host_turn(e->host);
}

static void begin_own(struct sim_end *e)
{
	struct sim *s = e->conn->s;

	if (!s->own) {
		tux_conn_owned(e->c, own(e), s->now);
		return;
	}
	e->owing = true;
	sim_at(s, s->now + sim_below(s, s->own + 1), owned, e, 0, 0);
}

static void carry_out(struct sim_end *e, uint32_t effects)
{
	if (effects & TUX_EFFECT_OWN)
		begin_own(e);
	if (effects & TUX_EFFECT_READY)
		(e->host->ready ? e->host->ready : sim_app_wake)(e);
	if (effects & TUX_EFFECT_TCP)
		e->tcp_work = true;
	if (effects & TUX_EFFECT_SHUT)
		sim_tcp_shut(e);
	if (effects & TUX_EFFECT_GONE) {
		e->gone = true;
		e->gone_reset = effects & TUX_EFFECT_RESET;
	}
}

void sim_host_effects(struct sim_host *h)
{
	struct tux_conn *c;
	uint32_t effects;

	while ((c = tux_core_effects(h->core, &effects)) != NULL)
		carry_out(tux_conn_user(c), effects);
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
		.seed = { sim_rand(h->s), sim_rand(h->s) },
		.port = (uint16_t)(7000 + (h->number ? h->place : h->i)),
		.number = h->number,
		.ack_delay = TUX_MSEC(1),
		.cc = h->s->cc,
		.trace = h->s->mute && !h->s->seen ? NULL : on_trace,
	};

	memcpy(h->addr.ip, h->s->v6 ? net6 : net4, sizeof(h->addr.ip));
	h->addr.ip[15] = (uint8_t)(1 + h->place);
	h->addr.port = o.port;
	h->timer_at = TUX_NEVER;
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
	e->owing = false;
	tux_conn_close(e->c, e->conn->s->now);
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

void sim_stall(struct sim_end *e)
{
	tux_conn_stall(e->c, e->conn->s->now);
	sim_host_effects(e->host);
}

void sim_unstall(struct sim_end *e)
{
	tux_conn_unstall(e->c, e->conn->s->now);
	sim_host_effects(e->host);
}

void sim_bar(struct sim_end *e, bool barred)
{
	tux_conn_bar(e->c, barred);
	if (barred)
		sim_stall(e);
	else
		sim_unstall(e);
	sim_host_turn(e->host);
}

/* The port that the peer's handshake has named; 0: none. */
static uint16_t announced(const struct sim_end *e)
{
	if (e->plan.peer_port || !e->conn->s->announced)
		return e->plan.peer_port;
	return e->peer->host->addr.port;
}

int sim_host_open(struct sim_end *e)
{
	struct sim_conn *k = e->conn;
	struct tux_conn_opts o = {
		.tuple = k->tuple, .active = e->side == 0, .key = k->key,
		.user = e, .mtu = k->mtu, .peer_port = announced(e),
		.dx = e->dx, .box = e->box,
		.mode = e->plan.choose ? TUX_PATH_MODE_AUTO :
					 TUX_PATH_MODE_TUX,
	};
	int err;

	if (e->plan.starve)
		k->s->alloc_fail_at = k->s->alloc_n + e->plan.starve;
	err = tux_core_open(e->host->core, &o, &e->c, k->s->now);
	sim_host_effects(e->host);
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
	e->dx->tx.segment = k->tcp.mss;
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
