/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop_pass - what comes to one loop of a stack for another one: rings and datagrams, and
 * with these, ends
 */
#ifndef TUX_LOOP_LOOP_PASS_H
#define TUX_LOOP_LOOP_PASS_H

#include "loop/loop.h"

/* End @e has rung at @l.  The thread that rang may not know yet that the end has another
 * loop: the ring is passed on to that. */
void tux_loop_take_ring(struct tux_loop *l, struct tux_end *e);

/* Takes in the datagrams that other loops have passed on: how many.  An end that hears its
 * first packet in one may go to the loop that has received it. */
unsigned tux_loop_take_forwarded(struct tux_loop *l);

#endif
