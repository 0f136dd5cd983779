/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/driver.h"

#include <linux/futex.h>
#include <string.h>

#include "sys/clock.h"
#include "sys/sys.h"
#include "sys/take.h"
#include "sys/wake.h"

enum {
	CROWDS = 4,		/* left others waiting so often: the helper's */
	HANDOVER_SPINS = 2000,	/* for a turn of the helper to end, */
	HANDOVER_YIELDS = 20,	/* ... letting it run in between */
};

void tux_driver_init(struct tux_driver *d, struct tux_stack *s, bool dedicated)
{
	memset(d, 0, sizeof(*d));
	d->stack = s;
	d->dedicated = dedicated;
	d->helper_fd = -1;
	d->watch = TUX_MSEC(TUX_WATCH_MIN_MS);
	d->helper = dedicated ? TUX_DRIVES : TUX_SLEEPS;
	tux_spin_init(&d->spin, dedicated ? TUX_SPIN_BESIDE :
					    TUX_SPIN_IF_IT_PAYS);
}

bool tux_driver_take(struct tux_driver *d)
{
	return !atomic_load_explicit(&d->taken, memory_order_relaxed) &&
	       !atomic_exchange(&d->taken, 1);
}

void tux_driver_drop(struct tux_driver *d)
{
	atomic_store(&d->taken, 0);
}

/* ---- the helper ---- */

bool tux_helper_move(struct tux_driver *d, uint32_t from, uint32_t to)
{
	if (atomic_load(&d->helper) != from ||
	    !atomic_compare_exchange_strong(&d->helper, &from, to))
		return false;
	tux_sys_futex(&d->helper, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL);
	return true;
}

/* ---- leaving ---- */

static void kick_helper(struct tux_driver *d)
{
	if (atomic_load(&d->helper_sleeps) &&
	    atomic_exchange(&d->helper_sleeps, 0))
		tux_wake_kick(d->helper_fd);
}

/* The helper starts to watch anew: the deadlines that it knows are stale. */
static void let_helper_watch(struct tux_driver *d)
{
	if (!tux_helper_move(d, TUX_SLEEPS, TUX_WATCHES) &&
	    tux_helper_move(d, TUX_FILLS_IN, TUX_WATCHES))
		kick_helper(d);
}

/* Other threads wait for the loop: the helper has to run it at once. */
static void wake_helper(struct tux_driver *d)
{
	uint32_t to = atomic_fetch_add(&d->crowds, 1) + 1 >= CROWDS ?
		      TUX_DRIVES : TUX_FILLS_IN;
	uint32_t from = atomic_load(&d->helper);

	atomic_store(&d->crowd_at, tux_clock_read());
	if (from != TUX_DRIVES)
		tux_helper_move(d, from, to);
	kick_helper(d);
}

void tux_driver_release(struct tux_driver *d, bool waits)
{
	atomic_fetch_add(&d->leaves, 1);
	tux_driver_drop(d);
	if (atomic_load(&d->waiters) > waits)
		wake_helper(d);
	else
		let_helper_watch(d);
}

/* ---- driving ---- */

bool tux_driver_acquire(struct tux_driver *d)
{
	unsigned i;

	for (i = 1; i <= HANDOVER_SPINS; i++) {
		uint32_t helper = atomic_load(&d->helper);

		if (helper == TUX_DRIVES)
			return false;
		if (tux_driver_take(d))
			return true;
		/* While it fills in, it holds on for one turn only. */
		if (helper != TUX_FILLS_IN)
			return false;
		if (i % (HANDOVER_SPINS / HANDOVER_YIELDS))
			tux_pause();
		else
			tux_sys_yield();
	}
	return false;
}

void tux_driver_turn(struct tux_driver *d)
{
	if (atomic_load(&d->helper) == TUX_DRIVES || !tux_driver_take(d))
		return;
	tux_loop_turn(d->loop);
	tux_driver_release(d, false);
}

void tux_driver_notice(struct tux_driver *d)
{
	if (atomic_load(&d->taken))
		return;
	if (!tux_helper_move(d, TUX_SLEEPS, TUX_WATCHES))
		kick_helper(d);
}
