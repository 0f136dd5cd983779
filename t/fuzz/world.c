/* SPDX-License-Identifier: BSD-2-Clause */
#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MEMORY = 2 << 20,
	LANE = TUX_LANE_MIN,
	DATAGRAMS = 600,	/* at one instant: more is without end */
	TIMERS = 3000,		/* in one step of time: more is a loop */
	TURNS = 200,
	STEP_US = 100,
	STEPS = 2000,
};

struct tux_addr fuzz_addr(unsigned side)
{
	struct tux_addr a = { { [10] = 0xff, 0xff, 10 }, 0 };

	a.ip[15] = (uint8_t)(1 + side);
	a.port = (uint16_t)(7000 + side);
	return a;
}

/* ---- effects ---- */

static void carry_out(struct fuzz_end *e, uint32_t effects)
{
	if (effects & TUX_EFFECT_OWN)
		tux_conn_owned(e->c, 0, e->w->now);
	if (effects & TUX_EFFECT_TCP)
		e->tcp_work = true;
	if (effects & TUX_EFFECT_SHUT) {
		e->tcp_shut = true;
		fuzz_peer(e)->in.eof = true;
	}
	if (effects & TUX_EFFECT_GONE) {
		FUZZ_CHECK(!e->gone);
		e->gone = true;
		e->reset = effects & TUX_EFFECT_RESET;
	}
}

void fuzz_effects(struct fuzz_end *e)
{
	struct tux_conn *c;
	uint32_t effects;

	while ((c = tux_core_effects(e->core, &effects)) != NULL)
		carry_out(tux_conn_user(c), effects);
}

/* ---- the loop ---- */

void fuzz_input(struct fuzz_end *e, const struct tux_addr *from,
		const uint8_t *p, size_t len)
{
	tux_core_input(e->core, from, p, len, TUX_ECN_NONE, e->w->now);
	fuzz_effects(e);
}

void fuzz_output(struct fuzz_end *e)
{
	struct fuzz_world *w = e->w;
	uint8_t buf[FUZZ_DGRAM];
	struct tux_addr here = fuzz_addr(e->side);
	struct tux_out o;
	unsigned n = 0;
	size_t len;

	while (tux_core_lead(e->core, &o)) {
		len = tux_core_output(e->core, buf, sizeof(buf), &o, w->now);
		FUZZ_CHECK(len <= sizeof(buf) && ++n < DATAGRAMS);
		if (!len)
			continue;
		fuzz_effects(e);
		w->datagrams++;
		w->bytes += len;
		if (w->sent)
			w->sent(e, buf, len);
		else
			fuzz_input(fuzz_peer(e), &here, buf, len);
	}
	fuzz_effects(e);
}

size_t fuzz_tcp_put(struct fuzz_end *e, const void *p, size_t len)
{
	struct fuzz_tcp *t = &e->in;

	t->full = len > FUZZ_TCP - t->len;
	if (t->full)
		len = FUZZ_TCP - t->len;
	memcpy(t->p + t->len, p, len);
	t->len += (uint32_t)len;
	e->tcp_work |= len > 0;
	return len;
}

void fuzz_tcp_take(struct fuzz_end *e, size_t n)
{
	struct fuzz_tcp *t = &e->in;

	t->len -= (uint32_t)n;
	memmove(t->p, t->p + n, t->len);
	fuzz_peer(e)->tcp_work |= t->full;
	t->full = false;
}

static void tcp_end(struct fuzz_end *e)
{
	if (e->ended || e->in.len || (!e->in.eof && !e->in.err))
		return;
	e->ended = true;
	tux_conn_tcp_end(e->c, e->in.err, e->w->now);
	fuzz_effects(e);
}

static bool read_tcp(struct fuzz_end *e, size_t most)
{
	size_t want = tux_conn_tcp_want(e->c), n = e->in.len;

	if (!want)
		return false;
	if (!n)
		tcp_end(e);
	n = n < want ? n : want;
	n = n < most ? n : most;
	if (!n)
		return false;
	tux_conn_tcp_in(e->c, e->in.p, n, e->w->now);
	fuzz_effects(e);
	fuzz_tcp_take(e, n);
	return true;
}

static bool write_tcp(struct fuzz_end *e, size_t most)
{
	uint8_t buf[1024];
	size_t n = tux_conn_tcp_out(e->c, buf, sizeof(buf), e->w->now), k;

	fuzz_effects(e);
	FUZZ_CHECK(n <= sizeof(buf));
	if (!n)
		return false;
	k = fuzz_tcp_put(fuzz_peer(e), buf, n < most ? n : most);
	tux_conn_tcp_sent(e->c, k, e->w->now);
	fuzz_effects(e);
	return k > 0;
}

void fuzz_serve(struct fuzz_end *e, size_t most)
{
	unsigned n = 0;
	bool more = true;

	e->tcp_work = false;
	while (more && !e->gone) {
		more = read_tcp(e, most);
		more |= write_tcp(e, most);
		FUZZ_CHECK(++n < FUZZ_TCP * 4);
	}
}

void fuzz_turn(struct fuzz_end *e)
{
	struct fuzz_world *w = e->w;
	uint32_t bits = atomic_exchange(&e->dx->rung, 0);
	unsigned n = 0;

	bits &= ~(uint32_t)TUX_DOORBELL_QUEUED;
	if (bits && !e->gone)
		tux_conn_rung(e->c, bits, w->now);
	fuzz_effects(e);
	do {
		FUZZ_CHECK(++n < TURNS);
		if (e->tcp_work)
			fuzz_serve(e, SIZE_MAX);
		fuzz_output(e);
		/* Told of work that waits for room, a loop waits, too. */
	} while (e->tcp_work && !e->gone && !fuzz_peer(e)->in.full);
}

void fuzz_pass(struct fuzz_end *e, tux_time by)
{
	struct fuzz_world *w = e->w;
	tux_time until = w->now + by, at;
	unsigned n = 0;

	while ((at = tux_core_deadline(e->core)) <= until) {
		FUZZ_CHECK(++n < TIMERS);
		w->now = at > w->now ? at : w->now;
		tux_core_expire(e->core, w->now);
		fuzz_effects(e);
		fuzz_turn(e);
	}
	w->now = until;
}

/* ---- birth and end ---- */

static void open_end(struct fuzz_world *w, unsigned side, bool messages)
{
	struct fuzz_end *e = &w->end[side];
	struct fuzz_mem *m = w->mem[side];
	size_t box = tux_msgbox_size(LANE, LANE);
	size_t dx = tux_duplex_size(FUZZ_RING);
	const struct tux_core_opts core = {
		.mem = &m->mem, .seed = { 1 + side, 2 },
		.port = fuzz_addr(side).port, .ack_delay = TUX_MSEC(1),
	};
	struct tux_conn_opts o = {
		.tuple = { fuzz_addr(0), fuzz_addr(1) }, .active = !side,
		.key = { 3, 4 }, .user = e, .mtu = FUZZ_MTU,
	};

	e->w = w;
	e->side = side;
	o.tuple.active.port = 40000;
	o.tuple.passive.port = 6379;
	e->dx = o.dx = fuzz_mem_get(m, dx, dx);
	tux_duplex_init(e->dx, FUZZ_RING);
	if (messages) {
		e->box = o.box = fuzz_mem_get(m, box, sizeof(*e->box));
		tux_msgbox_init(e->box, LANE, LANE);
	}
	FUZZ_CHECK(!tux_core_new(&e->core, &core));
	FUZZ_CHECK(!tux_core_open(e->core, &o, &e->c, w->now));
	fuzz_effects(e);
}

static bool there(struct fuzz_end *e, enum fuzz_stage stage)
{
	unsigned both = TUX_RX_ON_RING | TUX_TX_ON_RING;

	if (stage == FUZZ_OPENING)
		return true;
	if (stage == FUZZ_PROVED)
		return e->c->life == TUX_LIFE_PROVED;
	return (tux_duplex_poll(e->dx) & both) == both;
}

static void step(struct fuzz_end *e)
{
	fuzz_turn(e);
	fuzz_read(e, FUZZ_RING);
	tux_core_expire(e->core, e->w->now);
	fuzz_effects(e);
}

static void get_there(struct fuzz_world *w, enum fuzz_stage stage)
{
	unsigned n;

	for (n = 0; n < STEPS && !(there(&w->end[0], stage) &&
				   there(&w->end[1], stage)); n++) {
		if (!n && stage >= FUZZ_MOVED) {
			fuzz_write(&w->end[0], 1);
			fuzz_write(&w->end[1], 1);
		}
		step(&w->end[0]);
		step(&w->end[1]);
		w->now += TUX_USEC(STEP_US);
	}
	FUZZ_CHECK(n < STEPS);
}

/* What was under way has arrived, and nothing waits. */
static void calm_down(struct fuzz_world *w)
{
	unsigned i;

	for (i = 0; i < 100; i++) {
		step(&w->end[0]);
		step(&w->end[1]);
		w->now += TUX_USEC(STEP_US);
	}
}

static struct fuzz_mem *memory(void)
{
	struct fuzz_mem *m = malloc(sizeof(*m));

	FUZZ_CHECK(m);
	fuzz_mem_init(m, MEMORY);
	return m;
}

struct fuzz_world *fuzz_world_new(enum fuzz_stage stage, bool messages)
{
	struct fuzz_mem *m = memory();
	struct fuzz_world *w = fuzz_mem_get(m, sizeof(*w), sizeof(*w));

	w->mem[0] = m;
	w->mem[1] = memory();
	w->now = TUX_SEC(1);
	open_end(w, 1, messages);
	open_end(w, 0, messages);
	get_there(w, stage);
	if (stage >= FUZZ_MOVED)
		calm_down(w);
	if (stage == FUZZ_BACK) {
		/* In frames they stay if neither knows PLAIN. */
		w->end[0].c->peer_plain = w->end[1].c->peer_plain = false;
		tux_conn_stall(w->end[0].c, w->now);
		tux_conn_stall(w->end[1].c, w->now);
		step(&w->end[0]);
		step(&w->end[1]);
	}
	fuzz_mem_save(w->mem[0]);
	fuzz_mem_save(w->mem[1]);
	return w;
}

void fuzz_world_restore(struct fuzz_world *w, unsigned but, uint8_t salt)
{
	struct fuzz_mem *m[2] = { w->mem[0], w->mem[1] };
	unsigned i;

	for (i = 0; i < 2; i++)
		if (i != but)
			fuzz_mem_restore(m[i]);
	if (!but)			/* the world is with end 0 */
		fuzz_mem_restore_piece(m[0], 0);
	w->salt = salt;
}

bool fuzz_world_grew(const struct fuzz_world *w)
{
	return w->mem[0]->asked || w->mem[1]->asked;
}

static void nowhere(struct fuzz_end *e, const uint8_t *p, size_t len)
{
	(void)e, (void)p, (void)len;
}

void fuzz_end_end(struct fuzz_end *e)
{
	struct fuzz_world *w = e->w;
	unsigned mine = 1 + !e->side + !!e->box;

	w->sent = nowhere;
	if (!e->closed)
		fuzz_close(e, true);
	fuzz_turn(e);
	tux_conn_close(e->c, w->now);
	tux_core_free(e->core);
	FUZZ_CHECK(w->mem[e->side]->live == mine);
}
