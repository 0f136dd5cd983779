/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * state - which state of a connection, and which path of a direction, may follow
 * which
 *
 * Three small machines.  Their transitions stand in one table each (state.c);
 * DESIGN and tux-wire(7) draw them.  A debug build asserts every transition,
 * the trace tells it, and t/sim/swarm counts it.
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

/* Each makes one transition, and marks that the life or a path has changed. */
void tux_conn_set_life(struct tux_conn *c, enum tux_life to);
void tux_conn_set_tx(struct tux_conn *c, enum tux_path to);
void tux_conn_set_rx(struct tux_conn *c, enum tux_path to);

#endif
