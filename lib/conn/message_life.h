/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message_life - the birth and the end of a connection's messages, and
 * their doorbell
 */
#ifndef TUX_CONN_MESSAGE_LIFE_H
#define TUX_CONN_MESSAGE_LIFE_H

#include <stdbool.h>

#include "base/mem.h"
#include "conn/msgbox.h"

struct tux_conn;

struct tux_messages;

/* NULL: no memory. */
struct tux_messages *tux_messages_new(const struct tux_mem *mem,
				      struct tux_msgbox *box);
void tux_messages_free(const struct tux_mem *mem, struct tux_messages *g);

/* The application has rung: notes, cancellations, releases. */
void tux_messages_rung(struct tux_conn *c);

/* The path is proved: the peer takes messages, or not. */
void tux_messages_proved(struct tux_conn *c);

/* Nobody has answered: what waits fails, and so does what comes. */
void tux_messages_silent(struct tux_conn *c);

/* No message will be sent any more: those not settled fail with @err. */
void tux_messages_fail(struct tux_conn *c, int err);

/* No new message will begin, and those that wait fail with @err. */
void tux_messages_end(struct tux_conn *c, int err);

/* Is nothing waiting, and nothing under way? */
bool tux_messages_idle(const struct tux_conn *c);

/* Does something wait, and nothing is under way? */
bool tux_messages_want_room(const struct tux_conn *c);

/* Does FIN wait for messages that wait for room, while the path is down and the
 * peer has no frames to tell of room in? */
bool tux_messages_hopeless(const struct tux_conn *c);

#endif
