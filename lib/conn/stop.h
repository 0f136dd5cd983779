/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stop - the application reads no more of what has come over Tux, until the peer
 * has sent it once more, over TCP
 *
 * The receiving direction is to become plain TCP, because code that does not know
 * Tux is to read it.  That code could not have the bytes of the ring.
 */
#ifndef TUX_CONN_STOP_H
#define TUX_CONN_STOP_H

#include <stdbool.h>

#include "base/time.h"

struct tux_conn;

/* Are the application's reads to stop? */
bool tux_stop_due(const struct tux_conn *c);

/* Stops them, if that is due; then the peer is to be told up to where the application
 * has read, rx.read_to.  False: the application holds the latch. */
bool tux_stop_rx(struct tux_conn *c, tux_time now);

/* Reads of the ring go on, if they had stopped.  @drop: the peer sends what was not
 * read once more, over TCP, and reads leave the ring out.  Else they take it from the
 * ring, and the loop skips those bytes if the peer does send them. */
void tux_stop_resume(struct tux_conn *c, bool drop);

/* A DATA frame has begun.  If the ring has no room for it, reads go on: what ends the
 * frames comes behind it. */
void tux_stop_data(struct tux_conn *c);

#endif
