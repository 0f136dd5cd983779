/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * service - callbacks, and what is the same for all their connections
 */
#ifndef TUX_API_SERVICE_H
#define TUX_API_SERVICE_H

#include "api/api_in.h"

/* At the end of the stack @t: all listeners are closed, and later all services
 * freed. */
void tux_api_services_unlisten(struct tux *t);
void tux_api_services_end(struct tux *t);

#endif
