/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * window - how much of the stream may come, as each end tells the other
 *
 * A packet has the window in its header.  Frames travel in TCP, which has a window of
 * its own, so a stream in frames needs no other.  Messages change that: a receiver
 * whose ring is full reads no more of TCP, and a message behind the stream's frames
 * would wait for an application that may itself wait for the message.  So where both
 * ends take messages, a sender in frames keeps to the window, and ROOM frames tell it.
 */
#ifndef TUX_CONN_WINDOW_H
#define TUX_CONN_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct tux_conn;

/* A packet is about to leave, and the direction has switched: up to which offset the
 * stream has come, into *@got.  Returns the window to tell with it.  The application
 * rings when it has read so much that telling the next one is worth it. */
uint32_t tux_window_tell(struct tux_conn *c, uint64_t *got);

/* The application has read up to @tail: tells the peer the window if that is worth
 * it. */
void tux_window_opened(struct tux_conn *c, uint64_t tail);

/* The peer sends in frames from now on: tells it the window, since what packets told
 * may be lost. */
void tux_window_in_frames(struct tux_conn *c);

/* ROOM is about to be sent: the end of the window, which a frame has as its offset;
 * 0: it tells none. */
uint64_t tux_window_end(struct tux_conn *c);

/* A ROOM frame, or a packet, has come with @end. */
void tux_window_heard(struct tux_conn *c, uint64_t end);

/* How many bytes of the stream may go into frames now. */
uint64_t tux_window_frames(const struct tux_conn *c);

/* Has the window no room, should bytes come?  And do bytes wait for it, in a direction
 * on FRAMES? */
bool tux_window_spent(const struct tux_conn *c);
bool tux_window_shut(const struct tux_conn *c);

#endif
