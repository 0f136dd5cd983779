/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine - which state may follow which
 *
 * Steps that must come about, and others that may: such as are rare, and such
 * as skip a state, for between two looks more than one step may be made.  The
 * core's machines have the core's tables.
 */
#include "conn/state.h"
#include "machine.h"

#define TO(state) 1u << SIM_##state
#define X(state, name) name,

#define PATHS \
	[TUX_PATH_PLAIN] = "plain", [TUX_PATH_TUX] = "tux", \
	[TUX_PATH_FRAMES] = "frames", [TUX_PATH_RAW] = "raw"

const struct sim_state_table sim_machines[SIM_MACHINES] = {
	[SIM_M_LIFE] = {
		.name = "life",
		.n = TUX_LIFE_N,
		.state = {
			[TUX_LIFE_OPENING] = "opening",
			[TUX_LIFE_OWNING] = "owning",
			[TUX_LIFE_REFUSED] = "refused",
			[TUX_LIFE_PROVED] = "proved",
			[TUX_LIFE_DEAD] = "dead",
			[TUX_LIFE_GONE] = "gone",
		},
		.core = tux_life_next,
	},
	[SIM_M_TX_PATH] = {
		.name = "tx path",
		.n = TUX_PATH_N,
		.state = { PATHS },
		.core = tux_tx_next,
	},
	[SIM_M_RX_PATH] = {
		.name = "rx path",
		.n = TUX_PATH_N,
		.state = { PATHS },
		.core = tux_rx_next,
	},
	[SIM_M_OPEN] = {
		.name = "open",
		.n = SIM_N_OPEN,
		.state = { SIM_OPEN_STATES(X) },
		.must = {
			[SIM_OPEN_ASKING] = TO(OPEN_HEARD) | TO(OPEN_SILENT) |
				TO(OPEN_PROVED),
			[SIM_OPEN_HEARD] = TO(OPEN_SILENT) | TO(OPEN_PROVED),
			[SIM_OPEN_SILENT] = TO(OPEN_PROVED),
		},
		.may = {
			[SIM_OPEN_HEARD] = TO(OPEN_ASKING),
			[SIM_OPEN_SILENT] = TO(OPEN_ASKING) | TO(OPEN_HEARD),
		},
	},
	[SIM_M_TX] = {
		.name = "tx",
		.n = SIM_N_TX,
		.state = { SIM_TX_STATES(X) },
		.must = {
			[SIM_TX_PLAIN] = TO(TX_PINNED) | TO(TX_ANNOUNCED),
			[SIM_TX_DOUBT] = TO(TX_PLAIN) | TO(TX_DISARMING),
			[SIM_TX_DISARMING] = TO(TX_PLAIN) | TO(TX_PINNED) |
				TO(TX_ANNOUNCED),
			[SIM_TX_ANNOUNCED] = TO(TX_PLAIN) | TO(TX_DOUBT) |
				TO(TX_ACKED),
			[SIM_TX_ACKED] = TO(TX_DOUBT) | TO(TX_MARKER) |
				TO(TX_RING),
			[SIM_TX_MARKER] = TO(TX_RING),
			[SIM_TX_RING] = TO(TX_HOLD),
			[SIM_TX_HOLD] = TO(TX_RAW) | TO(TX_PLAIN),
		},
		.may = {
			/* Announced, and taken back for good, in one doorbell. */
			[SIM_TX_PLAIN] = TO(TX_DOUBT),
			[SIM_TX_DISARMING] = TO(TX_DOUBT),
			[SIM_TX_DOUBT] = TO(TX_PINNED),
			[SIM_TX_ANNOUNCED] = TO(TX_PINNED) | TO(TX_MARKER) |
				TO(TX_RING),
			[SIM_TX_ACKED] = TO(TX_PLAIN) | TO(TX_PINNED),
			[SIM_TX_RING] = TO(TX_RAW) | TO(TX_PLAIN),
			/* Shut while it waited, or announced at once. */
			[SIM_TX_HOLD] = TO(TX_RING) | TO(TX_PINNED) |
				TO(TX_ANNOUNCED),
		},
	},
	[SIM_M_RX] = {
		.name = "rx",
		.n = SIM_N_RX,
		.state = { SIM_RX_STATES(X) },
		.must = {
			[SIM_RX_PLAIN] = TO(RX_PINNED) | TO(RX_ARMED),
			[SIM_RX_SPILL] = TO(RX_PLAIN),
			[SIM_RX_ARMED] = TO(RX_PLAIN) | TO(RX_PINNED) |
				TO(RX_HELD) | TO(RX_MARKER) | TO(RX_RING),
			[SIM_RX_HELD] = TO(RX_SPILL) | TO(RX_RING),
			[SIM_RX_MARKER] = TO(RX_RING),
			[SIM_RX_RING] = TO(RX_RAW) | TO(RX_PLAIN),
		},
		.may = {
			[SIM_RX_PLAIN] = TO(RX_SPILL),
			[SIM_RX_SPILL] = TO(RX_PINNED) | TO(RX_ARMED),
			[SIM_RX_ARMED] = TO(RX_SPILL),
			[SIM_RX_HELD] = TO(RX_PLAIN) | TO(RX_PINNED) |
				TO(RX_ARMED) | TO(RX_MARKER),
			[SIM_RX_RING] = TO(RX_PINNED) | TO(RX_ARMED),
			[SIM_RX_MARKER] = TO(RX_PLAIN),
		},
	},
	[SIM_M_OUT] = {
		.name = "out",
		.n = SIM_N_OUT,
		.state = { SIM_OUT_STATES(X) },
		.must = {
			[SIM_OUT_NONE] = TO(OUT_AWAY) | TO(OUT_SWITCH),
			[SIM_OUT_AWAY] = TO(OUT_NONE),
			[SIM_OUT_SWITCH] = TO(OUT_NONE),
		},
	},
	[SIM_M_END] = {
		.name = "end",
		.n = SIM_N_END,
		.state = { SIM_END_STATES(X) },
		.must = {
			[SIM_END_OPEN] = TO(END_SHUT) | TO(END_GONE),
			[SIM_END_SHUT] = TO(END_DONE) | TO(END_CLOSED) |
				TO(END_LINGER) | TO(END_GONE),
			[SIM_END_DONE] = TO(END_LINGER) | TO(END_GONE),
			[SIM_END_CLOSED] = TO(END_LINGER) | TO(END_GONE),
			[SIM_END_LINGER] = TO(END_GONE),
		},
		.may = {
			[SIM_END_OPEN] = TO(END_CLOSED) | TO(END_DONE) |
				TO(END_LINGER),
		},
	},
	[SIM_M_WAY] = {
		.name = "way",
		.n = SIM_N_WAY,
		.state = { SIM_WAY_STATES(X) },
		.must = {
			[SIM_WAY_NONE] = TO(WAY_ALONE) | TO(WAY_SHARED),
			[SIM_WAY_ALONE] = TO(WAY_SHARED) | TO(WAY_TAIL),
			[SIM_WAY_SHARED] = TO(WAY_ALONE) | TO(WAY_TAIL),
			[SIM_WAY_TAIL] = TO(WAY_ALONE) | TO(WAY_SHARED) |
				TO(WAY_TIMEOUT),
			[SIM_WAY_TIMEOUT] = TO(WAY_ALONE) | TO(WAY_SHARED) |
				TO(WAY_DOWN),
			[SIM_WAY_DOWN] = TO(WAY_TIMEOUT),
		},
		.may = {
			[SIM_WAY_NONE] = TO(WAY_TAIL) | TO(WAY_TIMEOUT) |
				TO(WAY_DOWN),
			[SIM_WAY_ALONE] = TO(WAY_NONE) | TO(WAY_TIMEOUT) |
				TO(WAY_DOWN),
			[SIM_WAY_SHARED] = TO(WAY_NONE) | TO(WAY_TIMEOUT) |
				TO(WAY_DOWN),
			[SIM_WAY_TAIL] = TO(WAY_NONE) | TO(WAY_DOWN),
			[SIM_WAY_TIMEOUT] = TO(WAY_NONE) | TO(WAY_TAIL),
			[SIM_WAY_DOWN] = TO(WAY_NONE) | TO(WAY_ALONE) |
				TO(WAY_SHARED) | TO(WAY_TAIL),
		},
	},
	[SIM_M_LENGTH] = {
		.name = "length",
		.n = SIM_N_LENGTH,
		.state = { SIM_LENGTH_STATES(X) },
		.must = {
			[SIM_LENGTH_WHOLE] = TO(LENGTH_DOUBT),
			[SIM_LENGTH_DOUBT] = TO(LENGTH_WHOLE) |
				TO(LENGTH_FLOOR),
			[SIM_LENGTH_FLOOR] = TO(LENGTH_SHORT),
			[SIM_LENGTH_PROBE] = TO(LENGTH_SHORT),
			[SIM_LENGTH_SHORT] = TO(LENGTH_FLOOR) |
				TO(LENGTH_PROBE),
		},
		.may = {
			[SIM_LENGTH_WHOLE] = TO(LENGTH_FLOOR) |
				TO(LENGTH_PROBE) | TO(LENGTH_SHORT),
			[SIM_LENGTH_DOUBT] = TO(LENGTH_PROBE) |
				TO(LENGTH_SHORT),
			[SIM_LENGTH_FLOOR] = TO(LENGTH_WHOLE) |
				TO(LENGTH_DOUBT) | TO(LENGTH_PROBE),
			[SIM_LENGTH_PROBE] = TO(LENGTH_WHOLE) |
				TO(LENGTH_DOUBT) | TO(LENGTH_FLOOR),
			[SIM_LENGTH_SHORT] = TO(LENGTH_WHOLE) |
				TO(LENGTH_DOUBT),
		},
	},
	[SIM_M_ECN] = {
		.name = "ecn",
		.n = SIM_N_ECN,
		.state = { SIM_ECN_STATES(X) },
		.must = {
			[SIM_ECN_GOOD] = TO(ECN_BLEACHED) | TO(ECN_INVENTED) |
				TO(ECN_ALL_CE) | TO(ECN_HOLE),
		},
		.may = {
			[SIM_ECN_BLEACHED] = TO(ECN_GOOD),
			[SIM_ECN_INVENTED] = TO(ECN_GOOD),
			[SIM_ECN_ALL_CE] = TO(ECN_GOOD),
			[SIM_ECN_HOLE] = TO(ECN_GOOD),
		},
	},
	[SIM_M_MSG_OUT] = {
		.name = "msg_out",
		.n = SIM_N_MSG_OUT,
		.state = { SIM_MSG_OUT_STATES(X) },
		.must = {
			[SIM_MSG_OUT_NONE] = TO(MSG_OUT_FRESH) |
				TO(MSG_OUT_PART) | TO(MSG_OUT_SENT) |
				TO(MSG_OUT_BACK),
			[SIM_MSG_OUT_FRESH] = TO(MSG_OUT_NONE) |
				TO(MSG_OUT_PART) | TO(MSG_OUT_SENT),
			[SIM_MSG_OUT_PART] = TO(MSG_OUT_NONE) |
				TO(MSG_OUT_SENT) | TO(MSG_OUT_LOST),
			[SIM_MSG_OUT_SENT] = TO(MSG_OUT_NONE) |
				TO(MSG_OUT_FRESH) | TO(MSG_OUT_LOST),
			[SIM_MSG_OUT_LOST] = TO(MSG_OUT_NONE) |
				TO(MSG_OUT_PART) | TO(MSG_OUT_SENT),
			[SIM_MSG_OUT_BACK] = TO(MSG_OUT_NONE),
		},
		.may = {
			[SIM_MSG_OUT_NONE] = TO(MSG_OUT_LOST),
			[SIM_MSG_OUT_FRESH] = TO(MSG_OUT_BACK) |
				TO(MSG_OUT_LOST),
			[SIM_MSG_OUT_PART] = TO(MSG_OUT_BACK) |
				TO(MSG_OUT_FRESH),
			[SIM_MSG_OUT_SENT] = TO(MSG_OUT_PART),
			[SIM_MSG_OUT_LOST] = TO(MSG_OUT_FRESH) |
				TO(MSG_OUT_BACK),
		},
	},
	[SIM_M_MSG_IN] = {
		.name = "msg_in",
		.n = SIM_N_MSG_IN,
		.state = { SIM_MSG_IN_STATES(X) },
		.must = {
			[SIM_MSG_IN_NONE] = TO(MSG_IN_PART) |
				TO(MSG_IN_WAITS) | TO(MSG_IN_WHOLE) |
				TO(MSG_IN_GONE),
			[SIM_MSG_IN_PART] = TO(MSG_IN_NONE) |
				TO(MSG_IN_WAITS) | TO(MSG_IN_WHOLE),
			[SIM_MSG_IN_WAITS] = TO(MSG_IN_WHOLE),
			[SIM_MSG_IN_WHOLE] = TO(MSG_IN_NONE),
			[SIM_MSG_IN_GONE] = TO(MSG_IN_NONE),
		},
		.may = {
			[SIM_MSG_IN_PART] = TO(MSG_IN_GONE),
			[SIM_MSG_IN_WAITS] = TO(MSG_IN_NONE),
		},
	},
};
