/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * upgrade - a connection moves from TCP to Tux
 */
#include "sim.h"

static void quiet(struct sim *s)
{
	struct sim_end *a, *b;

	s->only = SIM_OPENING | SIM_SWITCH | SIM_T(MARKER_OUT);
	sim_pair(s, &a, &b);
	sim_write(a, 100);
	sim_ms(s, 100);
	sim_write(a, 100);
	sim_write(b, 100);
	sim_finish(a);
	sim_finish(b);
	sim_run_out(s, TUX_SEC(10));
	SIM_TRACE(s, "");
}

const struct sim_story sim_stories[] = {
	{ "quiet", quiet },
	{ NULL, NULL },
};
