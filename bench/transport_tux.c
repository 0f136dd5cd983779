/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tux - connections are the library's, their bytes in messages or in streams
 *
 * A message is one question or one answer.  Callbacks only take note of what
 * has come; nothing here is worth preempting.
 */
#include "transport.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "sys/clock.h"
#include "tux.h"

enum { IN_CAP = 1 << 17, DIAL_S = 10 };

struct peer {
	struct tux_connection *c;	/* NULL: it is gone */
	struct via *v;
	void *user;
	uint8_t *in;			/* messages: what has come, in a row */
	size_t at, end, cap;
	bool open, listed;
	int err;
};

struct via {				/* the transport */
	struct transport t;
	struct transport_opts o;
	bool messages;
	int flags;			/* of each message */
	struct tux *tux;
	struct tux_service *service;
	struct peer **peer;		/* by handle */
	int peer_n;
	struct peer *ready[TRANSPORT_READY];
	int ready_n;
};

static struct via *via_of(struct transport *t)
{
	return (struct via *)(void *)t;
}

/* ---- what has happened --------------------------------------------------- */

/* Those for whom there is no place are named by a later wait(). */
static void list(struct peer *p)
{
	struct via *v = p->v;

	if (p->listed || v->ready_n == TRANSPORT_READY) {
		if (p->c && !p->listed)
			tux_again(p->c);
		return;
	}
	p->listed = true;
	v->ready[v->ready_n++] = p;
}

static void on_open(struct tux_connection *c, void *arg)
{
	struct peer *p = tux_user(c);

	(void)arg;
	p->open = true;
}

static void on_some(struct tux_connection *c, void *arg)
{
	(void)arg;
	list(tux_user(c));
}

static void on_gone(struct tux_connection *c, int err, void *arg)
{
	struct peer *p = tux_user(c);

	(void)arg;
	p->c = NULL;
	p->err = err ? -err : -ECONNRESET;
	list(p);
}

static bool grow(struct peer *p, size_t n)
{
	uint8_t *more;

	if (p->at) {
		memmove(p->in, p->in + p->at, p->end - p->at);
		p->end -= p->at;
		p->at = 0;
	}
	if (p->cap - p->end >= n)
		return true;
	more = realloc(p->in, 2 * (p->cap + n));
	if (!more)
		return false;
	p->in = more;
	p->cap = 2 * (p->cap + n);
	return true;
}

static void on_message(struct tux_connection *c, struct tux_message *m,
		       unsigned n, void *arg)
{
	struct peer *p = tux_user(c);

	(void)arg;
	for (; n; n--, m++) {
		if (p->cap - p->end < m->len && !grow(p, m->len)) {
			tux_abort(c);
			return;
		}
		memcpy(p->in + p->end, m->p, m->len);
		p->end += m->len;
	}
	list(p);
}

/* ---- open and close ------------------------------------------------------ */

static void via_close(struct transport *t)
{
	struct via *v = via_of(t);

	tux_close(v->tux);
	while (v->peer_n--) {
		free(v->peer[v->peer_n]->in);
		free(v->peer[v->peer_n]);
	}
	free(v->peer);
	free(v);
}

static int start(struct via *v)
{
	struct tux_opts o = {
		.size = sizeof(o), .slice_ns = TUX_NO_SLICE,
		.ifname = v->o.interface,
		.backend = v->o.udp ? TUX_BACKEND_UDP : TUX_BACKEND_XDP,
		.message_max = v->o.record, .spin = v->o.spin,
		.path = TUX_USE_TUX,
	};
	int err = tux_open(&v->tux, &o);

	if (!err)
		err = tux_service_new(v->tux, &v->service);
	if (err)
		return err;
	tux_on_open(v->service, on_open, NULL);
	tux_on_room(v->service, on_some, NULL);
	tux_on_stream(v->service, on_some, NULL);
	if (v->messages)
		tux_on_message(v->service, on_message, NULL);
	tux_on_gone(v->service, on_gone, NULL);
	return 0;
}

static int open_any(struct transport **tp, const struct transport_opts *o,
		    const struct transport_ops *ops, bool messages, int flags)
{
	struct via *v = calloc(1, sizeof(*v));
	int err;

	if (!v)
		return -ENOMEM;
	v->t.ops = ops;
	v->o = *o;
	v->messages = messages;
	v->flags = flags;
	err = start(v);
	if (err) {
		via_close(&v->t);
		return err;
	}
	*tp = &v->t;
	return 0;
}

static int open_messages(struct transport **tp, const struct transport_opts *o)
{
	return open_any(tp, o, &transport_messages, true, 0);
}

static int open_ordered(struct transport **tp, const struct transport_opts *o)
{
	return open_any(tp, o, &transport_ordered, true, TUX_ORDERED);
}

static int open_stream(struct transport **tp, const struct transport_opts *o)
{
	return open_any(tp, o, &transport_stream, false, 0);
}

/* ---- turns --------------------------------------------------------------- */

static int take(struct via *v, void **ready)
{
	int i, n = v->ready_n;

	for (i = 0; i < n; i++) {
		v->ready[i]->listed = false;
		ready[i] = v->ready[i]->user;
	}
	v->ready_n = 0;
	return n;
}

static int via_wait(struct transport *t, tux_time until, void **ready)
{
	struct via *v = via_of(t);
	struct pollfd p = { tux_fd(v->tux), POLLIN, 0 };
	struct timespec ts;
	tux_time now;

	for (;;) {
		int n = tux_turn(v->tux);

		if (n < 0)
			return 0;
		if (v->ready_n || v->o.spin)
			return take(v, ready);
		now = tux_clock_read();
		if (now >= until)
			return 0;
		if (!n)
			ppoll(&p, 1, tux_clock_until(&ts, until, now), NULL);
	}
}

/* ---- connections --------------------------------------------------------- */

static struct peer *new_peer(struct via *v, void *user)
{
	struct peer *p = calloc(1, sizeof(*p)), **more;

	if (!p)
		return NULL;
	more = realloc(v->peer, (size_t)(v->peer_n + 1) * sizeof(*more));
	if (!more) {
		free(p);
		return NULL;
	}
	v->peer = more;
	v->peer[v->peer_n++] = p;
	p->v = v;
	p->user = user;
	return p;
}

static int via_dial(struct transport *t, void *user)
{
	struct via *v = via_of(t);
	tux_time end = tux_clock_read() + TUX_SEC(DIAL_S);
	struct peer *p = new_peer(v, user);
	int err;

	if (!p)
		return -ENOMEM;
	err = tux_connect(v->service, v->o.host, v->o.port, p, &p->c);
	if (err)
		return err;
	while (!p->open && p->c) {
		if (tux_clock_read() >= end)
			return -ETIMEDOUT;
		tux_turn(v->tux);
	}
	return p->c ? v->peer_n - 1 : p->err;
}

static void via_hang_up(struct transport *t, int h)
{
	struct peer *p = via_of(t)->peer[h];

	if (p->c)
		tux_disconnect(p->c);
	p->user = NULL;
}

/* The length of the message that @buf begins with; 0: @len bytes are not all of
 * it. */
static size_t message_len(const struct via *v, const void *buf, size_t len)
{
	uint32_t n = v->o.record;

	if (v->o.own_len && len >= sizeof(n))
		memcpy(&n, buf, sizeof(n));
	return len < n ? 0 : n;
}

/* Whole messages, one after another. */
static ssize_t messages_send(struct transport *t, int h, const void *buf,
			     size_t len)
{
	struct via *v = via_of(t);
	struct peer *p = v->peer[h];
	const uint8_t *q = buf;
	size_t at = 0, n;
	int err = 0;

	if (!p->c)
		return p->err;
	while (!err && (n = message_len(v, q + at, len - at))) {
		err = tux_send(p->c, q + at, n, v->flags);
		at += err ? 0 : n;
	}
	return at ? (ssize_t)at : err;
}

static ssize_t messages_recv(struct transport *t, int h, void *buf, size_t cap)
{
	struct peer *p = via_of(t)->peer[h];
	size_t n = p->end - p->at;

	if (!n)
		return p->c ? -EAGAIN : p->err;
	if (n > cap)
		n = cap;
	memcpy(buf, p->in + p->at, n);
	p->at += n;
	if (p->at == p->end)
		p->at = p->end = 0;
	else
		list(p);
	return (ssize_t)n;
}

static ssize_t stream_send(struct transport *t, int h, const void *buf,
			   size_t len)
{
	struct peer *p = via_of(t)->peer[h];

	return p->c ? tux_write(p->c, buf, len) : p->err;
}

/* What does not fit is there still. */
static ssize_t stream_recv(struct transport *t, int h, void *buf, size_t cap)
{
	struct peer *p = via_of(t)->peer[h];
	ssize_t n = p->c ? tux_read(p->c, buf, cap) : p->err;

	if (n == (ssize_t)cap)
		list(p);
	return n;
}

static uint32_t via_moved(struct transport *t)
{
	struct tux_connection_stats st;
	struct via *v = via_of(t);
	uint32_t n = 0;
	int i;

	for (i = 0; i < v->peer_n; i++)
		n += v->peer[i]->c &&
		     !tux_connection_stats(v->peer[i]->c, &st, sizeof(st)) &&
		     st.tx_on_tux && st.rx_on_tux;
	return n;
}

#define OPS(word, any, how)						\
	{								\
		.name = #word, .unordered = any, .open = open_##word,	\
		.close = via_close, .dial = via_dial,			\
		.hang_up = via_hang_up, .send = how##_send,		\
		.recv = how##_recv, .wait = via_wait, .moved = via_moved, \
	}

const struct transport_ops transport_messages = OPS(messages, true, messages);
const struct transport_ops transport_ordered = OPS(ordered, false, messages);
const struct transport_ops transport_stream = OPS(stream, false, stream);
