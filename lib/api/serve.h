/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve - the network thread
 */
#ifndef TUX_API_SERVE_H
#define TUX_API_SERVE_H

#include "api/api_in.h"

/* Turns and sleeps until *@stop, or @until. */
void tux_api_drive(struct tux *t, _Atomic uint32_t *stop, tux_time until);

#endif
