/* SPDX-License-Identifier: BSD-2-Clause */
#include "twin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPENING_MS = 1000, STEP_US = 100 };

/* ---- effects ---- */

/* TCP and descriptors are arrays here, and nobody waits. */
static void carry_out(struct twin *t, unsigned side)
{
	struct tux_conn *c;
	uint32_t effects;

	while ((c = tux_core_effects(t->core[side], &effects)) != NULL) {
		struct twin_end *e = tux_conn_user(c);

		if (effects & TUX_EFFECT_OWN)
			tux_conn_owned(c, 0, t->now);
		if (effects & TUX_EFFECT_TCP)
			e->tcp_work = true;
	}
}

/* ---- TCP: a few bytes, until the connection has moved ---- */

static ssize_t tcp_send(void *arg, const struct iovec *iov, int n)
{
	struct twin_end *to = ((struct twin_end *)arg)->peer;
	size_t before = to->tcp_len;
	int i;

	for (i = 0; i < n; i++) {
		size_t room = sizeof(to->tcp) - to->tcp_len;
		size_t len = iov[i].iov_len < room ? iov[i].iov_len : room;

		memcpy(to->tcp + to->tcp_len, iov[i].iov_base, len);
		to->tcp_len += len;
	}
	to->tcp_work = true;
	return to->tcp_len > before ? (ssize_t)(to->tcp_len - before) : -EAGAIN;
}

static ssize_t tcp_recv(void *arg, const struct iovec *iov, int n, bool peek)
{
	struct twin_end *e = arg;
	size_t at = 0;
	int i;

	for (i = 0; i < n; i++) {
		size_t left = e->tcp_len - at;
		size_t len = iov[i].iov_len < left ? iov[i].iov_len : left;

		memcpy(iov[i].iov_base, e->tcp + at, len);
		at += len;
	}
	if (!peek) {
		e->tcp_len -= at;
		memmove(e->tcp, e->tcp + at, e->tcp_len);
	}
	return at ? (ssize_t)at : -EAGAIN;
}

static void serve_tcp(struct twin *t, struct twin_end *e)
{
	uint8_t buf[sizeof(e->tcp)];
	struct iovec v = { buf, 0 };
	ssize_t k;

	e->tcp_work = false;
	v.iov_len = tux_conn_tcp_out(e->c, buf, sizeof(buf), t->now);
	if (v.iov_len) {
		k = tcp_send(e, &v, 1);
		tux_conn_tcp_sent(e->c, k > 0 ? (size_t)k : 0, t->now);
	}
	v.iov_len = tux_conn_tcp_want(e->c);
	if (v.iov_len > sizeof(buf))
		v.iov_len = sizeof(buf);
	k = v.iov_len ? tcp_recv(e, &v, 1, false) : -EAGAIN;
	if (k > 0)
		tux_conn_tcp_in(e->c, buf, (size_t)k, t->now);
}

/* ---- birth and end ---- */

static void *get(void *arg, size_t len)
{
	(void)arg;
	return calloc(1, len);
}

static void put(void *arg, void *p)
{
	(void)arg;
	free(p);
}

static int open_core(struct twin *t, unsigned side)
{
	const struct tux_core_opts o = {
		.mem = &t->mem,
		.seed = { 1 + side, 2 },
		.port = (uint16_t)(7000 + side),
		.ack_delay = TUX_MSEC(1),
	};

	return tux_core_new(&t->core[side], &o);
}

static int open_end(struct twin *t, unsigned side, unsigned i, uint32_t cap)
{
	static const uint8_t ip[16] = { [10] = 0xff, 0xff, 10, 0, 0 };
	struct twin_end *e = &t->end[side][i];
	struct tux_conn_opts o = {
		.active = side == 0, .user = e, .mtu = TWIN_MTU,
	};

	e->side = side;
	e->peer = &t->end[!side][i];
	e->dx = calloc(1, tux_duplex_size(cap));
	if (!e->dx)
		return -ENOMEM;
	tux_duplex_init(e->dx, cap);
	o.dx = e->dx;
	memcpy(o.tuple.active.ip, ip, sizeof(ip));
	o.tuple.active.ip[15] = 1;
	o.tuple.active.port = (uint16_t)(40000 + i);
	memcpy(o.tuple.passive.ip, ip, sizeof(ip));
	o.tuple.passive.ip[15] = 2;
	o.tuple.passive.port = 6379;
	return tux_core_open(t->core[side], &o, &e->c, t->now);
}

static int open_all(struct twin *t, unsigned n, uint32_t cap)
{
	unsigned i;
	int err = open_core(t, 0);

	if (!err)
		err = open_core(t, 1);
	for (i = 0; i < n && !err; i++) {
		err = open_end(t, 1, i, cap);
		if (!err)
			err = open_end(t, 0, i, cap);
	}
	return err;
}

static bool moved(const struct twin_end *e)
{
	unsigned both = TUX_RX_ON_RING | TUX_TX_ON_RING;

	return (tux_duplex_poll(e->dx) & both) == both;
}

/* Looks what TCP has brought, as an application does that waits. */
static bool step(struct twin *t, struct twin_end *e)
{
	char c;

	if (e->tcp_work)
		serve_tcp(t, e);
	while (twin_read(t, e, &c, 1) > 0)
		;
	return moved(e);
}

/* A byte each way, and the connections move. */
static int move(struct twin *t)
{
	bool all = false;
	unsigned i;

	for (i = 0; i < 2 * t->n; i++)
		twin_write(t, &t->end[i % 2][i / 2], "x", 1);
	while (!all && t->now < TUX_MSEC(OPENING_MS)) {
		all = true;
		for (i = 0; i < 2 * t->n; i++)
			all &= step(t, &t->end[i % 2][i / 2]);
		for (i = 0; i < 2; i++)
			while (twin_output(t, i))
				twin_input(t, !i);
		twin_pass(t, TUX_USEC(STEP_US));
	}
	return all ? 0 : -ETIMEDOUT;
}

int twin_init(struct twin *t, unsigned n, uint32_t cap)
{
	int err;

	memset(t, 0, sizeof(*t));
	t->mem = (struct tux_mem){ get, put, NULL };
	t->now = 1;
	t->n = n;
	err = open_all(t, n, cap);
	if (!err)
		err = move(t);
	if (err)
		twin_fini(t);
	return err;
}

void twin_fini(struct twin *t)
{
	unsigned i;

	for (i = 0; i < 2 * t->n; i++) {
		struct twin_end *e = &t->end[i % 2][i / 2];

		if (e->c)
			tux_conn_close(e->c, t->now);
		free(e->dx);
	}
	tux_core_free(t->core[0]);
	tux_core_free(t->core[1]);
}

/* ---- the application ---- */

static void ring(struct twin *t, struct twin_end *e)
{
	uint32_t bits;

	if (!atomic_load_explicit(&e->dx->rung, memory_order_relaxed))
		return;
	bits = atomic_exchange(&e->dx->rung, 0);
	tux_conn_rung(e->c, bits & ~(uint32_t)TUX_DOORBELL_QUEUED, t->now);
}

ssize_t twin_write(struct twin *t, struct twin_end *e, const void *p,
		   size_t len)
{
	const struct tux_tcp tcp = { tcp_send, tcp_recv, e };
	const struct iovec v = { (void *)(uintptr_t)p, len };
	ssize_t k = tux_duplex_write(e->dx, &v, 1, &tcp);

	ring(t, e);
	return k;
}

ssize_t twin_read(struct twin *t, struct twin_end *e, void *p, size_t len)
{
	const struct tux_tcp tcp = { tcp_send, tcp_recv, e };
	const struct iovec v = { p, len };
	ssize_t k = tux_duplex_read(e->dx, &v, 1, false, &tcp);

	ring(t, e);
	return k;
}

/* ---- the network ---- */

unsigned twin_output(struct twin *t, unsigned i)
{
	struct tux_out o;
	unsigned n = 0;

	carry_out(t, i);		/* as a loop does, once a turn */
	while (n < TWIN_BATCH && tux_core_lead(t->core[i], &o)) {
		struct twin_dgram *d = &t->wire[i][n];

		d->len = tux_core_output(t->core[i], d->p, sizeof(d->p), &o,
					 t->now);
		d->from = o.from;
		d->ecn = o.ecn;
		n += !!d->len;
	}
	t->wire_n[i] = n;
	return n;
}

void twin_input(struct twin *t, unsigned i)
{
	const struct twin_dgram *d = t->wire[!i];
	unsigned k;

	for (k = 0; k < t->wire_n[!i]; k++)
		tux_core_input(t->core[i], &d[k].from, d[k].p, d[k].len,
			       d[k].ecn, t->now);
	t->wire_n[!i] = 0;
}

void twin_pass(struct twin *t, tux_time by)
{
	unsigned i;

	t->now += by;
	for (i = 0; i < 2; i++)
		tux_core_expire(t->core[i], t->now);
}
