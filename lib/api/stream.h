/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream - a connection's bytes
 */
#ifndef TUX_API_STREAM_H
#define TUX_API_STREAM_H

#include "api/api_in.h"

/* TCP says readable, and the switch may be there: would a read give
 * something? */
bool tux_api_advance(struct tux_connection *c);

/* The direction is armed: have bytes come into the ring, behind those that are
 * left in TCP? */
bool tux_api_ring_grew(struct tux_connection *c);

/* Has the peer ended its stream since this was asked last, and are all bytes
 * here, read or not?  From then on tux_ended() says so. */
bool tux_api_find_end(struct tux_connection *c);

/* Reads away what nobody wants any more. */
void tux_api_discard(struct tux_connection *c);

#endif
