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

/* Reads away what nobody wants any more. */
void tux_api_discard(struct tux_connection *c);

#endif
