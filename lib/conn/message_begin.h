/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_begin - sending messages: from the application's notes to messages that
 * have begun
 */
#ifndef TUX_CONN_MESSAGE_BEGIN_H
#define TUX_CONN_MESSAGE_BEGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/message.h"
#include "wire/pkt.h"

struct tux_conn;

/* Is there a note of @lane that has not begun, and room at the peer for it? */
bool tux_message_may_begin(struct tux_messages *g, unsigned lane);

/* Begins the next message of @lane, and returns it.  NULL: there is none, or no room
 * at the peer.  A message that is cancelled, or whose note is not valid, fails
 * without beginning; but if it is ordered, it begins as cancelled, since the peer
 * must be told. */
struct tux_msg_out *tux_message_begin_next(struct tux_conn *c, unsigned lane);

/* The length, with the header, of the small message that may begin next; 0: there is
 * none. */
uint32_t tux_message_begin_len(struct tux_messages *g);

/* Begins small messages and adds them to the packet, each as a whole, as long as
 * the next one fits.  No other message may have something to send.  All of them
 * share one entry of what was sent: raises *@frag_n by one.  Returns their length
 * in bytes, with headers; 0: there was none. */
uint32_t tux_message_begin_whole(struct tux_conn *c, struct tux_writer *w,
				 uint16_t *frag_n);

#endif
