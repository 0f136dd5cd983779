/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host - a core and what drives it, as lib/io/loop.c does
 *
 * One turn takes in what has come, lets timers pass, moves bytes between TCP
 * and the core, and sends until the core has no more.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

enum {
	TURNS = 1000000,	/* at one instant: more is a loop */
	IDLE = 1000,		/* timers in a row that nothing comes of */
};

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
	sim_trace_event(user, t);
}

/* ---- birth and end ---- */

void sim_host_init(struct sim_host *h)
{
	static const uint8_t ip[16] = { [10] = 0xff, 0xff, 10, 0, 0, 0 };
	struct tux_core_opts o = {
		.mem = &h->s->mem,
		.events = &h->events,
		.arg = h,
		.seed = { sim_rand(h->s), sim_rand(h->s) },
		.port = (uint16_t)(7000 + h->i),
		.ack_delay = TUX_MSEC(1),
	};

	memcpy(h->addr.ip, ip, sizeof(ip));
	h->addr.ip[15] = (uint8_t)(1 + h->i);
	h->addr.port = o.port;
	h->timer_at = TUX_NEVER;
	h->events = (struct tux_core_events){
		.ready = on_ready, .own = on_own, .tcp = on_tcp,
		.tcp_shut = on_tcp_shut, .gone = on_gone,
		.trace = h->s->mute ? NULL : on_trace,
	};
	if (tux_core_new(&h->core, &o))
		sim_fail(h->s, "no core");
}

static void forget(struct sim_end *e)
{
	e->reason = tux_conn_reason(e->c);
	e->on_tux = tux_conn_tx_on_tux(e->c) || tux_conn_rx_on_tux(e->c);
	/* Whoever is not on Tux can say why. */
	if (!e->host->dead && e->gone && !e->on_tux &&
	    e->reason == TUX_REASON_NONE)
		sim_fail(e->conn->s, "%c: on TCP, and no reason",
			 e->host->name);
	e->stats = *tux_conn_stats(e->c);
	tux_conn_close(e->c);
	e->c = NULL;
}

static void forget_all(struct sim_host *h)
{
	unsigned i;

	for (i = 0; i < 2 * h->s->conn_n; i++) {
		struct sim_end *e = &h->s->conn[i / 2]->end[i % 2];

		if (e->host == h && e->c)
			forget(e);
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
	unsigned i;

	if (h->dead)
		return;
	h->dead = true;
	sim_note(h->s, "%c killed", h->name);
	sim_host_fini(h);
	for (i = 0; i < 2 * h->s->conn_n; i++) {
		struct sim_end *e = &h->s->conn[i / 2]->end[i % 2];

		if (e->host != h)
			continue;
		while (e->sock.refs)
			sim_tcp_put(e, false);
	}
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

void sim_host_claim(struct sim_end *e)
{
	struct sim_conn *k = e->conn;
	struct tux_conn_opts o = {
		.tuple = k->tuple, .active = e->side == 0, .key = k->key,
		.user = e, .mtu = k->mtu,
	};

	e->dx = calloc(1, tux_duplex_size(k->ring));
	tux_duplex_init(e->dx, k->ring);
	o.dx = e->dx;
	if (tux_core_open(e->host->core, &o, &e->c, k->s->now)) {
		e->c = NULL;
		e->reason = TUX_REASON_NO_MEMORY;
		free(e->dx);
		e->dx = NULL;
		return;
	}
	sim_host_turn(e->host);
}

/* ---- TCP, for switched directions ---- */

static void tcp_end(struct sim_end *e, int err)
{
	e->tcp_ended = true;
	e->tcp_broken = err != 0;
	tux_conn_tcp_end(e->c, err, e->conn->s->now);
}

static bool read_tcp(struct sim_end *e)
{
	uint8_t buf[4096];
	struct iovec v = { buf, sizeof(buf) };
	size_t want = tux_conn_tcp_want(e->c);
	ssize_t k;

	if (!want || e->tcp_ended)
		return false;
	if (want < v.iov_len)
		v.iov_len = want;
	k = sim_tcp_recv(e, &v, 1, false);
	if (k == -EAGAIN)
		return false;
	if (k > 0)
		tux_conn_tcp_in(e->c, buf, (size_t)k, e->conn->s->now);
	else
		tcp_end(e, (int)-k);
	return true;
}

/* A write that fails says that TCP is broken; when the loop reads it, what is
 * still in it comes first, and reading tells. */
static bool write_tcp(struct sim_end *e)
{
	uint8_t buf[4096];
	struct iovec v = { buf, 0 };
	ssize_t k;

	if (e->tcp_broken)
		return false;
	v.iov_len = tux_conn_tcp_out(e->c, buf, sizeof(buf),
				    e->conn->s->now);
	if (!v.iov_len)
		return false;
	k = sim_tcp_send(e, &v, 1);
	tux_conn_tcp_sent(e->c, k > 0 ? (size_t)k : 0, e->conn->s->now);
	if (k < 0 && k != -EAGAIN && !tux_conn_tcp_want(e->c))
		tcp_end(e, (int)-k);
	return k > 0;
}

static void serve_tcp(struct sim_end *e)
{
	e->tcp_work = false;
	if (!e->owned)
		return;
	while (e->c && !e->gone && (read_tcp(e) | write_tcp(e)))
		;
	/* Behind its end, a reset: epoll tells without being asked. */
	if (e->tcp_ended && !e->tcp_broken && e->sock.dead && !e->gone)
		tcp_end(e, ECONNRESET);
}

void sim_host_tcp(struct sim_end *e)
{
	if (e->host->dead || !e->c)
		return;
	e->tcp_work = true;
	e->host->idle = 0;
	sim_host_turn(e->host);
}

/* ---- a turn ---- */

static void bury(struct sim_end *e)
{
	forget(e);
	e->gone = false;
	if (e->owned) {
		e->owned = false;
		sim_tcp_put(e, e->gone_reset);
	}
}

static void note_path(struct sim_end *e)
{
	unsigned can = tux_duplex_poll(e->dx);

	e->was_tx |= !!(can & TUX_TX_ON_RING);
	e->was_rx |= !!(can & TUX_RX_ON_RING);
}

static void serve(struct sim_host *h)
{
	unsigned i;

	for (i = 0; i < 2 * h->s->conn_n; i++) {
		struct sim_end *e = &h->s->conn[i / 2]->end[i % 2];

		if (e->host != h || !e->c)
			continue;
		note_path(e);
		if (e->tcp_work)
			serve_tcp(e);
		if (e->gone)
			bury(e);
	}
}

static void send_all(struct sim_host *h)
{
	uint8_t buf[SIM_DGRAM];
	struct tux_addr to, from;
	unsigned n = 0;
	size_t len;

	while ((len = tux_core_output(h->core, buf, sizeof(buf), &to, &from,
				      h->s->now))) {
		h->idle = 0;
		sim_net_send(h, &to, &from, buf, len);
		if (++n > TURNS) {
			sim_fail(h->s, "%c sends without end", h->name);
			return;
		}
	}
}

static void timer(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_host *h = arg;

	(void)n, (void)m;
	if (h->dead || h->timer_at > s->now)
		return;
	h->timer_at = TUX_NEVER;
	if (h->stopped <= s->now && ++h->idle > IDLE)
		sim_fail(s, "%c: a timer spins", h->name);
	sim_host_turn(h);
}

static void set_timer(struct sim_host *h)
{
	tux_time at = tux_core_deadline(h->core);

	if (at < h->s->now)
		at = h->s->now;
	if (at >= h->timer_at)
		return;
	h->timer_at = at;
	sim_at(h->s, at, timer, h, 0, 0);
}

void sim_host_turn(struct sim_host *h)
{
	struct sim *s = h->s;

	if (h->dead || s->failed || h->stopped > s->now)
		return;
	if (h->turn_at != s->now)
		h->turns = 0;
	h->turn_at = s->now;
	if (++h->turns > TURNS) {
		sim_fail(s, "%c turns without end", h->name);
		return;
	}
	if (tux_core_deadline(h->core) <= s->now)
		tux_core_expire(h->core, s->now);
	serve(h);
	send_all(h);
	serve(h);
	set_timer(h);
}

/* ---- what comes in ---- */

static void bell(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_end *e = arg;
	uint32_t bits;

	(void)n, (void)m;
	if (e->host->dead || !e->c)
		return;
	if (e->host->stopped > s->now) {
		sim_at(s, e->host->stopped, bell, e, 0, 0);
		return;
	}
	bits = atomic_exchange(&e->dx->rung, 0) & ~TUX_RING_QUEUED;
	e->host->idle = 0;
	if (bits)
		tux_conn_rung(e->c, bits, s->now);
	sim_host_turn(e->host);
}

void sim_host_bell(struct sim_end *e)
{
	struct sim *s = e->conn->s;

	if (atomic_load(&e->dx->rung) && tux_duplex_rings(e->dx, 0))
		sim_at(s, s->now + sim_below(s, e->host->wake + 1), bell, e,
		       0, 0);
}

void sim_host_input(struct sim_host *h, const struct tux_addr *from,
		    const uint8_t *p, size_t len)
{
	if (h->dead)
		return;
	h->idle = 0;
	tux_core_input(h->core, from, p, len, h->s->now);
	sim_host_turn(h);
}
