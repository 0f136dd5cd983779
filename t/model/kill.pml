/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kill - from TCP to Tux, with kill -9 of either end and with children of
 * either end that take part, at any moment
 */
#define WAYS 1
#ifndef BYTES
#define BYTES 3
#endif
#define GENS 2
#ifndef AHEAD
#define AHEAD 1
#endif
#define ROOM 3
#define RINGCAP 2
#define SWITCHES 0
#define SILENCE
#define CRASHES
#define FORKS

#include "way.pml"
#include "ends.pml"

init {
	atomic {
		run app_tx(0); run loop_tx(0); run loop_ring(0);
		run app_rx(0); run loop_rx(0); run world(); run referee(0)
	}
}
