/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * say - what the library tells the application in words
 */
#ifndef TUX_API_SAY_H
#define TUX_API_SAY_H

#include "api/api_in.h"

/* Gives @line to the application's function, or writes it to stderr. */
void tux_api_say_line(struct tux *t, const char *line);

/* Says "tux: @what: ", and what @err, negated, means. */
void tux_api_say(struct tux *t, const char *what, int err);

/* Connections stay on TCP for @why: said once, if it is the stack's fault. */
void tux_api_say_reason(struct tux *t, enum tux_reason why);

#endif
