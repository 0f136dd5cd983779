/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What stories ask of applications.
 */
#include "sim.h"

#include <errno.h>

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
	e->rawed = true;
	atomic_fetch_or(&e->dx->rung, TUX_DOORBELL_RAW);
	sim_host_bell(e);
}

void sim_share(struct sim_end *e)
{
	e->rawed = true;
	atomic_fetch_or(&e->dx->rung, TUX_DOORBELL_SHARE);
	sim_host_bell(e);
}

void sim_alone(struct sim_end *e)
{
	atomic_fetch_or(&e->dx->rung, TUX_DOORBELL_WOKE);
	sim_host_bell(e);
}

void sim_leave(struct sim_end *e)
{
	atomic_fetch_or(&e->dx->rung, TUX_DOORBELL_LEAVE);
	if (e->owned) {
		e->owned = false;
		sim_tcp_put(e, false);
	}
	sim_host_bell(e);
}

bool sim_pin(struct sim_end *e)
{
	return tux_duplex_pin(e->dx) != -EBUSY;
}
