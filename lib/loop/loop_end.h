/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop_end - what happens to one connection in a turn of its loop
 */
#ifndef TUX_LOOP_LOOP_END_H
#define TUX_LOOP_LOOP_END_H

#include "loop/end.h"
#include "loop/loop.h"

/* The doorbell of @e rang. */
void tux_loop_rung(struct tux_loop *l, struct tux_end *e);

/* The link has changed: ends that wait for a flow ask again, others may have lost
 * theirs. */
void tux_loop_link_changed(struct tux_loop *l);

/* Open end @e, which has heard nothing, is with loop @to from now on, and begins
 * anew there when it is rung for. */
void tux_loop_give_away(struct tux_loop *l, struct tux_end *e,
			struct tux_loop *to);

/* epoll reports @events of @e's TCP socket. */
void tux_loop_tcp(struct tux_loop *l, struct tux_end *e, uint32_t events);

/* Carries out the effects that the core has recorded.  How many ends those
 * concerned. */
unsigned tux_loop_effects(struct tux_loop *l);

#endif
