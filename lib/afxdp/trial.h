/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trial - does a packet really leave, and does one come back?
 *
 * A driver may accept zero copy and then keep every packet.  So it is on trial
 * from the first packet that is sent: in time, one must have been given back as
 * sent, and one must have arrived.  The first HELLOs are what it is tried with.
 */
#ifndef TUX_AFXDP_TRIAL_H
#define TUX_AFXDP_TRIAL_H

#include <stdint.h>

#include "base/time.h"

enum tux_trial_state {
	TUX_TRIAL_NONE,			/* nothing is tried */
	TUX_TRIAL_RUNS,
	TUX_TRIAL_PASSED,
	TUX_TRIAL_STUCK,		/* nothing that was sent has left */
	TUX_TRIAL_DEAF,			/* it has, but nothing has arrived */
};

struct tux_trial {
	enum tux_trial_state state;
	tux_time since;			/* a packet was sent; TUX_NEVER: none */
};

void tux_trial_begin(struct tux_trial *t);

/* So far, @sent packets were handed to the driver, @left of them have come back
 * as sent, and @came have arrived.  The state, which may be another now. */
enum tux_trial_state tux_trial_look(struct tux_trial *t, uint64_t sent,
				    uint64_t left, uint64_t came, tux_time now);

#endif
