/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_fate - sending messages: acknowledgments, losses, cancellation and
 * the peer's room
 *
 * A set of acknowledged bytes, not a count, says when a message has arrived.
 * So the same bytes may be in flight twice, or on both paths.
 */
#ifndef TUX_CONN_MESSAGE_FATE_H
#define TUX_CONN_MESSAGE_FATE_H

#include <stddef.h>
#include <stdint.h>

#include "conn/message.h"
#include "transport/sentq.h"

struct tux_conn;

/* Packet @s, with fragments, was acknowledged, or is lost. */
void tux_message_acked(struct tux_conn *c, const struct tux_sent *s);
void tux_message_lost(struct tux_conn *c, const struct tux_sent *s);

/* TCP has taken the frame with fragment @k: it counts as acknowledged. */
void tux_message_framed(struct tux_conn *c, const struct tux_msg_pick *k);

/* Settles message @m of @lane: its note gets the state @state (TUX_NOTE_*),
 * which the application waits for, and the errno @err. */
void tux_message_settle(struct tux_conn *c, unsigned lane,
			struct tux_msg_out *m, uint32_t state, int err);

/* Cancels the messages with notes that the application has cancelled, unless
 * their last byte has been sent. */
void tux_message_cancels(struct tux_conn *c);

/* ROOM with @len bytes at @p has come: the peer allows more messages.  0, or
 * -EBADMSG: no honest peer sends it. */
int tux_message_room(struct tux_conn *c, const uint8_t *p, size_t len);

#endif
