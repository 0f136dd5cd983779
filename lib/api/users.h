/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * users - counts the connections and calls that use a service
 *
 * A service that is freed lasts as long as it has users.  Its users are its
 * connections, the sockets that were accepted for it and given to another loop, and
 * the call that frees it.
 */
#ifndef TUX_API_USERS_H
#define TUX_API_USERS_H

#include "api/api_in.h"

/* The list of services of @t, and the users of each, are the caller's between
 * these two, on any loop's thread. */
void tux_api_services_enter(struct tux *t);
void tux_api_services_leave(struct tux *t);

/* @s does not end before tux_api_service_leave(). */
void tux_api_service_use(struct tux_service *s);
void tux_api_service_leave(struct tux_service *s);

#endif
