/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss - which packets in flight are lost
 *
 * By order: three later numbers are acknowledged (RFC 9002, 6.1.1; the "three
 * duplicate acknowledgments" of TCP).  By timer: RFC 6298, 5.  Loss by time is
 * to join them here.
 */
#ifndef TUX_PART_LOSS_H
#define TUX_PART_LOSS_H

#include "base/time.h"
#include "part/rtt.h"
#include "part/sentq.h"

enum { TUX_LOSS_ORDER = 3 };

/* Called for each packet that is lost, before its entry is settled. */
typedef void tux_lost_fn(void *arg, const struct tux_sent *s);

/* Declares lost what q->top leaves three or more behind.  Returns how many. */
unsigned tux_loss_by_order(struct tux_sentq *q, tux_lost_fn *fn, void *arg);

/* Declares all in flight lost: the timer passed.  Returns how many. */
unsigned tux_loss_all(struct tux_sentq *q, tux_lost_fn *fn, void *arg);

/* When the retransmission timer passes: the timeout after the oldest packet in
 * flight left, or after @ack_at, the last progress, whichever is later;
 * TUX_NEVER with none in flight. */
tux_time tux_loss_deadline(struct tux_sentq *q, const struct tux_rtt *r,
			   tux_time ack_at);

#endif
