/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_send - a packet out: whether a packet may leave now, and of what kind
 *
 * conn_fill.c puts the records into it.
 */
#ifndef TUX_CONN_CONN_SEND_H
#define TUX_CONN_CONN_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct tux_conn;

/* Builds the next packet into @cap bytes at @buf, behind @before bytes of the
 * same datagram.  Returns its length.  Then *@more says whether @c has more to
 * send.  Returns 0 if there is nothing to send now (*@more is false), or if the
 * packet needs a new datagram (*@more is true).  Only the first packet of a
 * datagram, a probe of the path MTU, may be longer than tux_conn_room(). */
size_t tux_conn_send(struct tux_conn *c, uint8_t *buf, size_t before,
		     size_t cap, bool *more, tux_time now);

#endif
