/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * again - a direction that leaves Tux becomes plain, and moves once more, with
 * a new generation
 */
#define WAYS 1
#ifndef BYTES
#define BYTES 3
#endif
#define GENS 2
#ifndef AHEAD
#define AHEAD 0
#endif
#define ROOM 3
#define RINGCAP 2
#define SWITCHES 0
#define LEAVES 1
#define SILENCE
#define DIES
#ifdef ALSO_RAW
#define RAWS(w) true
#endif

#include "way.pml"
#include "ends.pml"

init {
	atomic {
		way[0].st = ACKED; way[0].gen = 1; way[0].mgen = 1;
		way[0].reals = 1; way[0].doubt = 1;
		way[0].rst = ARMED; way[0].rgen = 1;
		run app_tx(0); run loop_tx(0); run loop_ring(0);
		run app_rx(0); run loop_rx(0); run world(); run referee(0)
	}
}
