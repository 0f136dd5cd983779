/* SPDX-License-Identifier: BSD-2-Clause */
#include "twin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPENING_MS = 1000, STEP_US = 100 };

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

/* 0, or -ENOMEM. */
static int open_box(struct duo_end *e, uint32_t lane)
{
	if (!lane)
		return 0;
	e->box = calloc(1, tux_msgbox_size(lane, lane));
	if (!e->box)
		return -ENOMEM;
	tux_msgbox_init(e->box, lane, lane);
	return 0;
}

static int open_end(struct twin *t, unsigned side, unsigned i, uint32_t cap)
{
	struct duo_end *e = &t->end[side][i];
	int err = 0;

	duo_end_init(e, side, &t->end[!side][i], &t->now, t->tcp[side][i],
		     TWIN_TCP);
	e->core = t->end[side][0].core;
	if (!i)
		err = duo_end_core(e, &t->mem, NULL, NULL);
	if (err)
		return err;
	e->dx = calloc(1, tux_duplex_size(cap));
	if (!e->dx)
		return -ENOMEM;
	tux_duplex_init(e->dx, cap);
	if (open_box(e, t->lane))
		return -ENOMEM;
	return duo_end_open(e, (uint16_t)(40000 + i), TWIN_MTU);
}

/* Looks what TCP has brought, as an application does that waits.  True: both
 * directions have moved. */
static bool step(struct duo_end *e)
{
	unsigned both = TUX_RX_ON_RING | TUX_TX_ON_RING;
	char c;

	if (e->tcp_work)
		duo_serve(e, SIZE_MAX);
	while (duo_read(e, &c, 1) > 0)
		;
	return (tux_duplex_poll(e->dx) & both) == both;
}

/* A byte each way, and the connections move. */
static int move(struct twin *t)
{
	bool all = false;
	unsigned i;

	for (i = 0; i < 2 * t->n; i++)
		duo_write(&t->end[i % 2][i / 2], "x", 1);
	while (!all && t->now < TUX_MSEC(OPENING_MS)) {
		all = true;
		for (i = 0; i < 2 * t->n; i++)
			all &= step(&t->end[i % 2][i / 2]);
		for (i = 0; i < 2; i++)
			while (twin_output(t, i))
				twin_input(t, !i);
		twin_pass(t, TUX_USEC(STEP_US));
	}
	return all ? 0 : -ETIMEDOUT;
}

int twin_init(struct twin *t, unsigned n, uint32_t cap, uint32_t lane)
{
	unsigned i;
	int err = 0;

	memset(t, 0, sizeof(*t));
	t->mem = (struct tux_mem){ get, put, NULL };
	t->now = 1;
	t->n = n;
	t->lane = lane;
	for (i = 0; i < 2 * n && !err; i++)
		err = open_end(t, !(i % 2), i / 2, cap);
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
		struct duo_end *e = &t->end[i % 2][i / 2];

		if (e->c)
			tux_conn_close(e->c, t->now);
		free(e->dx);
		free(e->box);
	}
	tux_core_free(t->end[0][0].core);
	tux_core_free(t->end[1][0].core);
}

/* ---- the network ---- */

unsigned twin_output(struct twin *t, unsigned i)
{
	struct tux_core *core = t->end[i][0].core;
	struct tux_out o;
	unsigned n = 0;

	duo_effects(&t->end[i][0]);	/* as a loop does, once a turn */
	while (n < TWIN_BATCH && tux_core_lead(core, &o)) {
		struct twin_dgram *d = &t->wire[i][n];

		d->len = tux_core_output(core, d->p, sizeof(d->p), &o, t->now);
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
		tux_core_input(t->end[i][0].core, &d[k].from, d[k].p, d[k].len,
			       d[k].ecn, t->now);
	t->wire_n[!i] = 0;
}

void twin_pass(struct twin *t, tux_time by)
{
	unsigned i;

	t->now += by;
	for (i = 0; i < 2; i++)
		tux_core_expire(t->end[i][0].core, t->now);
}
