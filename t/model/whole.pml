/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whole - from TCP to Tux, back and again, with a reader who may be slow, the
 * end at any moment and kill -9
 */
#define WAYS 1
#ifndef BYTES
#define BYTES 3
#endif
#define GENS 1
#ifndef AHEAD
#define AHEAD 1
#endif
#define ROOM 3
#define RINGCAP 1
#define SWITCHES 1
#define SILENCE
#define DIES
#define CRASHES

#include "way.pml"
#include "ends.pml"

init {
	atomic {
		run app_tx(0); run loop_tx(0); run loop_ring(0);
		run app_rx(0); run loop_rx(0); run world(); run referee(0)
	}
}
