/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shared - what stacks have in common that were opened beside each other
 *
 * That is the stack below them (stack/stack.h), with its interface, its port and
 * its ends, and the listeners that the program has announced.  It ends with the
 * last of them.
 */
#ifndef TUX_API_SHARED_H
#define TUX_API_SHARED_H

#include "api/api_in.h"

/* @t joins the one that it was opened beside, or is the first.  -errno; then
 * tux_api_share_end() is due, too. */
int tux_api_share(struct tux *t);

/* @t is closed.  True: it was the last, and nothing is shared any more.  False: it
 * is freed with the last. */
bool tux_api_share_end(struct tux *t);

/* Frees what is left of @t, which is closed. */
void tux_api_free(struct tux *t);

#endif
