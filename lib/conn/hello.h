/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hello - the opening exchange
 *
 * Each end sends a nonce, which the other end echoes under the connection's
 * key.  The echo proves that packets get through in both directions.  HELLOs
 * have no packet numbers.  A HELLO makes its receiver keep no state beyond the
 * TCP connection that exists anyway, and the answer is no longer than the
 * question.
 */
#ifndef TUX_CONN_HELLO_H
#define TUX_CONN_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "wire/addr.h"
#include "wire/pkt.h"

struct tux_conn;

/* @c was just made: sends the first HELLO, or waits for the peer's if this end
 * may not begin. */
void tux_hello_start(struct tux_conn *c, tux_time now);

/* The application has read or written (a touch): while the path is not proved,
 * sends another HELLO, unless the last has just left. */
void tux_hello_touch(struct tux_conn *c, tux_time now);

/* Sends the series of HELLOs once more, if the path is not proved. */
void tux_hello_again(struct tux_conn *c, tux_time now);

/* Sends the next HELLO of the series if it is due at @now; after the last,
 * gives up with the reason PEER_SILENT. */
void tux_hello_expire(struct tux_conn *c, tux_time now);

/* HELLO @h for @c came from @from.  The caller has checked its MAC. */
void tux_hello_recv(struct tux_conn *c, const struct tux_addr *from,
		    const struct tux_hello *h, tux_time now);

/* The peer speaks another version of the protocol. */
void tux_hello_version(struct tux_conn *c);

/* The path is proved: HELLO has brought the echo of this end's nonce, or a
 * numbered packet with the right seal has come. */
void tux_hello_proved(struct tux_conn *c);

/* The handler of tux_conn_owned(). */
void tux_hello_owned(struct tux_conn *c, int err, tux_time now);

/* Builds a packet with HELLO into @cap bytes at @buf.  Returns its length, or 0
 * if @cap is too short. */
size_t tux_hello_build(struct tux_conn *c, uint8_t *buf, size_t cap,
		       tux_time now);

#endif
