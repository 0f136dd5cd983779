/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_fate - messages out: what became of them
 *
 * What is acknowledged is noted as a set of bytes, so it does no harm if bytes
 * are in flight twice, or on two paths.
 */
#ifndef TUX_CONN_MESSAGE_FATE_H
#define TUX_CONN_MESSAGE_FATE_H

#include <stddef.h>
#include <stdint.h>

#include "conn/message.h"
#include "part/sentq.h"

struct tux_conn;

/* Packet @s has arrived, or is lost. */
void tux_message_acked(struct tux_conn *c, const struct tux_sent *s);
void tux_message_lost(struct tux_conn *c, const struct tux_sent *s);

/* A frame has gone into TCP: as good as arrived. */
void tux_message_framed(struct tux_conn *c, const struct tux_msg_pick *k);

/* Message @m is settled: its note's @state and @err say how. */
void tux_message_settle(struct tux_conn *c, unsigned lane,
			struct tux_msg_out *m, uint32_t state, int err);

/* Does what cancelled notes ask for. */
void tux_message_cancels(struct tux_conn *c);

/* ROOM has come.  0, -EBADMSG. */
int tux_message_room(struct tux_conn *c, const uint8_t *p, size_t len);

#endif
