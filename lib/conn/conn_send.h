/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_send - a packet out: whether one may leave, and of what kind
 *
 * What goes into it is conn_fill.c's.
 */
#ifndef TUX_CONN_CONN_SEND_H
#define TUX_CONN_CONN_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct tux_conn;

/* Builds the next packet into @cap bytes at @buf, behind @before bytes of the
 * same datagram.  Returns its length, or 0: nothing to send now, or it wants a
 * datagram with more room (then *@more is set).  Behind a packet, *@more says
 * whether to ask again.  Only the first packet of a datagram may be longer than
 * tux_conn_room(). */
size_t tux_conn_send(struct tux_conn *c, uint8_t *buf, size_t before,
		     size_t cap, bool *more, tux_time now);

#endif
