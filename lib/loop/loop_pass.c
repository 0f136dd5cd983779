/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/loop_pass.h"

#include "loop/loop_end.h"

enum {
	ENDS = TUX_DOORBELL_CLOSE | TUX_DOORBELL_ABORT | TUX_DOORBELL_LEAVE,
};

/* ---- any thread ---- */

void tux_loop_wake(struct tux_loop *l)
{
	tux_wake_up(l->bell, l->held.bell_fd);
}

void tux_loop_ring(struct tux_loop *l, uint32_t i)
{
	tux_wake_ring(l->bell, l->held.bell_fd, i);
}

void tux_loop_forward(struct tux_loop *l, const struct tux_dgram *d)
{
	tux_forward_put(&l->forward, d);
	tux_loop_wake(l);
}

/* ---- rings ---- */

static void pass_ring(struct tux_loop *l, struct tux_loop *to, uint32_t i)
{
	tux_loop_ring(to, i);
	if (l->o.passed)
		l->o.passed(l->o.arg, to);
}

void tux_loop_take_ring(struct tux_loop *l, struct tux_end *e)
{
	struct tux_loop *now = atomic_load(&e->loop);

	if (now == l)
		tux_loop_rung(l, e);
	else if (now)
		pass_ring(l, now, e->index);
}

/* ---- datagrams ---- */

/* The first packet of @e came to loop @via: does @e go there?  That loop, or NULL. */
static struct tux_loop *give_end_away(struct tux_loop *l, struct tux_end *e,
				      unsigned via)
{
	uint32_t i = e->index;
	struct tux_loop *to;

	if (e->closed || e->line.fd >= 0 || atomic_load(&e->dx->rung) & ENDS)
		return NULL;
	to = l->o.moves(l->o.arg, e, via);
	if (!to)
		return NULL;
	tux_loop_give_away(l, e, to);
	tux_loop_ring(to, i);
	return to;
}

/* @d came by a queue of another loop.  Ends that hear their first packet in it may go
 * there, and hear it once more. */
static void give_ends_away(struct tux_loop *l, struct tux_dgram *d)
{
	struct tux_loop *to = NULL;
	const uint8_t *p = d->p;
	size_t len = d->len;
	unsigned via = d->via;
	struct tux_end *e;

	while ((e = tux_core_first_heard(l->core, &d->from, &p, &len))) {
		struct tux_loop *one = give_end_away(l, e, via);

		to = one ? one : to;
	}
	d->via = 0;
	if (!to)
		return;
	tux_loop_forward(to, d);
	l->o.passed(l->o.arg, to);
}

unsigned tux_loop_take_forwarded(struct tux_loop *l)
{
	struct tux_forward_walk walk;
	struct tux_dgram d;
	unsigned n = 0;

	if (tux_forward_empty(&l->forward))
		return 0;
	walk = tux_forward_take(&l->forward);
	for (; tux_forward_next(&walk, &d); n++) {
		if (d.via && l->o.moves)
			give_ends_away(l, &d);
		tux_core_input(l->core, &d.from, d.p, d.len, d.ecn, l->now);
	}
	return n;
}
