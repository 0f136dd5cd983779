/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prepare - from TCP to Tux: generations, writes past N, withdrawals, losses
 */
#define WAYS 1
#ifndef BYTES
#define BYTES 4
#endif
#define GENS 2
#ifndef AHEAD
#define AHEAD 2
#endif
#define ROOM 3
#define RINGCAP 2
#define SWITCHES 0
#define LOSSES 1
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
