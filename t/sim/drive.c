/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One turn of a loop takes in what has come, lets timers pass, moves bytes
 * between TCP and the core, and sends until the core has no more.
 */
#include <errno.h>

#include "sim.h"

enum {
	TURNS = 1000000,	/* at one instant: more is a loop */
	IDLE = 1000,		/* timers in a row that nothing comes of */
	TOLD = 100,		/* that TCP may have work, by serving it */
};

/* ---- TCP, for switched directions ---- */

static void tcp_end(struct sim_end *e, int err)
{
	e->tcp_ended = true;
	e->tcp_broken = err != 0;
	tux_conn_tcp_end(e->c, err, e->conn->s->now);
	sim_host_effects(e->host);
}

static bool read_tcp(struct sim_end *e)
{
	uint8_t buf[4096];
	struct iovec v = { buf, sizeof(buf) };
	size_t want = tux_conn_tcp_want(e->c);
	ssize_t k;

	if (!want || e->tcp_ended)
		return false;
	sim_look(e, false);
	if (want < v.iov_len)
		v.iov_len = want;
	k = sim_tcp_recv(e, &v, 1, false);
	if (k == -EAGAIN)
		return false;
	if (k > 0) {
		tux_conn_tcp_in(e->c, buf, (size_t)k, e->conn->s->now);
		sim_host_effects(e->host);
	} else {
		tcp_end(e, (int)-k);
	}
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
	if (!v.iov_len) {
		sim_host_effects(e->host);
		return false;
	}
	sim_look(e, false);
	k = sim_tcp_send(e, &v, 1);
	tux_conn_tcp_sent(e->c, k > 0 ? (size_t)k : 0, e->conn->s->now);
	sim_host_effects(e->host);
	e->tcp_full = k < (ssize_t)v.iov_len;
	if (k < 0 && k != -EAGAIN && !tux_conn_tcp_want(e->c))
		tcp_end(e, (int)-k);
	return k > 0;
}

static void serve_tcp(struct sim_end *e)
{
	bool more = true;

	e->tcp_work = e->tcp_full = false;
	if (!e->owned)
		return;
	while (e->c && !e->gone && more) {
		more = read_tcp(e);
		more |= write_tcp(e);
	}
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
	sim_host_forget(e);
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
	struct tux_list *n;
	unsigned i;
	bool more;

	TUX_LIST_EACH(n, &h->ends) {
		struct sim_end *e = TUX_CONTAINER(n, struct sim_end, node);

		if (!e->c)
			continue;
		note_path(e);
		sim_look(e, true);
		more = e->tcp_work;
		for (i = 0; more && i <= TOLD; i++) {
			serve_tcp(e);
			more = e->tcp_work && !e->tcp_full;
		}
		if (more)
			sim_fail(h->s, "%c: TCP without end", h->name);
		if (e->gone)
			bury(e);
	}
}

static void send_all(struct sim_host *h)
{
	uint8_t buf[SIM_DGRAM];
	struct tux_out o;
	unsigned n = 0;
	size_t len;

	while (tux_core_lead(h->core, &o)) {
		len = tux_core_output(h->core, buf, sizeof(buf), &o,
				      h->s->now);
		if (++n > TURNS) {
			sim_fail(h->s, "%c sends without end", h->name);
			return;
		}
		if (!len)
			continue;
		h->idle = 0;
		sim_host_effects(h);
		sim_net_send(h, &o.to, &o.from, buf, len, o.ecn);
	}
	sim_host_effects(h);
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
	sim_host_effects(h);
	if (tux_core_deadline(h->core) <= s->now)
		tux_core_expire(h->core, s->now);
	sim_host_effects(h);
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
	if (e->host->dead || (!e->c && !e->waits))
		return;
	if (e->host->stopped > s->now) {
		sim_at(s, e->host->stopped, bell, e, 0, 0);
		return;
	}
	if (e->waits && !e->closed)
		sim_host_open(e);
	bits = atomic_exchange(&e->dx->rung, 0) & ~TUX_DOORBELL_QUEUED;
	e->host->idle = 0;
	if (bits && e->c)
		tux_conn_rung(e->c, bits, s->now);
	sim_host_effects(e->host);
	sim_look(e, true);
	sim_host_turn(e->host);
}

void sim_host_bell(struct sim_end *e)
{
	struct sim *s = e->conn->s;

	if (atomic_load(&e->dx->rung) && tux_duplex_rings(e->dx, 0))
		sim_at(s, s->now + sim_below(s, e->host->wake + 1), bell, e,
		       0, 0);
}

static void look_all(struct sim_host *h)
{
	struct tux_list *n;

	if (!h->s->seen)
		return;
	TUX_LIST_EACH(n, &h->ends)
		sim_look(TUX_CONTAINER(n, struct sim_end, node), true);
}

void sim_host_input(struct sim_host *h, const struct tux_addr *from,
		    const uint8_t *p, size_t len, uint8_t ecn)
{
	if (h->dead)
		return;
	h->idle = 0;
	tux_core_input(h->core, from, p, len, ecn, h->s->now);
	sim_host_effects(h);
	look_all(h);
	sim_host_turn(h);
}
