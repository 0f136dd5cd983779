/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * routine - code of the application's own on the network thread
 */
#ifndef TUX_API_ROUTINE_H
#define TUX_API_ROUTINE_H

#include "api/api_in.h"

/* Queues what other threads have asked for. */
void tux_api_start(struct tux *t);

/* At the end: frees what has not come to its end. */
void tux_api_start_none(struct tux *t);

#endif
