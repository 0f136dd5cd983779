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

/* The connection is broken.  The application can read what has arrived in
 * order, and then gets the errno @err; the settle step sees to that.  If @why
 * is not TUX_REASON_NONE, a RESET with it tells the peer.  A second call does
 * nothing. */
void tux_conn_die(struct tux_conn *c, int err, enum tux_reason why);

/* The peer's RESET has come in a packet.  The connection dies when the bytes
 * that TCP still brings have been read, or after a second. */
void tux_conn_told_reset(struct tux_conn *c, tux_time now);

/* The handler of tux_conn_rung(). */
void tux_conn_doorbell(struct tux_conn *c, uint32_t bits, tux_time now);

#endif
