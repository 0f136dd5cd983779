/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_tcp - messages, ROOM and END in frames on TCP
 */
#ifndef TUX_CONN_MESSAGE_TCP_H
#define TUX_CONN_MESSAGE_TCP_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/frame.h"

struct tux_conn;

/* May the sending direction carry MESSAGE and ROOM frames now? */
bool tux_message_may_frame(const struct tux_conn *c);

/* Begins a FIN frame in c->out, with END in it if the peer takes messages. */
void tux_message_fin_frame(struct tux_conn *c);

/* Begins a ROOM frame, or a MESSAGE frame, in c->out.  False: none is due, or
 * it is not allowed now. */
bool tux_message_room_frame(struct tux_conn *c);
bool tux_message_frame(struct tux_conn *c);

/* How many bytes c->in.hdr must have of frame @f: its header and what follows
 * it of a fixed length, such as the header of a message. */
uint8_t tux_message_frame_need(const struct tux_frame *f);

/* c->in.hdr has all of a MESSAGE or ROOM frame that it needs.  0, or the errors
 * of tux_message_put(). */
int tux_message_frame_in(struct tux_conn *c);

/* @len bytes at @p of the body of a MESSAGE frame have come.  The same. */
int tux_message_frame_body(struct tux_conn *c, const uint8_t *p, uint32_t len);

#endif
