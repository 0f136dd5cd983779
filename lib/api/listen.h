/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listen - listeners, and what they accept
 */
#ifndef TUX_API_LISTEN_H
#define TUX_API_LISTEN_H

#include "api/api_in.h"

void tux_api_accept(struct tux_listener *l);

/* Listeners that ran out of descriptors try again, if it is time. */
void tux_api_unpause(struct tux *t);

void tux_api_unlisten(struct tux_service *s);

/* In a forked child: closes the descriptors, and nothing else. */
void tux_api_unlisten_forked(struct tux_service *s);

#endif
