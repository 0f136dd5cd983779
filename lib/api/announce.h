/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * announce - TCP listeners, as their peers know of them: that connections may
 * move to Tux, and where the stack hears of it
 */
#ifndef TUX_API_ANNOUNCE_H
#define TUX_API_ANNOUNCE_H

#include "api/api_in.h"

/* Tells the peers of @a's socket how it is with its connections.  To be called
 * before listen(), where that is possible: then no peer is missed. */
void tux_api_mark(struct tux *t, struct tux_announced *a);

/* The socket has an address: the stack listens for @a, too, or says why not. */
int tux_api_reach(struct tux *t, struct tux_announced *a);
void tux_api_unreach(struct tux *t, struct tux_announced *a);

/* A connection of @a was accepted: tells its peers again, if that is due. */
void tux_api_remark(struct tux *t, struct tux_announced *a);

/* Has the program announced the listener that has accepted the socket @fd, which
 * has the address @local?  Then tells its peers again, if that is due, and stores
 * in *@why if and why its connections stay on TCP. */
bool tux_api_announced(struct tux *t, int fd, const struct tux_addr *local,
		       enum tux_reason *why);

/* Forgets the socket @fd, if it was announced as a listener. */
void tux_api_unannounce(struct tux *t, int fd);

/* The stack ends: forgets the listeners of the program's own. */
void tux_api_unannounce_all(struct tux *t);

#endif
