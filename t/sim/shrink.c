/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shrink - a smaller world that still fails
 *
 * Whatever is left out, all that is decided by chance later is another; so each
 * candidate is tried with a few seeds.
 */
#include "shrink.h"

enum { LUCK = 3 };		/* seeds of a candidate */

struct shrink {
	struct sim_world *w;	/* the smallest so far */
	sim_fails_fn *fails;
	void *arg;
	unsigned tries, left;
};

/* If @c fails, it is the smallest now; else it is given up. */
static bool accept(struct shrink *x, struct sim_world *c)
{
	unsigned i;

	for (i = 0; i < LUCK && x->left; i++) {
		x->left--;
		if (x->fails(x->arg, c)) {
			sim_world_fini(x->w);
			*x->w = *c;
			return true;
		}
		c->item[0].v[SIM_NET_SEED]++;
	}
	sim_world_fini(c);
	return false;
}

/* Without the @n items from @at on? */
static bool without(struct shrink *x, unsigned at, unsigned n)
{
	struct sim_world c = { 0 };

	sim_world_copy(&c, x->w);
	sim_world_drop(&c, at, n);
	if (c.n < x->w->n)
		return accept(x, &c);
	sim_world_fini(&c);
	return false;
}

static bool drop_some(struct shrink *x)
{
	unsigned n, at;
	bool any = false;

	for (n = x->w->n / 2; n; n /= 2) {
		for (at = x->w->n; at > 0 && x->left; ) {
			at = at > n ? at - n : 0;
			any |= without(x, at, n);
			if (at > x->w->n)
				at = x->w->n;
		}
	}
	return any;
}

static bool with(struct shrink *x, unsigned i, unsigned k, uint64_t v)
{
	struct sim_world c = { 0 };

	if (v == x->w->item[i].v[k])
		return false;
	sim_world_copy(&c, x->w);
	c.item[i].v[k] = v;
	return accept(x, &c);
}

/* Sizes of rings and lanes are powers of two: half of one is one. */
static uint64_t towards(uint64_t v, uint64_t plain)
{
	return v > plain ? plain + (v - plain) / 2 : plain - (plain - v) / 2;
}

static bool is_power(enum sim_item_kind kind, unsigned k)
{
	return kind == SIM_CONN && (k == SIM_CONN_RING || k == SIM_CONN_SMALL ||
				    k == SIM_CONN_BULK);
}

static bool move_number(struct shrink *x, unsigned i, unsigned k)
{
	enum sim_item_kind kind = x->w->item[i].kind;
	uint64_t plain = sim_forms[kind].number[k].plain;
	bool any;

	if (sim_world_is_name(kind, k) ||
	    (kind == SIM_NET && (k == SIM_NET_SEED || k == SIM_NET_BOUND)))
		return false;
	if (with(x, i, k, plain))
		return true;
	for (any = false; !is_power(kind, k) && x->left; any = true) {
		if (!with(x, i, k, towards(x->w->item[i].v[k], plain)))
			break;
	}
	return any;
}

static bool move_some(struct shrink *x)
{
	bool any = false;
	unsigned i, k;

	for (i = 0; i < x->w->n; i++) {
		unsigned n = sim_forms[x->w->item[i].kind].n;

		for (k = 0; k < n && x->left; k++)
			any |= move_number(x, i, k);
	}
	return any;
}

unsigned sim_shrink(struct sim_world *w, sim_fails_fn *fails, void *arg,
		    unsigned tries)
{
	struct shrink x = { w, fails, arg, tries, tries };
	bool any = true;

	while (any && x.left) {
		any = drop_some(&x);
		any |= move_some(&x);
	}
	return tries - x.left;
}
