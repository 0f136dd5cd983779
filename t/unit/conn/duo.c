/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two cores joined by hand.
 */
#include "duo.h"

#include "conn/settle.h"

/* ---- birth ---- */

static void on_trace(void *arg, void *user, const struct tux_trace *t)
{
	struct duo_log *log = arg;

	(void)user;
	log->n[t->what]++;
	log->last[t->what] = *t;
}

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

struct duo *duo_new(void)
{
	struct duo *d = calloc(1, sizeof(*d));

	test_mem_init(&d->mem, -1);
	d->now = TUX_SEC(1);
	duo_end_init(&d->a, 0, &d->b, &d->now, d->tcp[0], DUO_TCP);
	duo_end_init(&d->b, 1, &d->a, &d->now, d->tcp[1], DUO_TCP);
	d->a.dx = duo_duplex();
	d->b.dx = duo_duplex();
	d->a.ended = d->b.ended = true;	/* a test tells the core itself */
	assert_int_equal(duo_end_core(&d->a, &d->mem.mem, on_trace, &d->log_a),
			 0);
	assert_int_equal(duo_end_core(&d->b, &d->mem.mem, on_trace, &d->log_b),
			 0);
	return d;
}

int duo_open(struct duo_end *e, bool messages)
{
	if (messages && !e->box)
		e->box = duo_box();
	return duo_end_open(e, 40000, DUO_MTU);
}

void duo_beside(struct duo_end *o, const struct duo_end *e, bool messages)
{
	duo_end_init(o, e->side, e->peer, e->now, NULL, 0);
	o->core = e->core;
	o->dx = duo_duplex();
	o->box = messages ? duo_box() : NULL;
}

void duo_close(struct duo_end *e)
{
	if (e->c)
		tux_conn_close(e->c, *e->now);
	free(e->dx);
	free(e->box);
}

void duo_free(struct duo *d)
{
	duo_close(&d->a);
	duo_close(&d->b);
	tux_core_free(d->a.core);
	tux_core_free(d->b.core);
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
		memset(&e->c->stats, 0, sizeof(e->c->stats));
		memset(&e->core->stats, 0, sizeof(e->core->stats));
	}
	memset(d->log_a.n, 0, sizeof(d->log_a.n));
	memset(d->log_b.n, 0, sizeof(d->log_b.n));
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

static void open_other(struct duo_end *e, struct duo_end *o)
{
	duo_beside(o, e, false);
	o->dx->tx.pinned = e->dx->tx.pinned = 1;
	assert_int_equal(duo_end_open(o, 40001, DUO_MTU), 0);
}

void duo_other(struct duo *d, struct duo_end *a, struct duo_end *b)
{
	open_other(&d->a, a);
	open_other(&d->b, b);
	a->peer = b;
	b->peer = a;
	duo_settle_all(d);
	assert_int_equal(a->c->life, TUX_LIFE_PROVED);
	assert_int_equal(b->c->life, TUX_LIFE_PROVED);
}

void duo_other_close(struct duo_end *a, struct duo_end *b)
{
	duo_close(a);
	duo_close(b);
}

void duo_derive(struct duo_end *e, uint32_t dirty)
{
	tux_conn_mark(e->c, dirty);
	tux_conn_settle(e->c, *e->now);
	duo_effects(e);
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

	k->len = duo_datagram(e, k->p, sizeof(k->p), &o);
	duo_effects(e);
	if (!k->len)
		return 0;
	k->to = o.to;
	k->from = o.from;
	k->ecn = o.ecn;
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
		       *e->now);
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
		       TUX_ECN_NONE, *f->to->now);
	duo_effects(f->to);
	return s->dropped + s->duplicates == bad;
}

/* ---- TCP and applications ---- */

uint64_t duo_hand_in(struct duo_end *e, uint32_t len, unsigned flags, int fill)
{
	uint64_t ref;
	void *p;

	assert_int_equal(tux_msgbox_reserve(e->box, len, flags, false, &p,
					    &ref), 0);
	memset(p, fill, len);
	tux_msgbox_commit(e->box, ref);
	return ref;
}

uint64_t duo_send(struct duo_end *e, uint32_t len, unsigned flags, int fill)
{
	uint64_t ref = duo_hand_in(e, len, flags, fill);

	duo_ring(e, TUX_DOORBELL_MESSAGE);
	return ref;
}

size_t duo_frame_out(struct duo_end *e, struct tux_frame *f)
{
	const struct duo_tcp *t = &e->peer->in;
	size_t at = t->len, n = duo_tcp_out(e, SIZE_MAX);

	if (n)
		assert_int_equal(tux_frame_decode(f, t->p + at), 0);
	return n;
}

void duo_frame_in(struct duo_end *e, uint8_t type, uint64_t off,
		  const void *body, uint32_t len)
{
	struct tux_frame f = { .type = type, .len = len, .off = off };
	uint8_t hdr[TUX_FRAME_HDR];

	tux_frame_encode(&f, hdr);
	tux_conn_tcp_in(e->c, hdr, sizeof(hdr), *e->now);
	if (body)
		tux_conn_tcp_in(e->c, body, len, *e->now);
	duo_effects(e);
}

void duo_stall(struct duo_end *e)
{
	e->c->peer_plain = false;
	tux_conn_stall(e->c, *e->now);
	duo_effects(e);
	assert_int_equal(e->c->tx.path, TUX_PATH_FRAMES);
}

static bool step(struct duo_end *e)
{
	bool any = duo_carry(e) > 0;

	if (e->c) {
		any |= duo_serve(e, SIZE_MAX);
		tux_duplex_advance(e->dx, &e->tcp);
	}
	any |= e->dx->rung != 0;
	duo_ring(e, 0);
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
