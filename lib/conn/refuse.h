/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refuse - answers HELLOs for connections that this end will not move
 *
 * core.h has what the loop calls.  An answer is a HELLO with a reason, as long
 * as the question, and waits in the core until the next datagrams are built.
 */
#ifndef TUX_CONN_REFUSE_H
#define TUX_CONN_REFUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tux_core;
struct tux_out;

/* Where does the next answer go?  False: there is none. */
bool tux_refuse_lead(const struct tux_core *core, struct tux_out *o);

/* Moves it to @buf, with room for @cap bytes, and returns its length. */
size_t tux_refuse_output(struct tux_core *core, uint8_t *buf, size_t cap);

#endif
