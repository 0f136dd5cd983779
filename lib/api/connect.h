/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * connect - how connections begin
 */
#ifndef TUX_API_CONNECT_H
#define TUX_API_CONNECT_H

#include "api/api_in.h"

/* A fresh connection of @s, on loop @t.  The caller counts it in
 * t->connections_now.  NULL: there are too many. */
struct tux_connection *tux_api_new(struct tux *t, struct tux_service *s, int fd,
				   bool active);

/* epoll reports a socket that connects. */
void tux_api_connecting(struct tux_connection *c);

/* The socket of @c is connected: watches it, and claims it, if it may move now.
 * TUX_EVENT_OPEN is due.  0; -ENOTCONN: the peer has reset it already; or another
 * errno: nothing has happened. */
int tux_api_establish(struct tux_connection *c);

/* Has the epoll instance of its loop tell what TCP has.  -errno. */
int tux_api_watch_tcp(struct tux_connection *c);

#endif
