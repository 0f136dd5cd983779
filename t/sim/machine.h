/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine - the states of an end, and which may follow which
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "seen.h"

/* state, its name */
#define SIM_OPEN_STATES(X) \
	X(OPEN_ASKING, "asking") \
	X(OPEN_HEARD, "heard")		/* the peer, but no echo */ \
	X(OPEN_SILENT, "silent")	/* nobody answers */ \
	X(OPEN_PROVED, "proved")

#define SIM_TX_STATES(X) \
	X(TX_PLAIN, "plain") \
	X(TX_PINNED, "pinned")		/* plain for good */ \
	X(TX_DOUBT, "doubt")		/* plain; the peer may be armed */ \
	X(TX_DISARMING, "disarming")	/* ... and is asked not to be */ \
	X(TX_ANNOUNCED, "announced") \
	X(TX_ACKED, "acked") \
	X(TX_MARKER, "marker")		/* TCP has a part of it */ \
	X(TX_RING, "ring") \
	X(TX_HOLD, "hold")		/* about to be plain; writes wait */ \
	X(TX_RAW, "raw")

#define SIM_RX_STATES(X) \
	X(RX_PLAIN, "plain") \
	X(RX_PINNED, "pinned") \
	X(RX_SPILL, "spill")		/* of what seemed a marker */ \
	X(RX_ARMED, "armed") \
	X(RX_HELD, "held")		/* a part of the marker is here */ \
	X(RX_MARKER, "marker")		/* ring; a part of it still in TCP */ \
	X(RX_RING, "ring") \
	X(RX_RAW, "raw")

#define SIM_OUT_STATES(X) \
	X(OUT_NONE, "none") \
	X(OUT_AWAY, "away")		/* not switched; the path is silent */ \
	X(OUT_SWITCH, "switch")		/* in frames; about to come back */

#define SIM_END_STATES(X) \
	X(END_OPEN, "open") \
	X(END_SHUT, "shut")		/* the program sends no more */ \
	X(END_DONE, "done")		/* and the peer has it all */ \
	X(END_CLOSED, "closed") \
	X(END_LINGER, "linger")		/* closed, and the peer has it all */ \
	X(END_GONE, "gone")

#define SIM_WAY_STATES(X) \
	X(WAY_NONE, "none") \
	X(WAY_ALONE, "alone") \
	X(WAY_SHARED, "shared") \
	X(WAY_TAIL, "tail")		/* the tail is probed */ \
	X(WAY_TIMEOUT, "timeout") \
	X(WAY_DOWN, "down")

#define SIM_LENGTH_STATES(X) \
	X(LENGTH_WHOLE, "whole")	/* what the interface takes */ \
	X(LENGTH_DOUBT, "doubt")	/* long ones have vanished */ \
	X(LENGTH_FLOOR, "floor") \
	X(LENGTH_PROBE, "probe") \
	X(LENGTH_SHORT, "short")	/* found */

#define SIM_ECN_STATES(X) \
	X(ECN_GOOD, "good") \
	X(ECN_BLEACHED, "bleached") \
	X(ECN_INVENTED, "invented") \
	X(ECN_ALL_CE, "all_ce") \
	X(ECN_HOLE, "hole")

#define SIM_MSG_OUT_STATES(X) \
	X(MSG_OUT_NONE, "none") \
	X(MSG_OUT_FRESH, "fresh")	/* begun, nothing is sent */ \
	X(MSG_OUT_PART, "part") \
	X(MSG_OUT_SENT, "sent") \
	X(MSG_OUT_LOST, "lost")		/* some of it, and must go again */ \
	X(MSG_OUT_BACK, "back")		/* taken back */

#define SIM_MSG_IN_STATES(X) \
	X(MSG_IN_NONE, "none") \
	X(MSG_IN_PART, "part") \
	X(MSG_IN_WAITS, "waits")	/* whole, but it is not its turn */ \
	X(MSG_IN_WHOLE, "whole") \
	X(MSG_IN_GONE, "gone")		/* taken back */

#define X(state, name) SIM_##state,
enum { SIM_OPEN_STATES(X) SIM_N_OPEN };
enum { SIM_TX_STATES(X) SIM_N_TX };
enum { SIM_RX_STATES(X) SIM_N_RX };
enum { SIM_OUT_STATES(X) SIM_N_OUT };
enum { SIM_END_STATES(X) SIM_N_END };
enum { SIM_WAY_STATES(X) SIM_N_WAY };
enum { SIM_LENGTH_STATES(X) SIM_N_LENGTH };
enum { SIM_ECN_STATES(X) SIM_N_ECN };
enum { SIM_MSG_OUT_STATES(X) SIM_N_MSG_OUT };
enum { SIM_MSG_IN_STATES(X) SIM_N_MSG_IN };
#undef X

#endif
