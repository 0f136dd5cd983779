/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/trial.h"

/* HELLO is sent five times in three seconds, and a driver that has just been
 * set up may need one of them. */
enum { TRIAL_MS = 3000 };

void tux_trial_begin(struct tux_trial *t)
{
	t->state = TUX_TRIAL_RUNS;
	t->since = TUX_NEVER;
}

enum tux_trial_state tux_trial_look(struct tux_trial *t, uint64_t sent,
				    uint64_t left, uint64_t came, tux_time now)
{
	if (t->state != TUX_TRIAL_RUNS)
		return t->state;
	if (sent && t->since == TUX_NEVER)
		t->since = now;
	if (left && came)
		t->state = TUX_TRIAL_PASSED;
	else if (tux_time_since(t->since, now) >= TUX_MSEC(TRIAL_MS))
		t->state = left ? TUX_TRIAL_DEAF : TUX_TRIAL_STUCK;
	return t->state;
}
