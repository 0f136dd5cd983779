/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * connection - the table of connections, their events, references
 */
#ifndef TUX_API_CONNECTION_H
#define TUX_API_CONNECTION_H

#include "api/api_in.h"

int tux_api_table_init(struct tux *t);
void tux_api_table_fini(struct tux *t);

/* An entry that is free, with what its last connection left; NULL: there are too
 * many. */
struct tux_connection *tux_api_take(struct tux *t);

/* It has come to nothing, and nobody has heard of it. */
void tux_api_forget(struct tux_connection *c);

/* Has the task look.  Any thread. */
void tux_api_raise(struct tux_connection *c, uint32_t events);

/* The same on the network thread, without a bell. */
void tux_api_raise_here(struct tux_connection *c, uint32_t events);

/* Something waits for the network thread: index 0 rings.  Any thread, and
 * signal handlers. */
void tux_api_ring(struct tux *t);

/* The loop's word for it, on the thread that drives. */
void tux_api_ready(void *user, struct tux_wakes *wakes);
void tux_api_decided(void *user, bool tux, enum tux_reason why);
void tux_api_over(void *user);

/* What rings for @c, of the caller's loop, is for its task, or, when that is through,
 * for us. */
void tux_api_dispatch(struct tux_connection *c);

/* The connection with index @i has rung at loop @t, the caller's. */
void tux_api_rung(struct tux *t, uint32_t i);

/* Frees what has died, if no task holds it. */
void tux_api_bury(struct tux *t);

/* TCP as the duplex uses it. */
struct tux_tcp tux_api_tcp(struct tux_connection *c);

#endif
