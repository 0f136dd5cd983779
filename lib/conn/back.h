/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * back - from Tux back to TCP, and to Tux again
 *
 * When a sending direction on Tux gets no more answers, it goes on in frames on
 * TCP, from the last byte that the peer has acknowledged.  It tries the path
 * again later.  RAW ends Tux for good.
 *
 * A direction may also become plain TCP again as a new turn, because TCP is
 * faster for what it carries, or because the path does not answer.  Then writes
 * are held; what is in flight arrives, or goes in frames; and behind a PLAIN
 * frame the direction is where it began, and may be announced again.
 */
#ifndef TUX_CONN_BACK_H
#define TUX_CONN_BACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "wire/reason.h"

struct tux_conn;

/* The path of @c is silent, or it is @still: until when does its sending direction
 * stay on TCP?  Each time it stays for longer. */
tux_time tux_back_until(struct tux_conn *c, bool still, tux_time now);

/* The sending direction of @c goes on in frames on TCP, if it is on Tux. */
void tux_back(struct tux_conn *c, tux_time now);

/* The application has written.  If another connection of the pair has found
 * that the peer's loop does not answer, and @c has nothing in flight, @c goes
 * back to TCP now instead of waiting for its own timeouts. */
void tux_back_early(struct tux_conn *c, tux_time now);

/* The handlers of tux_conn_stall() and tux_conn_unstall().  From then on, @c
 * accepts only packets that acknowledge something it has sent since. */
void tux_back_stalled(struct tux_conn *c, tux_time now);
void tux_back_unstalled(struct tux_conn *c, tux_time now);

/* A packet has been accepted: a plain direction that waits until the path is
 * tried again need not wait any longer. */
void tux_back_heard(struct tux_conn *c, tux_time now);

/* Packets no longer arrive at the peer, which has gone back to TCP for that:
 * the sending direction of @c follows at once. */
void tux_back_follow(struct tux_conn *c, tux_time now);

/* The application or the peer wants plain TCP for good, in both directions, for
 * the reason @why.  The reason of the first call counts. */
void tux_back_raw(struct tux_conn *c, enum tux_reason why);

/* The peer wants that, and its application has read all below @from; UINT64_MAX: it
 * has not told, or has told before. */
void tux_back_raw_heard(struct tux_conn *c, uint64_t from);

/* TCP has taken the SWITCH frame: the sending direction is on Tux again. */
void tux_back_to_tux(struct tux_conn *c, tux_time now);

/* May the sending direction become plain again as a new turn?  Not if the peer does
 * not know PLAIN, after FIN, or if this end takes messages: plain TCP has no frames
 * for them. */
bool tux_back_may_leave(const struct tux_conn *c);

/* The sending direction, on Tux or in frames, is to become plain again, if it may,
 * and is not to be announced before @until. */
void tux_back_leave(struct tux_conn *c, tux_time until);

/* TCP has taken the PLAIN frame: a new turn begins. */
void tux_back_plain(struct tux_conn *c);

/* ---- for the settle step ---- */

/* The sending direction, which is plain, gets no N; if the peer may be armed, it is
 * told.  False: the application holds the latch. */
bool tux_back_withdraw(struct tux_conn *c, tux_time now);

/* The path has answered while frames carry the sending direction: a SWITCH
 * frame becomes due. */
void tux_back_alive(struct tux_conn *c);

/* Plain TCP is wanted: pins each direction that has not switched, and tells the
 * peer with a RAW record. */
void tux_back_pin(struct tux_conn *c, tux_time now);

/* Plain TCP is wanted, for good or as a new turn: when the peer has all bytes
 * of the ring, or TCP has them, a RAW or PLAIN frame becomes due, which ends
 * the frames. */
void tux_back_step(struct tux_conn *c, tux_time now);

#endif
