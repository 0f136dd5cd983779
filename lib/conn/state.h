/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state - the transitions of a connection's life and of each direction's path
 *
 * These are three state machines; the transitions of each stand in one table
 * (state.c).  DESIGN and tux-wire(7) draw them.  A debug build asserts every
 * transition, the trace reports it, and t/sim/swarm counts it.
 */
#ifndef TUX_CONN_STATE_H
#define TUX_CONN_STATE_H

#include <stdint.h>

#include "conn/life.h"

struct tux_conn;

/* Bit b of entry a is set if state b may follow state a. */
extern const uint8_t tux_life_next[TUX_LIFE_N];
extern const uint8_t tux_tx_next[TUX_PATH_N];
extern const uint8_t tux_rx_next[TUX_PATH_N];

/* Each of these makes one transition, which its table must allow, and marks
 * TUX_DIRTY_LIFE or TUX_DIRTY_PATH. */
void tux_conn_set_life(struct tux_conn *c, enum tux_life to);
void tux_conn_set_tx(struct tux_conn *c, enum tux_path to);
void tux_conn_set_rx(struct tux_conn *c, enum tux_path to);

#endif
