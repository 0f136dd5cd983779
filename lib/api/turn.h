/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * turn - one turn of the network thread, and what surrounds its sleep
 */
#ifndef TUX_API_TURN_H
#define TUX_API_TURN_H

#include "api/api_in.h"

/* Begins to drive, and ends it: 0, -EBUSY, -EOWNERDEAD. */
int tux_api_begin(struct tux *t);
void tux_api_end(struct tux *t);

/* Another thread may drive the loop from now on. */
void tux_api_release(struct tux *t);

/* The loop, rings, epoll, one slice: how many things were found. */
unsigned tux_api_turn(struct tux *t);

/* After a turn that found something, or not: look again without sleeping? */
bool tux_api_goes_on(struct tux *t, bool busy);

/* When the next turn is due, if nothing comes. */
tux_time tux_api_deadline(struct tux *t);

/* The network thread is about to sleep: false if it must not.  In either case
 * tux_api_finish_sleep() follows, with what tux_poll() returned or would have
 * returned. */
bool tux_api_prepare_sleep(struct tux *t);
void tux_api_finish_sleep(struct tux *t, int got);

/* Nobody drives: tux_fd() is readable until somebody does.  And: somebody does
 * again. */
void tux_api_beckon(struct tux *t);
void tux_api_awake(struct tux *t);

#endif
