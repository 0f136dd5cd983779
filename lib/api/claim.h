/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * claim - when a connection may move to Tux: at once, later, or never
 */
#ifndef TUX_API_CLAIM_H
#define TUX_API_CLAIM_H

#include "api/api_in.h"

/* @c is established, and not told of yet.  A connection with messages is
 * claimed, and so is any in mode TUX_USE_TUX.  In mode TUX_USE_AUTO it becomes a
 * candidate.  Or it stays on TCP, and c->why says why. */
void tux_api_claim_begin(struct tux_connection *c);

/* For the task of @c: claims it if it is a candidate that is worth Tux now. */
void tux_api_claim_look(struct tux_connection *c);

#endif
