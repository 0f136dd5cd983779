/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_life - the doorbell, closing and death of a connection
 */
#ifndef TUX_CONN_CONN_LIFE_H
#define TUX_CONN_CONN_LIFE_H

#include <stdint.h>

#include "wire/reason.h"
#include "base/time.h"

struct tux_conn;

/* The connection is broken: the application reads what is complete, then sees
 * @err (an errno).  With @why, the peer is told in a RESET.  The settle step does
 * that, once. */
void tux_conn_die(struct tux_conn *c, int err, enum tux_reason why);

/* The peer says over Tux that the connection is broken. */
void tux_conn_told_reset(struct tux_conn *c, tux_time now);

/* The doorbell rang with @bits (TUX_DOORBELL_*). */
void tux_conn_doorbell(struct tux_conn *c, uint32_t bits, tux_time now);

#endif
