/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_room - receiving messages: room that becomes free, and is told to the
 * peer
 */
#ifndef TUX_CONN_MESSAGE_ROOM_H
#define TUX_CONN_MESSAGE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct tux_conn;

/* Frees the room of messages that the application has released, in the order of
 * their ids, and queues ROOM if that is worth a packet. */
void tux_message_released(struct tux_conn *c);

/* Has enough room become free to send ROOM in a packet that leaves anyway? */
bool tux_message_room_news(const struct tux_conn *c);

/* Encodes ROOM, as it is now, into TUX_ROOM_LEN bytes at @p, and notes that the
 * peer is told. */
void tux_message_tell_room(struct tux_conn *c, uint8_t *p);

#endif
