/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reset - the sending end gives the connection up at any moment: before the
 * switch, amid its marker, on Tux, on the way back and again
 */
#define WAYS 1
#ifndef BYTES
#define BYTES 2
#endif
#define GENS 1
#ifndef AHEAD
#define AHEAD 1
#endif
#define ROOM 3
#define RINGCAP 2
#define SWITCHES 1
#define DIES
#define BREAKS

#include "way.pml"
#include "ends.pml"

init {
	atomic {
		run app_tx(0); run loop_tx(0); run loop_ring(0);
		run app_rx(0); run loop_rx(0); run world(); run referee(0)
	}
}
