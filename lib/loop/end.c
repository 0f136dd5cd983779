/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/end.h"

#include <stddef.h>
#include <string.h>

#include "sys/area.h"
#include "sys/take.h"

int tux_ends_init(struct tux_ends *t)
{
	memset(t, 0, sizeof(*t));
	/* Private: a forked child still finds the lifelines to close. */
	return tux_area_map((void **)&t->at, TUX_ENDS_MAX * sizeof(*t->at),
			    TUX_AREA_PRIVATE);
}

void tux_ends_fini(struct tux_ends *t)
{
	tux_area_unmap(t->at, TUX_ENDS_MAX * sizeof(*t->at));
	memset(t, 0, sizeof(*t));
}

struct tux_end *tux_ends_get(struct tux_ends *t)
{
	struct tux_end *e;
	uint32_t used;

	tux_latch_take(&t->latch);
	used = atomic_load_explicit(&t->used, memory_order_relaxed);
	e = t->free;
	if (e) {
		t->free = e->next_free;
	} else if (used < TUX_ENDS_MAX) {
		e = &t->at[used];
		atomic_store(&t->used, used + 1);
	}
	if (e) {
		e->claims++;
		memset(&e->dx, 0, sizeof(*e) - offsetof(struct tux_end, dx));
		e->index = (uint32_t)(e - t->at);
		e->fd = -1;
		tux_lifeline_init(&e->line);
	}
	tux_latch_drop(&t->latch);
	return e;
}

void tux_ends_put(struct tux_ends *t, struct tux_end *e)
{
	tux_latch_take(&t->latch);
	atomic_store(&e->loop, NULL);
	e->next_free = t->free;
	t->free = e;
	tux_latch_drop(&t->latch);
}
