/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * choose - which path the sending direction takes, Tux or TCP
 *
 * choice.h decides.  Here is what the decision stands on: how long the bursts of
 * the direction are, and how many bytes a second leave on either path while
 * bytes wait.  The sender alone chooses, because it sees what waits.
 */
#ifndef TUX_CONN_CHOOSE_H
#define TUX_CONN_CHOOSE_H

#include "conn/conn.h"

/* The longest datagram has changed, and with it what counts as a long burst. */
void tux_choose_mtu(struct tux_conn *c);

/* The doorbell TUX_DOORBELL_LOOK: there is new evidence for a direction that is
 * plain.  The settle step then asks tux_choose_tux(). */
void tux_choose_look(struct tux_conn *c, tux_time now);

/* Is Tux better for the direction, which is plain?  If not, sets when to look
 * again. */
bool tux_choose_tux(struct tux_conn *c, tux_time now);

/* @c goes on on TCP for now.  If all of it has returned there, the loop is told
 * so, again if it was told before. */
void tux_choose_stays(struct tux_conn *c);

/* The direction has moved to Tux. */
void tux_choose_moved(struct tux_conn *c, tux_time now);

/* Are the bursts that @c sends over Tux so long that TCP may be better? */
static inline bool tux_choose_doubtful(const struct tux_conn *c)
{
	return tux_burst_len(&c->dx->tx.bursts) > c->tx.burst_max;
}

/* For the settle step, while tux_choose_doubtful(): leaves Tux if TCP is better
 * for what is sent now. */
void tux_choose_leave(struct tux_conn *c, tux_time now);

/* The direction has left, and is plain: a new turn has begun. */
void tux_choose_turn(struct tux_conn *c, tux_time now);

#endif
