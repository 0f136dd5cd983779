/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_tx - messages out: which fragment goes next
 */
#ifndef TUX_CONN_MESSAGE_TX_H
#define TUX_CONN_MESSAGE_TX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn/message.h"
#include "wire/pkt.h"

struct tux_conn;

/* Picks what goes next in a record or frame with a body of up to @room bytes, and
 * begins the messages that may begin: the peer has room, and few of their lane
 * are under way.  False: nothing, or nothing worth that little room. */
bool tux_message_pick(struct tux_conn *c, size_t room, struct tux_msg_pick *k);

/* It is being sent: over Tux, as one more of @frag_n, or (NULL) in a frame. */
void tux_message_take(struct tux_conn *c, const struct tux_msg_pick *k,
		      uint16_t *frag_n);

/* Bytes [@off, @off + @len) of it to @dst. */
void tux_message_copy(const struct tux_conn *c, const struct tux_msg_pick *k,
		      uint32_t off, void *dst, size_t len);

/* Has a message that has begun something to send?  Or is there one that has not
 * begun? */
bool tux_message_waits(const struct tux_conn *c);
bool tux_message_any(const struct tux_conn *c);

/* What END says. */
void tux_message_tell_end(const struct tux_conn *c, uint8_t *p);

/* Adds fragments to the packet until it is full or nothing is left; their number
 * to *@frag_n.  Bytes. */
uint32_t tux_message_add(struct tux_conn *c, struct tux_writer *w,
			 uint16_t *frag_n);

/* Puts @m where it belongs in its lane's work; @first: before the others. */
void tux_message_requeue(struct tux_messages *g, unsigned lane,
			 struct tux_msg_out *m, bool first);

#endif
