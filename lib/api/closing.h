/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * closing - how a connection ends
 */
#ifndef TUX_API_CLOSING_H
#define TUX_API_CLOSING_H

#include "api/api_in.h"

/* In its task: goes on ending it, if that was asked for or it broke. */
void tux_api_ending(struct tux_connection *c);

/* In its task: ends it without a word, and without an end of its socket, which the
 * program gets, as the result. */
int tux_api_hand_out(struct tux_connection *c);

/* Those that have waited for long enough. */
void tux_api_expire(struct tux *t);

#endif
