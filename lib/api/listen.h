/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen - listeners, and what they accept
 */
#ifndef TUX_API_LISTEN_H
#define TUX_API_LISTEN_H

#include "api/api_in.h"

void tux_api_accept(struct tux_listener *l);

/* Begins the connections of the sockets that @t was given. */
void tux_api_accept_given(struct tux *t);

/* At the end: closes those that there still are. */
void tux_api_close_given(struct tux *t);

/* Listeners that ran out of descriptors try again, if it is time. */
void tux_api_unpause(struct tux *t);

/* Closes the listeners of @s; they are in @removed then, for
 * tux_api_listeners_free(), which the network thread must not call in a turn. */
void tux_api_unlisten(struct tux_service *s, struct tux_list *removed);
void tux_api_listeners_free(struct tux_list *removed);

/* In a forked child: closes the descriptors, and nothing else. */
void tux_api_unlisten_forked(struct tux_service *s);

#endif
