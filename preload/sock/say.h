/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * say - a line on standard error for each connection and interface, if asked for
 *
 * Without stdio, and through a private copy of the descriptor, so that it can
 * be said anywhere and goes where the user looked when the program started.
 */
#ifndef TUX_PRELOAD_SAY_H
#define TUX_PRELOAD_SAY_H

#include <stdbool.h>

#include "link/link.h"
#include "sock/sock.h"
#include "wire/reason.h"

/* After conf_init(). */
void say_init(void);

/* Are lines written at all? */
bool say_verbose(void);

/* Which path @s is on, or why not, if verbose.  @g is what decided; NULL:
 * nothing was counted. */
void say_decided(const struct sock *s, bool tux, enum tux_reason why,
		 const struct tux_grounds *g);

/* What becomes of an interface, if verbose. */
void say_link(const struct tux_link_note *n);

/* "tux: cannot WHAT: error N", if verbose. */
void say_failed(const char *what, int err);

#endif
