/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path - from the acknowledged generation on: back to TCP, again to Tux,
 * several times; the end; RAW
 */
#define WAYS 1
#ifndef BYTES
#define BYTES 3
#endif
#define GENS 1
#ifndef AHEAD
#define AHEAD 0
#endif
#define ROOM 3
#define RINGCAP 2
#define SWITCHES 2
#define SILENCE
#define DIES
#define RAWS(w) true

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
