/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_tcp_out - what the loop writes to TCP: the marker, and frames of a
 * direction that has switched
 *
 * A frame that has begun is finished before the next begins.
 */
#ifndef TUX_CONN_CONN_TCP_OUT_H
#define TUX_CONN_CONN_TCP_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

struct tux_conn;

/* The handlers of tux_conn_tcp_out() and tux_conn_tcp_sent(); core.h has their
 * contracts. */
size_t tux_tcp_out(struct tux_conn *c, uint8_t *buf, size_t cap, tux_time now);
void tux_tcp_sent(struct tux_conn *c, size_t n, tux_time now);

/* The direction has switched by a write that went across N: takes over what the
 * writer has begun, the frame with the rest of the write, and SWITCH.  Once TCP
 * has that frame, Tux sends the rest, too: a reader that has not come to N
 * cannot look for it in TCP. */
void tux_tcp_across(struct tux_conn *c, tux_time now);

/* May there be something to write to TCP: the marker, a frame or the rest of a
 * frame?  If true, tux_tcp_out() may still return 0, since the peer may have no
 * room for the message. */
bool tux_conn_tcp_due(const struct tux_conn *c);

#endif
