/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ask - what ends a connection: it is noted, and its task looks
 */
#ifndef TUX_API_ASK_H
#define TUX_API_ASK_H

#include "api/api_in.h"

/* No more bytes are sent on the stream of @c: ends it. */
void tux_api_shut(struct tux_connection *c);

/* As tux_disconnect(), for tux_close(). */
void tux_api_shutdown(struct tux_connection *c);

/* @err broke the connection: the first error counts. */
void tux_api_broke(struct tux_connection *c, int err);

#endif
