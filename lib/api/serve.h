/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve - a network thread
 */
#ifndef TUX_API_SERVE_H
#define TUX_API_SERVE_H

#include "api/api_in.h"

/* Turns and sleeps with @t, and the loops linked behind it by next_run,
 * until *@stop, or @until. */
void tux_api_drive(struct tux *t, _Atomic uint32_t *stop, tux_time until);

/* The other network threads of @t run their loops from now on; or stop, when the
 * call returns. */
void tux_api_run_others(struct tux *t);
void tux_api_stop_others(struct tux *t);

#endif
