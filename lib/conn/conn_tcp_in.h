/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_tcp_in - what the loop reads from TCP in a direction that has switched:
 * frames, and the end of TCP
 *
 * The core never asks for more bytes than belong to the current header or body.
 * So the bytes behind a RAW or PLAIN frame stay in TCP, where the application
 * reads them itself.
 */
#ifndef TUX_CONN_CONN_TCP_IN_H
#define TUX_CONN_CONN_TCP_IN_H

#include <stddef.h>
#include <stdint.h>

struct tux_conn;

/* The handlers of tux_conn_tcp_in() and tux_conn_tcp_end(); core.h has their
 * contracts. */
void tux_tcp_in(struct tux_conn *c, const uint8_t *p, size_t len);
void tux_tcp_end(struct tux_conn *c, int err);

/* Notes in `in.starved` whether the receive ring has no room for the next byte
 * of a DATA frame.  If so, asks the application to ring when it has read. */
void tux_conn_tcp_starve(struct tux_conn *c);

#endif
