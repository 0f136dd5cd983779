/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stories ask of applications.
 */
#include "sim.h"

void sim_write(struct sim_end *e, uint64_t n)
{
	e->goal += n;
	sim_app_wake(e);
}

void sim_finish(struct sim_end *e)
{
	e->plan.finish = true;
	sim_app_wake(e);
}

void sim_pause(struct sim_end *e, bool on)
{
	e->paused = on;
	sim_app_wake(e);
}

void sim_close(struct sim_end *e)
{
	sim_app_close(e, false);
}

void sim_abort(struct sim_end *e)
{
	sim_app_close(e, true);
}

void sim_raw(struct sim_end *e)
{
	atomic_fetch_or(&e->dx->rung, TUX_RING_RAW);
	sim_host_bell(e);
}

bool sim_pin(struct sim_end *e)
{
	struct tux_duplex *d = e->dx;

	if (atomic_load(&d->tx.state) >= TUX_TX_RING ||
	    atomic_load(&d->rx.state) != TUX_RX_PLAIN)
		return false;
	tux_duplex_withdraw(d);
	d->tx.pinned = d->rx.pinned = 1;
	return true;
}
