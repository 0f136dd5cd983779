/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One end of a connection in memory, with what its loop does.
 */
#include "end.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
	LEADS = 1000,		/* connections in a row that send nothing */
	PIECE = 1024,		/* bytes that the loop writes to TCP at once */
	PIECES = 65536,		/* pieces in one turn: more is without end */
};

/* ---- effects ---- */

static void carry_out(struct duo_end *e, struct tux_conn *c, uint32_t effects)
{
	if (effects & TUX_EFFECT_READY)
		e->ready_n++;
	if (effects & TUX_EFFECT_TCP) {
		e->tcp_n++;
		e->tcp_work = true;
	}
	if (effects & TUX_EFFECT_SHUT) {
		e->shut_n++;
		e->peer->in.eof = true;
	}
	if (effects & TUX_EFFECT_GONE) {
		e->gone_n++;
		e->gone_reset = effects & TUX_EFFECT_RESET;
		assert(e->gone_n == 1 && "a connection goes once");
	}
	if (effects & TUX_EFFECT_OWN) {
		e->own_n++;
		if (!e->own_late)
			tux_conn_owned(c, e->own_err, *e->now);
	}
}

void duo_effects(struct duo_end *e)
{
	struct tux_conn *c;
	uint32_t effects;

	while ((c = tux_core_effects(e->core, &effects)) != NULL)
		carry_out(tux_conn_user(c), c, effects);
}

/* ---- TCP, as a duplex uses it ---- */

size_t duo_tcp_put(struct duo_end *e, const void *p, size_t len)
{
	struct duo_tcp *t = &e->in;

	t->full = len > t->cap - t->len;
	if (t->full)
		len = t->cap - t->len;
	memcpy(t->p + t->len, p, len);
	t->len += len;
	e->tcp_work |= len > 0;
	return len;
}

void duo_tcp_take(struct duo_end *e, size_t n)
{
	struct duo_tcp *t = &e->in;

	t->len -= n;
	memmove(t->p, t->p + n, t->len);
	e->peer->tcp_work |= t->full;
	t->full = false;
}

static ssize_t tcp_send(void *arg, const struct iovec *iov, int n)
{
	struct duo_end *e = arg;
	size_t done = 0, k;
	int i;

	if (e->in.err)
		return -e->in.err;
	for (i = 0; i < n; i++) {
		k = duo_tcp_put(e->peer, iov[i].iov_base, iov[i].iov_len);
		done += k;
		if (k < iov[i].iov_len)
			break;
	}
	return done ? (ssize_t)done : -EAGAIN;
}

static ssize_t tcp_recv(void *arg, const struct iovec *iov, int n, bool peek)
{
	struct duo_end *e = arg;
	const struct duo_tcp *t = &e->in;
	size_t at = 0, k;
	int i;

	for (i = 0; i < n && at < t->len; i++) {
		k = t->len - at;
		k = iov[i].iov_len < k ? iov[i].iov_len : k;
		memcpy(iov[i].iov_base, t->p + at, k);
		at += k;
	}
	if (!at)
		return t->eof ? 0 : t->err ? -t->err : -EAGAIN;
	if (!peek)
		duo_tcp_take(e, at);
	return (ssize_t)at;
}

/* ---- birth ---- */

static struct tux_addr address(unsigned side, uint16_t port)
{
	return (struct tux_addr){
		{ [10] = 0xff, 0xff, 10, 0, 0, (uint8_t)(1 + side) }, port
	};
}

void duo_end_init(struct duo_end *e, unsigned side, struct duo_end *peer,
		  tux_time *now, uint8_t *p, size_t cap)
{
	*e = (struct duo_end){
		.side = side, .peer = peer, .now = now,
		.addr = address(side, (uint16_t)(7000 + side)),
		.tcp = { tcp_send, tcp_recv, e },
		.in = { .p = p, .cap = cap },
	};
}

int duo_end_core(struct duo_end *e, const struct tux_mem *mem,
		 tux_trace_fn *trace, void *trace_arg)
{
	const struct tux_core_opts o = {
		.mem = mem, .trace = trace, .trace_arg = trace_arg,
		.seed = { 1 + e->side, 2 }, .port = e->addr.port,
		.ack_delay = TUX_MSEC(1),
	};

	return tux_core_new(&e->core, &o);
}

int duo_end_open(struct duo_end *e, uint16_t port, uint32_t mtu)
{
	const struct tux_conn_opts o = {
		.tuple = { address(0, port), address(1, 6379) },
		.active = !e->side, .key = { 3, 4 }, .dx = e->dx, .box = e->box,
		.user = e, .mtu = mtu, .peer_port = e->announced,
	};

	return tux_core_open(e->core, &o, &e->c, *e->now);
}

/* ---- datagrams ---- */

size_t duo_datagram(struct duo_end *e, uint8_t *p, size_t cap,
		    struct tux_out *o)
{
	size_t len = 0;
	unsigned n = 0;

	while (!len && tux_core_lead(e->core, o)) {
		len = tux_core_output(e->core, p, cap, o, *e->now);
		n++;
		assert(len <= cap && "a datagram fits");
		assert(n < LEADS && "a connection without packets leads once");
	}
	return len;
}

/* ---- the loop's TCP ---- */

static void tell_end(struct duo_end *e)
{
	if (e->ended || (!e->in.eof && !e->in.err))
		return;
	e->ended = true;
	tux_conn_tcp_end(e->c, e->in.err, *e->now);
	duo_effects(e);
}

static size_t tcp_in(struct duo_end *e, size_t max)
{
	size_t n = tux_conn_tcp_want(e->c);

	if (n && !e->in.len)
		tell_end(e);
	n = n < e->in.len ? n : e->in.len;
	n = n < max ? n : max;
	if (!n)
		return 0;
	tux_conn_tcp_in(e->c, e->in.p, n, *e->now);
	duo_effects(e);
	duo_tcp_take(e, n);
	return n;
}

size_t duo_tcp_out(struct duo_end *e, size_t max)
{
	uint8_t buf[PIECE];
	size_t n = tux_conn_tcp_out(e->c, buf, sizeof(buf), *e->now);

	assert(n <= sizeof(buf) && "a piece fits");
	duo_effects(e);
	if (!n)
		return 0;
	n = duo_tcp_put(e->peer, buf, n < max ? n : max);
	tux_conn_tcp_sent(e->c, n, *e->now);
	duo_effects(e);
	return n;
}

bool duo_serve(struct duo_end *e, size_t max)
{
	unsigned n = 0;
	bool more = true;

	e->tcp_work = false;
	while (more && !e->gone_n) {
		more = tcp_in(e, max) > 0;
		more |= duo_tcp_out(e, max) > 0;
		n += more;
		assert(n < PIECES && "TCP does not move bytes for ever");
	}
	return n > 0;
}

/* ---- the application ---- */

void duo_ring(struct duo_end *e, uint32_t bits)
{
	if (!bits && !atomic_load(&e->dx->rung))
		return;
	bits |= atomic_exchange(&e->dx->rung, 0) & ~TUX_DOORBELL_QUEUED;
	if (bits && e->c)
		tux_conn_rung(e->c, bits, *e->now);
	duo_effects(e);
}

ssize_t duo_write(struct duo_end *e, const void *p, size_t len)
{
	const struct iovec v = { (void *)(uintptr_t)p, len };
	ssize_t k = tux_duplex_write(e->dx, &v, 1, &e->tcp);

	duo_ring(e, 0);
	return k;
}

ssize_t duo_read(struct duo_end *e, void *p, size_t len)
{
	const struct iovec v = { p, len };
	ssize_t k = tux_duplex_read(e->dx, &v, 1, false, &e->tcp);

	duo_ring(e, 0);
	return k;
}
