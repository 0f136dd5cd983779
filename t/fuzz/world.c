/* SPDX-License-Identifier: BSD-2-Clause */
#include "world.h"

#include <stdlib.h>

enum {
	MEMORY = 2 << 20,
	LANE = TUX_LANE_MIN,
	DATAGRAMS = 600,	/* at one instant: more is without end */
	TIMERS = 3000,		/* in one step of time: more is a loop */
	TURNS = 200,
	STEP_US = 100,
	STEPS = 2000,
};

/* ---- the loop ---- */

void fuzz_input(struct fuzz_end *e, const struct tux_addr *from,
		const uint8_t *p, size_t len)
{
	tux_core_input(e->end.core, from, p, len, TUX_ECN_NONE, e->w->now);
	duo_effects(&e->end);
}

void fuzz_output(struct fuzz_end *e)
{
	struct fuzz_world *w = e->w;
	uint8_t buf[FUZZ_DGRAM];
	struct tux_out o;
	unsigned n = 0;
	size_t len;

	while ((len = duo_datagram(&e->end, buf, sizeof(buf), &o)) > 0) {
		FUZZ_CHECK(++n < DATAGRAMS);
		duo_effects(&e->end);
		w->datagrams++;
		w->bytes += len;
		if (w->sent)
			w->sent(e, buf, len);
		else
			fuzz_input(fuzz_peer(e), &e->end.addr, buf, len);
	}
	duo_effects(&e->end);
}

void fuzz_turn(struct fuzz_end *e)
{
	unsigned n = 0;

	duo_ring(&e->end, 0);
	do {
		FUZZ_CHECK(++n < TURNS);
		if (e->end.tcp_work)
			duo_serve(&e->end, SIZE_MAX);
		fuzz_output(e);
		/* Told of work that waits for room, a loop waits, too. */
	} while (e->end.tcp_work && !e->end.gone_n &&
		 !fuzz_peer(e)->end.in.full);
}

void fuzz_pass(struct fuzz_end *e, tux_time by)
{
	struct fuzz_world *w = e->w;
	tux_time until = w->now + by, at;
	unsigned n = 0;

	while ((at = tux_core_deadline(e->end.core)) <= until) {
		FUZZ_CHECK(++n < TIMERS);
		w->now = at > w->now ? at : w->now;
		tux_core_expire(e->end.core, w->now);
		duo_effects(&e->end);
		fuzz_turn(e);
	}
	w->now = until;
}

void fuzz_pass_both(struct fuzz_world *w, tux_time by)
{
	tux_time until = w->now + by, at;

	while (w->now < until) {
		at = tux_time_min(tux_core_deadline(w->end[0].end.core),
				  tux_core_deadline(w->end[1].end.core));
		at = at > w->now ? at : w->now + 1;
		w->now = at < until ? at : until;
		fuzz_pass(&w->end[0], 0);
		fuzz_pass(&w->end[1], 0);
		fuzz_turn(&w->end[0]);
		fuzz_turn(&w->end[1]);
	}
}

/* ---- birth and end ---- */

static void open_end(struct fuzz_world *w, unsigned side, bool messages)
{
	struct duo_end *e = &w->end[side].end;
	struct fuzz_mem *m = w->mem[side];
	size_t box = tux_msgbox_size(LANE, LANE);
	size_t dx = tux_duplex_size(FUZZ_RING);

	w->end[side].w = w;
	duo_end_init(e, side, &w->end[!side].end, &w->now, w->tcp[side],
		     FUZZ_TCP);
	e->dx = fuzz_mem_get(m, dx, dx);
	tux_duplex_init(e->dx, FUZZ_RING);
	if (messages) {
		e->box = fuzz_mem_get(m, box, sizeof(*e->box));
		tux_msgbox_init(e->box, LANE, LANE);
	}
	FUZZ_CHECK(!duo_end_core(e, &m->mem, NULL, NULL));
	FUZZ_CHECK(!duo_end_open(e, 40000, FUZZ_MTU));
	duo_effects(e);
}

static bool there(struct fuzz_end *e, enum fuzz_stage stage)
{
	unsigned both = TUX_RX_ON_RING | TUX_TX_ON_RING;

	if (stage == FUZZ_OPENING)
		return true;
	if (stage == FUZZ_PROVED)
		return e->end.c->life == TUX_LIFE_PROVED;
	return (tux_duplex_poll(e->end.dx) & both) == both;
}

static void step(struct fuzz_end *e)
{
	fuzz_turn(e);
	fuzz_read(e, FUZZ_RING);
	tux_core_expire(e->end.core, e->w->now);
	duo_effects(&e->end);
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
	unsigned i;

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
		for (i = 0; i < 2; i++) {
			w->end[i].end.c->peer_plain = false;
			tux_conn_stall(w->end[i].end.c, w->now);
		}
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
	unsigned mine = 1 + !e->end.side + !!e->end.box;

	w->sent = nowhere;
	if (!e->closed)
		fuzz_close(e, true);
	fuzz_turn(e);
	tux_conn_close(e->end.c, w->now);
	tux_core_free(e->end.core);
	FUZZ_CHECK(w->mem[e->end.side]->live == mine);
}
