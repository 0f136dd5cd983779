/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hello - the opening exchange
 *
 * Each end proves that packets reach the other and come back, by a nonce that
 * the other echoes under the connection's key.  HELLOs are outside of the
 * numbering.  An end that answers a HELLO keeps no state for it beyond the TCP
 * connection that exists anyway, and answers with no more bytes than it was
 * sent.
 */
#ifndef TUX_CONN_HELLO_H
#define TUX_CONN_HELLO_H

#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "wire/addr.h"
#include "wire/pkt.h"

struct tux_conn;

void tux_hello_start(struct tux_conn *c, tux_time now);

/* The application reads or writes while the path is not proved: another HELLO,
 * unless the last left just now. */
void tux_hello_touch(struct tux_conn *c, tux_time now);

/* Begins anew with the HELLOs by timer, if the path is not proved. */
void tux_hello_again(struct tux_conn *c, tux_time now);

void tux_hello_expire(struct tux_conn *c, tux_time now);

/* An opening packet for this connection came from @from; its MAC is right. */
void tux_hello_recv(struct tux_conn *c, const struct tux_addr *from,
		    const struct tux_hello *h, tux_time now);

/* The peer speaks another version of the protocol. */
void tux_hello_version(struct tux_conn *c);

/* The path is proved; any numbered packet under our id proves it, too. */
void tux_hello_proved(struct tux_conn *c);

/* The loop has duplicated the descriptor (@err 0), or could not. */
void tux_hello_owned(struct tux_conn *c, int err, tux_time now);

/* The packet with HELLO, into @cap bytes at @buf; its length. */
size_t tux_hello_build(struct tux_conn *c, uint8_t *buf, size_t cap,
		       tux_time now);

#endif
