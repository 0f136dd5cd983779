/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_tcp - TCP under a switched direction: the marker, frames out, frames in,
 * its end
 *
 * Out, one thing at a time: what has begun is finished first.  In, never a byte
 * more is asked for than belongs to the frame at hand, so that whatever follows
 * RAW is left for the application.
 */
#ifndef TUX_CONN_CONN_TCP_H
#define TUX_CONN_CONN_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct tux_conn;

/* What tux_conn_tcp_out() and its like of core.h do, without the settle step. */
size_t tux_tcp_out(struct tux_conn *c, uint8_t *buf, size_t cap, tux_time now);
void tux_tcp_sent(struct tux_conn *c, size_t n, tux_time now);
void tux_tcp_in(struct tux_conn *c, const uint8_t *p, size_t len);
void tux_tcp_end(struct tux_conn *c, int err);

/* Does TCP have something to write: the marker, a frame or the rest of one?  It
 * may turn out that the peer has no room for the message. */
bool tux_conn_tcp_due(const struct tux_conn *c);

/* If the ring has no room for the next byte of a frame, the application rings
 * when it has read one. */
void tux_conn_tcp_starve(struct tux_conn *c);

#endif
