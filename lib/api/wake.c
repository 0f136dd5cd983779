/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/wake.h"

#include <linux/futex.h>

#include "sys/sys.h"
#include "sys/take.h"

/* The latch of the list is held, so @w is still there. */
static void wake_one(struct tux_wait *w)
{
	if (atomic_exchange(&w->woken, 1))
		return;
	if (w->r)
		tux_sched_wake(w->r);
	else
		tux_sys_futex(&w->woken, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1,
			      NULL);
}

/* Those that may go on; or, with @all, all.  The others wait for the first that
 * writes: when it is through, it wakes the next. */
static void wake_list(struct tux_connection *c, bool all)
{
	bool writes = false;
	struct tux_list *n;

	TUX_LIST_EACH(n, &c->waits) {
		struct tux_wait *w = TUX_CONTAINER(n, struct tux_wait, node);

		if (all || w->kind == TUX_WAIT_MESSAGE || !writes)
			wake_one(w);
		writes |= w->kind == TUX_WAIT_STREAM;
	}
}

void tux_api_wake_some(struct tux_connection *c)
{
	tux_latch_take(&c->waits_latch);
	wake_list(c, false);
	tux_latch_drop(&c->waits_latch);
}

void tux_api_wake_all(struct tux_connection *c)
{
	tux_latch_take(&c->waits_latch);
	wake_list(c, true);
	tux_latch_drop(&c->waits_latch);
}
