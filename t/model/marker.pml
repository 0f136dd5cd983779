/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marker - bytes of the application that look like a marker, or begin like one,
 * and silence behind them
 */
#define WAYS 1
#ifndef BYTES
#define BYTES 4
#endif
#define GENS 2
#ifndef AHEAD
#define AHEAD 1
#endif
#define ROOM 2
#define RINGCAP 2
#define SWITCHES 0
#define LOOKALIKE
#define SILENCE
#define DIES

#include "way.pml"
#include "ends.pml"

init {
	atomic {
		run app_tx(0); run loop_tx(0); run loop_ring(0);
		run app_rx(0); run loop_rx(0); run world(); run referee(0)
	}
}
