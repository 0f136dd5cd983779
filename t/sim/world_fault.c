/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world - what goes wrong in it, as a seed decides
 */
#include "draw.h"
#include "fault.h"

static const struct sim_item *conn_of(const struct sim_draw *d, unsigned conn)
{
	unsigned i, n = 0;

	for (i = 0; i < d->w->n; i++) {
		if (d->w->item[i].kind == SIM_CONN && n++ == conn)
			break;
	}
	return &d->w->item[i];
}

/* Is item @i something that the connection's programs write? */
static bool is_word(const struct sim_world *w, uint64_t i, unsigned conn)
{
	return (w->item[i].kind == SIM_WRITE || w->item[i].kind == SIM_MAIL) &&
	       w->item[i].v[SIM_WRITE_CONN] == conn;
}

/* How much or how often, for each kind that has such a number. */
static uint64_t times(struct sim_draw *d, enum sim_fault what)
{
	switch (what) {
	case SIM_SPIKE:
		return scale(d, TUX_MSEC(1), TUX_MSEC(500));
	case SIM_NARROW:
	case SIM_OWN_MTU:
		return 600 + below(d, 900);
	case SIM_LOSE:
		return below(d, 12);
	case SIM_FLAP:
		return 1 + scale(d, 1, 40);
	case SIM_NO_MEMORY:
		return scale(d, 10000, 1000000);
	case SIM_NO_MEMORY_OPEN:
		return 1 + below(d, 6);
	case SIM_FOUL_PACKET:
	case SIM_FOUL_HELLO:
		return scale(d, 1, 1000);
	case SIM_GARBAGE:
	case SIM_GUESS:
	case SIM_HELLO:
	case SIM_REPLAY:
	case SIM_CUT:
		return scale(d, 1, 200);
	case SIM_FOUL_FRAME:
		return scale(d, 1, 50);
	default:
		return 1;
	}
}

/* Another process follows, and the same ports are used again. */
static void follow(struct sim_draw *d, unsigned conn, tux_time at)
{
	const struct sim_item old = *conn_of(d, conn);

	sim_draw_conn(d, (unsigned)old.v[SIM_CONN_A],
		      (unsigned)old.v[SIM_CONN_B], conn + 1, at);
}

/* At any time, while the connection opens, or when it has something to say. */
static tux_time when(struct sim_draw *d, unsigned conn)
{
	uint64_t n = 0, i;

	if (rarely(d, 6))
		return conn_of(d, conn)->v[SIM_CONN_AT] +
		       scale(d, TUX_USEC(10), TUX_MSEC(50));
	for (i = 0; i < d->w->n; i++)
		n += is_word(d->w, i, conn);
	if (!n || rarely(d, 3))
		return below(d, scale(d, TUX_MSEC(1), d->span));
	n = below(d, n);
	for (i = 0; !is_word(d->w, i, conn) || n-- > 0; i++)
		;
	return d->w->item[i].v[SIM_WRITE_AT] +
	       below(d, scale(d, TUX_USEC(10), TUX_MSEC(50)));
}

/* What makes directions change their paths is drawn more often. */
static enum sim_fault what_next(struct sim_draw *d)
{
	static const enum sim_fault path[] = {
		SIM_PART, SIM_ONE_WAY, SIM_STALL, SIM_FLAP, SIM_BAR, SIM_RAW,
	};

	if (rarely(d, 3))
		return path[below(d, sizeof(path) / sizeof(path[0]))];
	return (enum sim_fault)below(d, SIM_FAULTS);
}

void sim_draw_fault(struct sim_draw *d)
{
	enum sim_fault what = what_next(d);
	unsigned conn = (unsigned)below(d, d->conns);
	tux_time at = when(d, conn);
	tux_time len = scale(d, TUX_MSEC(1), 2 * d->span);
	uint64_t *v = sim_world_add(d->w, SIM_FAULT)->v;

	if (what == SIM_NO_MEMORY_OPEN || what == SIM_FOUL_HELLO)
		at = conn_of(d, conn)->v[SIM_CONN_AT];
	/* An answer to a HELLO, for which it has to last. */
	if (what == SIM_VERSION && !rarely(d, 4)) {
		at = 0;
		len = d->span;
	}
	v[SIM_FAULT_WHAT] = what;
	v[SIM_FAULT_CONN] = conn;
	v[SIM_FAULT_SIDE] = below(d, 2);
	v[SIM_FAULT_AT] = at;
	v[SIM_FAULT_FOR] = len;
	v[SIM_FAULT_TIMES] = times(d, what);
	if (what == SIM_RESTART && d->conns < 12)
		follow(d, conn, at + len + below(d, TUX_MSEC(100)));
}
