/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_ack - acknowledgments, and the losses that follow from them
 */
#ifndef TUX_CONN_CONN_ACK_H
#define TUX_CONN_CONN_ACK_H

#include <stdbool.h>

#include "base/time.h"
#include "transport/sentq.h"
#include "wire/pkt.h"

struct tux_conn;

/* Takes the acknowledgments of a packet with header @h and SACK record @sack,
 * which is NULL if it has none.  False: they are impossible, and the packet
 * must be dropped. */
bool tux_conn_acked(struct tux_conn *c, const struct tux_pkt *h,
		    const struct tux_record *sack, tux_time now);

/* Declares lost the packets that should have been acknowledged before @now. */
void tux_conn_detect(struct tux_conn *c, tux_time now);

/* The retransmission timer expired: declares all packets in flight lost.
 * Returns how many. */
unsigned tux_conn_lose_all(struct tux_conn *c, tux_time now);

/* What packet @s carried, as far as it still matters, is to be sent again. */
void tux_conn_again(struct tux_conn *c, const struct tux_sent *s);

#endif
