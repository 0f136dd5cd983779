/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_rx - messages in: fragments to their places, deliveries, room
 *
 * Known messages of a lane lie in the order of their ids and do not overlap, so
 * that nothing a peer sends later touches what the application reads.
 */
#ifndef TUX_CONN_MESSAGE_RX_H
#define TUX_CONN_MESSAGE_RX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/message.h"

struct tux_conn;

/* A fragment @h with its bytes at @p, from a packet or a @frame.  0; -EBADMSG:
 * no honest peer sends it; -ENOBUFS: it cannot be noted, as if it were lost. */
int tux_message_put(struct tux_conn *c, const struct tux_message_hdr *h,
		    const uint8_t *p, bool frame);

/* What the application has released is free again. */
void tux_message_released(struct tux_conn *c);

/* All that was begun is here: the ordered messages that others wait for were
 * never sent, and are passed over. */
void tux_message_no_more(struct tux_conn *c);

/* END has come.  0, -EBADMSG. */
int tux_message_fin(struct tux_conn *c, const uint8_t *p, size_t len);

/* Would ROOM say enough to be worth its bytes in a packet that leaves anyway? */
bool tux_message_room_news(const struct tux_conn *c);

/* What ROOM says now, which the peer knows from then on. */
void tux_message_tell_room(struct tux_conn *c, uint8_t *p);

#endif
