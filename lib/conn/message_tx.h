/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_tx - sending messages: which fragment goes next
 */
#ifndef TUX_CONN_MESSAGE_TX_H
#define TUX_CONN_MESSAGE_TX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn/message.h"
#include "wire/pkt.h"

struct tux_conn;

/* Begins messages for which the peer has room, until four are under way, in the
 * lane that sends first, or in the other one if that has nothing to send. */
void tux_message_begin(struct tux_conn *c);

/* Picks the fragment that goes next, of messages that have begun, into *@k, for
 * a record or frame with a body of up to @room bytes.  False: there is none, or
 * @room is too small to cut a message for it. */
bool tux_message_pick(const struct tux_conn *c, size_t room,
		      struct tux_msg_pick *k);

/* The length of the body of the record that goes next, of up to @room bytes; 0: there
 * is none.  A message may begin for that. */
size_t tux_message_next_len(struct tux_conn *c, size_t room);

/* Notes that the picked fragment @k is being sent: in a packet that has *@frag_n
 * entries in the ring of what was sent, and has one more then; or (NULL) in a
 * frame. */
void tux_message_take(struct tux_conn *c, const struct tux_msg_pick *k,
		      uint16_t *frag_n);

/* Copies @len bytes from offset @off of the message of @k to @dst. */
void tux_message_copy(const struct tux_conn *c, const struct tux_msg_pick *k,
		      uint32_t off, void *dst, size_t len);

/* Has a message that has begun something to send? */
bool tux_message_waits(const struct tux_conn *c);

/* ... or could one begin that the peer has room for? */
bool tux_message_could_go(struct tux_conn *c);

/* ... or is there any that has not begun? */
bool tux_message_any(const struct tux_conn *c);

/* Encodes END into TUX_END_LEN bytes at @p: how many messages of each lane have
 * begun. */
void tux_message_tell_end(const struct tux_conn *c, uint8_t *p);

/* Adds fragments to the packet until it is full or none is left, and raises
 * *@frag_n by the entries that they take.  Returns their length in bytes, with headers. */
uint32_t tux_message_add(struct tux_conn *c, struct tux_writer *w,
			 uint16_t *frag_n);

/* Puts @m into its lane's `work` if it has something to send, and takes it out
 * if not.  @first: before the others, else behind them. */
void tux_message_requeue(struct tux_messages *g, unsigned lane,
			 struct tux_msg_out *m, bool first);

#endif
