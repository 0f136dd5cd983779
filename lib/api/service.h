/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * service - callbacks, and what is the same for all their connections
 */
#ifndef TUX_API_SERVICE_H
#define TUX_API_SERVICE_H

#include "api/api_in.h"

/* At the end of the stack. */
void tux_api_service_end(struct tux_service *s);

#endif
