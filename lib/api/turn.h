/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turn - one turn of the network thread
 */
#ifndef TUX_API_TURN_H
#define TUX_API_TURN_H

#include "api/api_in.h"

/* Begins to drive @t and the loops linked behind it by next_run, and ends it: 0,
 * -EBUSY, -EOWNERDEAD. */
int tux_api_begin(struct tux *t);
void tux_api_end(struct tux *t);

/* Another thread may drive the loop from now on; _all: those that the thread of @t
 * runs, which is the caller. */
void tux_api_release(struct tux *t);
void tux_api_release_all(struct tux *t);

/* The loop, rings, epoll, one slice: how many things were found. */
unsigned tux_api_turn(struct tux *t);

/* After a turn that found something, or not: look again without sleeping? */
bool tux_api_goes_on(struct tux *t, bool busy);

#endif
