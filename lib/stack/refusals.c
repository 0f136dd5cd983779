/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/refusals.h"

#include "sys/take.h"

enum { LATCH_MS = 10 };

static struct tux_refused *entry(struct tux_refusals *r,
				 const struct tux_tuple *t, bool active)
{
	uint32_t i, n = atomic_load(&r->n);

	for (i = 0; i < n; i++) {
		struct tux_refused *x = &r->at[i];

		if (x->why && x->active == active &&
		    tux_tuple_same(&x->tuple, t))
			return x;
	}
	return NULL;
}

/* The oldest, once the table is full. */
static struct tux_refused *spare(struct tux_refusals *r)
{
	struct tux_refused *x = &r->at[r->next];

	r->next = (r->next + 1) % TUX_REFUSED_MAX;
	if (atomic_load(&r->n) < TUX_REFUSED_MAX)
		atomic_fetch_add(&r->n, 1);
	return x;
}

void tux_refusals_add(struct tux_refusals *r, const struct tux_refused *x)
{
	struct tux_refused *to;

	if (!tux_latch_take_within(&r->latch, TUX_MSEC(LATCH_MS)))
		return;
	to = entry(r, &x->tuple, x->active);
	if (!to)
		to = spare(r);
	*to = *x;
	tux_latch_drop(&r->latch);
}

void tux_refusals_remove(struct tux_refusals *r, const struct tux_tuple *t,
			 bool active)
{
	struct tux_refused *x;

	if (tux_refusals_empty(r) ||
	    !tux_latch_take_within(&r->latch, TUX_MSEC(LATCH_MS)))
		return;
	x = entry(r, t, active);
	if (x)
		x->why = 0;
	tux_latch_drop(&r->latch);
}

bool tux_refusals_find(struct tux_refusals *r, const struct tux_tuple *t,
		       bool active, struct tux_refused *x)
{
	const struct tux_refused *at;

	if (tux_refusals_empty(r) ||
	    !tux_latch_take_within(&r->latch, TUX_MSEC(LATCH_MS)))
		return false;
	at = entry(r, t, active);
	if (at)
		*x = *at;
	tux_latch_drop(&r->latch);
	return at;
}
