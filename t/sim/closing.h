/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * closing - where a connection may be when one end leaves it
 */
#ifndef SIM_CLOSING_H
#define SIM_CLOSING_H

#include "sim.h"

enum where {
	PLAIN,			/* the peer has no Tux */
	OPENING,		/* HELLOs are under way */
	ANNOUNCED,		/* PREPARE is under way */
	ARMED,			/* PREPARED is under way */
	SWITCHED,
	BACK,			/* on TCP again, in frames */
	WHERES,
};

/* Brings a new connection between hosts a and b there. */
static inline void bring(struct sim *s, enum where w, struct sim_end **a,
			 struct sim_end **b)
{
	static const tux_time at[] = {
		[PLAIN] = TUX_MSEC(50), [OPENING] = TUX_USEC(1500),
		[ANNOUNCED] = TUX_USEC(2500), [ARMED] = TUX_USEC(3500),
		[SWITCHED] = TUX_MSEC(50), [BACK] = TUX_MSEC(50),
	};

	sim_pair(s, a, b);
	(*b)->plan.plain = w == PLAIN;
	sim_run(s, at[w]);
	if (w == BACK) {
		sim_part(s, 0, 1, true);
		sim_write(*a, 100);
		sim_write(*b, 100);
		sim_ms(s, 1200);
	}
	if (w >= SWITCHED)
		SIM_CHECK(s, (*a)->was_tx && (*b)->was_tx);
	SIM_CHECK(s, w != BACK || ((*a)->got == 100 && (*b)->got == 100 &&
				   !tux_conn_tx_on_tux((*a)->c)));
}

#endif
