/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * back - the way back to TCP, and again to Tux
 *
 * A direction whose Tux path has gone quiet goes on in frames over TCP, from the
 * last byte that the peer has acknowledged.  It tries the path again later.  RAW
 * ends Tux for good.
 */
#ifndef TUX_CONN_BACK_H
#define TUX_CONN_BACK_H

#include "base/time.h"
#include "wire/reason.h"

struct tux_conn;

/* The sending direction of @c, if it is on Tux, goes on in frames. */
void tux_back(struct tux_conn *c, tux_time now);

/* The application has something to send.  If other connections of the pair have
 * found that nobody answers, @c goes back now, rather than to find out itself. */
void tux_back_early(struct tux_conn *c, tux_time now);

/* The UDP path to the peer is known to be closed, or to be open again: packets
 * that were sent before are not accepted any more. */
void tux_back_stalled(struct tux_conn *c, tux_time now);
void tux_back_unstalled(struct tux_conn *c, tux_time now);

/* Plain TCP is wanted for good, in both directions.  The first @why counts. */
void tux_back_raw(struct tux_conn *c, enum tux_reason why);

/* The SWITCH frame has gone into TCP. */
void tux_back_again(struct tux_conn *c, tux_time now);

/* ---- for the settle step ---- */

/* The path has answered while frames carry the direction: SWITCH is due. */
void tux_back_alive(struct tux_conn *c);

/* Plain TCP is wanted: a direction that has not switched never will, and the
 * peer is told. */
void tux_back_pin(struct tux_conn *c, tux_time now);

/* ... and a direction that has drained in frames ends with a RAW frame. */
void tux_back_raw_step(struct tux_conn *c, tux_time now);

#endif
