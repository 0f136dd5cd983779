/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_rx - receiving messages: puts fragments into their places, and delivers
 * complete messages
 *
 * The messages of a lane lie in the order of their ids and must not overlap.
 * So nothing that the peer sends later can change a message that the
 * application reads.
 */
#ifndef TUX_CONN_MESSAGE_RX_H
#define TUX_CONN_MESSAGE_RX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

struct tux_conn;

/* A fragment with header @h and its bytes at @p has come, in a packet or
 * (@frame) in a frame.  0; -EBADMSG: no honest peer sends it; -ENOBUFS: there
 * are too many gaps to note it, and it is treated as lost (never with
 * @frame). */
int tux_message_put(struct tux_conn *c, const struct tux_message_hdr *h,
		    const uint8_t *p, bool frame);

/* No more messages will come.  Ordered messages that wait for earlier ones are
 * delivered: the earlier ones were never sent. */
void tux_message_no_more(struct tux_conn *c);

/* END with @len bytes at @p has come.  0, or -EBADMSG. */
int tux_message_fin(struct tux_conn *c, const uint8_t *p, size_t len);

#endif
