/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_life - when messages of a connection may begin and when they end, and
 * their doorbell
 *
 * Functions that take a connection do nothing if it has no message box.
 */
#ifndef TUX_CONN_MESSAGE_LIFE_H
#define TUX_CONN_MESSAGE_LIFE_H

#include <stdbool.h>

#include "base/mem.h"
#include "conn/msgbox.h"

struct tux_conn;

struct tux_messages;

/* The loop's side of @box, which must outlive it.  NULL: no memory. */
struct tux_messages *tux_messages_new(const struct tux_mem *mem,
				      struct tux_msgbox *box);
void tux_messages_free(const struct tux_mem *mem, struct tux_messages *g);

/* The application has rung with TUX_DOORBELL_MESSAGE, or has closed: takes its
 * cancellations and releases, and queues @c to send. */
void tux_messages_rung(struct tux_conn *c);

/* The path is proved.  If the peer takes messages, they may begin; if not,
 * those that wait fail with EPROTONOSUPPORT. */
void tux_messages_proved(struct tux_conn *c);

/* The peer has not answered.  Messages fail with EPROTONOSUPPORT, until the
 * path is proved after all.  Those that are ordered leave no gap in the numbers. */
void tux_messages_silent(struct tux_conn *c);

/* Ends messages: all that are not settled fail with @err, and so do new
 * ones. */
void tux_messages_fail(struct tux_conn *c, int err);

/* No more messages begin: those that have not begun fail with @err, and so do
 * new ones.  Those under way go on. */
void tux_messages_end(struct tux_conn *c, int err);

/* Is every message settled?  True if the connection has no messages. */
bool tux_messages_idle(const struct tux_conn *c);

/* Do messages wait for the peer's room, while none is under way? */
bool tux_messages_want_room(const struct tux_conn *c);

/* Can the messages that FIN waits for never begin?  So it is if the sending
 * direction has gone back to TCP, they wait for room, and the peer's direction
 * has not switched, so that the peer cannot send ROOM in a frame. */
bool tux_messages_hopeless(const struct tux_conn *c);

#endif
