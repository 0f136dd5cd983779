/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_tcp - TCP under a switched direction: the marker, frames in both
 * directions, and the end of TCP
 *
 * Sending: a frame that has begun is finished before the next begins.
 * Receiving: the core never asks for more bytes than belong to the current
 * header or body.  So the bytes behind a RAW frame stay in TCP, where the
 * application reads them itself.
 */
#ifndef TUX_CONN_CONN_TCP_H
#define TUX_CONN_CONN_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct tux_conn;

/* The handlers of tux_conn_tcp_out(), tux_conn_tcp_sent(), tux_conn_tcp_in()
 * and tux_conn_tcp_end(); core.h has their contracts. */
size_t tux_tcp_out(struct tux_conn *c, uint8_t *buf, size_t cap, tux_time now);
void tux_tcp_sent(struct tux_conn *c, size_t n, tux_time now);
void tux_tcp_in(struct tux_conn *c, const uint8_t *p, size_t len);
void tux_tcp_end(struct tux_conn *c, int err);

/* May there be something to write to TCP: the marker, a frame or the rest of a
 * frame?  If true, tux_tcp_out() may still return 0, since the peer may have no
 * room for the message. */
bool tux_conn_tcp_due(const struct tux_conn *c);

/* Notes in `in.starved` whether the receive ring has no room for the next byte
 * of a DATA frame.  If so, asks the application to ring when it has read. */
void tux_conn_tcp_starve(struct tux_conn *c);

#endif
