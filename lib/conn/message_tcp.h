/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_tcp - messages and their room in the frames of a switched
 * direction of TCP
 */
#ifndef TUX_CONN_MESSAGE_TCP_H
#define TUX_CONN_MESSAGE_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/frame.h"

struct tux_conn;

/* May this direction of TCP carry frames for messages now? */
bool tux_message_may_frame(const struct tux_conn *c);

/* Begins a FIN frame, with END in it if the peer takes messages. */
void tux_message_fin_frame(struct tux_conn *c);

/* Begins a frame with ROOM, or with a fragment, in c->out.  False: none. */
bool tux_message_room_frame(struct tux_conn *c);
bool tux_message_frame(struct tux_conn *c);

/* How long the header of frame @f is, with what belongs to messages. */
uint8_t tux_message_frame_need(const struct tux_frame *f);

/* The header of a MESSAGE or ROOM frame is in c->in; bytes of its body.  0, or
 * what tux_message_put() says. */
int tux_message_frame_in(struct tux_conn *c);
int tux_message_frame_body(struct tux_conn *c, const uint8_t *p, uint32_t len);

#endif
