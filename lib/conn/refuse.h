/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refuse - answers HELLOs for connections that this end will not move
 *
 * core.h has what the loop calls.  An answer is a HELLO with a reason, as long
 * as the question, and waits in the core until the next datagrams are built.
 */
#ifndef TUX_CONN_REFUSE_H
#define TUX_CONN_REFUSE_H

#include <stddef.h>
#include <stdint.h>

#include "wire/addr.h"

struct tux_core;

/* The next answer, as tux_core_output() gives datagrams.  Its length; 0: there
 * is none. */
size_t tux_refuse_output(struct tux_core *core, uint8_t *buf, size_t cap,
			 struct tux_addr *to, struct tux_addr *from);

#endif
