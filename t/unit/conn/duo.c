/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two cores joined by hand.
 */
#include "duo.h"

#include <errno.h>

#include "conn/settle.h"

enum { LEADS = 1000 };	/* none of which can send */

/* ---- effects: they are counted ---- */

static void carry_out(struct duo_end *e, struct tux_conn *c, uint32_t effects)
{
	e->own_n += !!(effects & TUX_EFFECT_OWN);
	e->ready_n += !!(effects & TUX_EFFECT_READY);
	e->tcp_n += !!(effects & TUX_EFFECT_TCP);
	e->shut_n += !!(effects & TUX_EFFECT_SHUT);
	e->gone_n += !!(effects & TUX_EFFECT_GONE);
	if (effects & TUX_EFFECT_GONE)
		e->gone_reset = effects & TUX_EFFECT_RESET;
	if (effects & TUX_EFFECT_OWN && !e->own_late)
		tux_conn_owned(c, e->own_err, e->duo->now);
}

void duo_effects(struct duo_end *e)
{
	struct tux_conn *c;
	uint32_t effects;

	while ((c = tux_core_effects(e->core, &effects)) != NULL)
		carry_out(tux_conn_user(c), c, effects);
}

void duo_derive(struct duo_end *e, uint32_t dirty)
{
	tux_conn_mark(e->c, dirty);
	tux_conn_settle(e->c, e->duo->now);
	duo_effects(e);
}

static void on_trace(void *arg, void *user, const struct tux_trace *t)
{
	struct duo_end *e = user;

	(void)arg;
	e->trace_n[t->what]++;
	e->trace[t->what] = *t;
}

/* ---- TCP, as a duplex uses it ---- */

static ssize_t put(struct duo_stream *s, const void *p, size_t len)
{
	size_t k = len < s->room ? len : s->room;

	if (!k)
		return -EAGAIN;
	assert_true(s->head + k <= sizeof(s->p));
	memcpy(s->p + s->head, p, k);
	s->head += k;
	s->room -= k;
	return (ssize_t)k;
}

static ssize_t tcp_send(void *arg, const struct iovec *iov, int n)
{
	struct duo_end *e = arg;
	ssize_t took = 0, k;
	int i;

	for (i = 0; i < n; i++) {
		k = put(&e->peer->in, iov[i].iov_base, iov[i].iov_len);
		if (k < 0)
			break;
		took += k;
	}
	return took ? took : -EAGAIN;
}

static ssize_t tcp_recv(void *arg, const struct iovec *iov, int n, bool peek)
{
	struct duo_stream *s = &((struct duo_end *)arg)->in;
	size_t len = s->head - s->tail;

	(void)n;
	if (!len)
		return s->err ? -s->err : s->eof ? 0 : -EAGAIN;
	if (len > iov->iov_len)
		len = iov->iov_len;
	memcpy(iov->iov_base, s->p + s->tail, len);
	if (!peek)
		s->tail += len;
	return (ssize_t)len;
}

/* ---- birth ---- */

struct tux_duplex *duo_duplex(void)
{
	struct tux_duplex *dx = calloc(1, tux_duplex_size(DUO_RING));

	tux_duplex_init(dx, DUO_RING);
	return dx;
}

struct tux_msgbox *duo_box(void)
{
	struct tux_msgbox *b = calloc(1, tux_msgbox_size(DUO_SMALL, DUO_BULK));

	tux_msgbox_init(b, DUO_SMALL, DUO_BULK);
	return b;
}

static void init_end(struct duo *d, struct duo_end *e, struct duo_end *peer,
		     uint8_t i)
{
	struct tux_core_opts o = {
		.mem = &d->mem.mem,
		.trace = on_trace,
		.seed = { 1 + i, 2 },
		.port = (uint16_t)(DUO_PORT + i),
		.ack_delay = TUX_MSEC(1),
	};

	e->duo = d;
	e->peer = peer;
	e->addr = (struct tux_addr){
		{ [10] = 0xff, 0xff, 10, 0, 0, (uint8_t)(1 + i) }, o.port
	};
	e->tcp = (struct tux_tcp){ tcp_send, tcp_recv, e };
	e->in.room = sizeof(e->in.p);
	e->dx = duo_duplex();
	assert_int_equal(tux_core_new(&e->core, &o), 0);
}

struct duo *duo_new(void)
{
	struct duo *d = calloc(1, sizeof(*d));

	test_mem_init(&d->mem, -1);
	d->now = TUX_SEC(1);
	init_end(d, &d->a, &d->b, 0);
	init_end(d, &d->b, &d->a, 1);
	return d;
}

int duo_open_more(struct duo_end *e, uint16_t port, struct tux_duplex *dx,
		  struct tux_msgbox *box, struct tux_conn **cp)
{
	struct duo *d = e->duo;
	struct tux_conn_opts o = {
		.tuple = { d->a.addr, d->b.addr },
		.active = e == &d->a,
		.key = { 5, 6 },
		.dx = dx,
		.box = box,
		.user = e,
		.mtu = DUO_MTU,
		.peer_port = e->announced,
	};

	o.tuple.active.port = port;
	o.tuple.passive.port = 6379;
	return tux_core_open(e->core, &o, cp, d->now);
}

int duo_open(struct duo_end *e, bool messages)
{
	if (messages && !e->box)
		e->box = duo_box();
	return duo_open_more(e, 40000, e->dx, e->box, &e->c);
}

static void fini_end(struct duo_end *e)
{
	if (e->c)
		tux_conn_close(e->c, e->duo->now);
	tux_core_free(e->core);
	free(e->dx);
	free(e->box);
}

void duo_free(struct duo *d)
{
	fini_end(&d->a);
	fini_end(&d->b);
	assert_int_equal(d->mem.live, 0);
	free(d);
}

static struct duo *opened(bool messages)
{
	struct duo *d = duo_new();

	assert_int_equal(duo_open(&d->a, messages), 0);
	assert_int_equal(duo_open(&d->b, messages), 0);
	return d;
}

/* All that was counted so far is not what the test is about. */
static struct duo *begin(struct duo *d)
{
	struct duo_end *e;

	for (e = &d->a; e; e = e == &d->a ? &d->b : NULL) {
		e->ready_n = e->own_n = e->tcp_n = e->shut_n = 0;
		memset(e->trace_n, 0, sizeof(e->trace_n));
		memset(&e->c->stats, 0, sizeof(e->c->stats));
		memset(&e->core->stats, 0, sizeof(e->core->stats));
	}
	return d;
}

static struct duo *switched(bool messages)
{
	struct duo *d = opened(messages);
	unsigned both = TUX_TX_ON_RING | TUX_RX_ON_RING;

	duo_settle(d);
	duo_pass(d, TUX_MSEC(2));
	duo_settle(d);
	assert_int_equal(tux_duplex_poll(d->a.dx) & both, both);
	assert_int_equal(tux_duplex_poll(d->b.dx) & both, both);
	return begin(d);
}

int duo_setup(void **state)
{
	*state = opened(false);
	return 0;
}

int duo_setup_open_messages(void **state)
{
	*state = opened(true);
	return 0;
}

static struct duo *proved(bool messages)
{
	struct duo *d = opened(messages);

	/* HELLOs only: no generation is open, none will be for now. */
	d->a.dx->tx.pinned = d->b.dx->tx.pinned = 1;
	duo_settle(d);
	duo_pass(d, TUX_MSEC(2));
	duo_settle(d);
	d->a.dx->tx.pinned = d->b.dx->tx.pinned = 0;
	assert_int_equal(d->a.c->life, TUX_LIFE_PROVED);
	assert_int_equal(d->b.c->life, TUX_LIFE_PROVED);
	return begin(d);
}

int duo_setup_proved(void **state)
{
	*state = proved(false);
	return 0;
}

int duo_setup_plain_messages(void **state)
{
	*state = proved(true);
	return 0;
}

int duo_setup_switched(void **state)
{
	*state = switched(false);
	return 0;
}

int duo_setup_messages(void **state)
{
	*state = switched(true);
	return 0;
}

int duo_teardown(void **state)
{
	duo_free(*state);
	return 0;
}

static void open_other(struct duo_end *e, struct duo_other *o)
{
	o->dx = duo_duplex();
	o->dx->tx.pinned = e->dx->tx.pinned = 1;
	assert_int_equal(duo_open_more(e, 40001, o->dx, NULL, &o->c), 0);
}

void duo_other(struct duo *d, struct duo_other *a, struct duo_other *b)
{
	open_other(&d->a, a);
	open_other(&d->b, b);
	duo_settle_all(d);
	assert_int_equal(a->c->life, TUX_LIFE_PROVED);
	assert_int_equal(b->c->life, TUX_LIFE_PROVED);
}

void duo_other_close(struct duo *d, struct duo_other *a, struct duo_other *b)
{
	tux_conn_close(a->c, d->now);
	tux_conn_close(b->c, d->now);
	free(a->dx);
	free(b->dx);
}

/* ---- datagrams ---- */

static void look(struct duo_pkt *k)
{
	struct tux_reader r;

	k->rec_n = 0;
	assert_int_equal(tux_pkt_decode(&k->h, k->p, k->len), 0);
	tux_reader_init(&r, &k->h, k->p);
	while (k->rec_n < DUO_RECORDS &&
	       tux_reader_next(&r, &k->rec[k->rec_n]) > 0)
		k->rec_n++;
}

size_t duo_out(struct duo_end *e, struct duo_pkt *k)
{
	struct tux_out o;
	unsigned n = 0;

	k->len = 0;
	while (!k->len && tux_core_lead(e->core, &o)) {
		assert_true(++n < LEADS);
		k->len = tux_core_output(e->core, k->p, sizeof(k->p), &o,
					 e->duo->now);
	}
	if (k->len) {
		k->to = o.to;
		k->from = o.from;
		k->ecn = o.ecn;
	}
	duo_effects(e);
	if (k->len)
		look(k);
	return k->len;
}

bool duo_next(struct duo_pkt *k)
{
	k->len -= k->h.len;
	memmove(k->p, k->p + k->h.len, k->len);
	if (k->len)
		look(k);
	return k->len > 0;
}

const struct tux_record *duo_rec(const struct duo_pkt *k, uint8_t type)
{
	unsigned i;

	for (i = 0; i < k->rec_n; i++) {
		if (k->rec[i].type == type)
			return &k->rec[i];
	}
	return NULL;
}

void duo_in(struct duo_end *e, const struct duo_pkt *k)
{
	tux_core_input(e->core, &e->peer->addr, k->p, k->len, k->ecn,
		       e->duo->now);
	duo_effects(e);
}

unsigned duo_carry(struct duo_end *e)
{
	struct duo_pkt k;
	unsigned n = 0;

	for (; duo_out(e, &k); n++)
		duo_in(e->peer, &k);
	return n;
}

unsigned duo_drop(struct duo_end *e)
{
	struct duo_pkt k;
	unsigned n = 0;

	while (duo_out(e, &k))
		n++;
	return n;
}

void duo_narrow(struct tux_conn *c)
{
	c->pair->cc.w.cwnd = 1;
	c->pair->cc.recover_at = 1;
}

void duo_fill(struct duo_end *e, struct tux_conn *other)
{
	assert_ptr_equal(e->c->pair, other->pair);
	tux_conn_do(e->c, TUX_DO_PING);
	assert_int_equal(duo_drop(e), 1);
	/* What a connection may send whatever the others do, it has sent. */
	tux_conn_do(other, TUX_DO_PING);
	assert_int_equal(duo_drop(e), 1);
	duo_narrow(e->c);
	e->c->pair->cc.w.cwnd = e->c->pair->in_flight;
	tux_conn_do(other, TUX_DO_PING);
	assert_int_equal(duo_drop(e), 0);
	assert_false(tux_list_empty(&other->waitq));
}

void duo_forge(struct duo_forge *f, struct duo_end *to)
{
	struct tux_conn *c = to->c;

	f->to = to;
	f->h = (struct tux_pkt){
		.version = TUX_WIRE_VERSION,
		.flags = TUX_PKT_ELICIT,
		.id = c->id,
		.seq = (uint32_t)c->ackq.next,
		.ack = (uint32_t)c->sentq.floor,
		.got = c->tx.path == TUX_PATH_PLAIN ? 0 : c->tx.buf.got,
	};
	tux_writer_init(&f->w, f->p, sizeof(f->p));
}

void duo_forge_skip(struct duo_forge *f, unsigned by)
{
	f->h.seq += by;
	f->h.span = (uint16_t)by;
}

uint8_t *duo_forge_add(struct duo_forge *f, uint8_t type, uint8_t flags,
		       size_t len)
{
	uint8_t *p = tux_writer_add(&f->w, type, flags, len);

	assert_non_null(p);
	memset(p, 0, len);
	return p;
}

bool duo_forge_in(struct duo_forge *f)
{
	const struct tux_conn_stats *s = &f->to->c->stats;
	uint64_t bad = s->dropped + s->duplicates;
	size_t len = tux_writer_end(&f->w, &f->h, &f->to->c->seal);

	tux_core_input(f->to->core, &f->to->peer->addr, f->p, len,
		       TUX_ECN_NONE, f->to->duo->now);
	duo_effects(f->to);
	return s->dropped + s->duplicates == bad;
}

/* ---- applications ---- */

void duo_ring(struct duo_end *e, uint32_t bits)
{
	bits |= atomic_exchange(&e->dx->rung, 0) & ~TUX_DOORBELL_QUEUED;
	if (bits && e->c)
		tux_conn_rung(e->c, bits, e->duo->now);
	duo_effects(e);
}

ssize_t duo_write(struct duo_end *e, const void *p, size_t len)
{
	struct iovec v = { (void *)(uintptr_t)p, len };
	ssize_t k = tux_duplex_write(e->dx, &v, 1, &e->tcp);

	duo_ring(e, 0);
	return k;
}

ssize_t duo_read(struct duo_end *e, void *p, size_t len)
{
	struct iovec v = { p, len };
	ssize_t k = tux_duplex_read(e->dx, &v, 1, false, &e->tcp);

	duo_ring(e, 0);
	return k;
}

uint64_t duo_send(struct duo_end *e, uint32_t len, unsigned flags, int fill)
{
	uint64_t ref;
	void *p;

	assert_int_equal(tux_msgbox_reserve(e->box, len, flags, false, &p,
					    &ref), 0);
	memset(p, fill, len);
	tux_msgbox_commit(e->box, ref);
	duo_ring(e, TUX_DOORBELL_MESSAGE);
	return ref;
}

/* ---- the loop's TCP ---- */

size_t duo_tcp_out(struct duo_end *e, size_t max)
{
	uint8_t buf[4096];
	size_t n = tux_conn_tcp_out(e->c, buf, sizeof(buf), e->duo->now);
	ssize_t k;

	if (!n) {
		duo_effects(e);
		return 0;
	}
	k = put(&e->peer->in, buf, n < max ? n : max);
	n = k > 0 ? (size_t)k : 0;
	tux_conn_tcp_sent(e->c, n, e->duo->now);
	duo_effects(e);
	return n;
}

size_t duo_tcp_in(struct duo_end *e)
{
	struct duo_stream *s = &e->in;
	size_t n = tux_conn_tcp_want(e->c);

	if (n > s->head - s->tail)
		n = s->head - s->tail;
	if (n)
		tux_conn_tcp_in(e->c, s->p + s->tail, n, e->duo->now);
	duo_effects(e);
	s->tail += n;
	return n;
}

void duo_frame_in(struct duo_end *e, uint8_t type, uint64_t off,
		  const void *body, uint32_t len)
{
	struct tux_frame f = { .type = type, .len = len, .off = off };
	uint8_t hdr[TUX_FRAME_HDR];

	tux_frame_encode(&f, hdr);
	tux_conn_tcp_in(e->c, hdr, sizeof(hdr), e->duo->now);
	if (body)
		tux_conn_tcp_in(e->c, body, len, e->duo->now);
	duo_effects(e);
}

static bool step(struct duo_end *e)
{
	bool any = duo_carry(e) > 0;

	while (e->c && duo_tcp_out(e, SIZE_MAX))
		any = true;
	if (e->c)
		tux_duplex_advance(e->dx, &e->tcp);
	any |= e->dx->rung != 0;
	duo_ring(e, 0);
	while (e->c && duo_tcp_in(e))
		any = true;
	return any;
}

void duo_settle(struct duo *d)
{
	bool any;

	do {
		any = step(&d->a);
		any |= step(&d->b);
	} while (any);
}

void duo_pass(struct duo *d, tux_time later)
{
	d->now += later;
	tux_core_expire(d->a.core, d->now);
	duo_effects(&d->a);
	tux_core_expire(d->b.core, d->now);
	duo_effects(&d->b);
}

void duo_settle_all(struct duo *d)
{
	duo_settle(d);
	duo_pass(d, TUX_MSEC(1));
	duo_settle(d);
}
