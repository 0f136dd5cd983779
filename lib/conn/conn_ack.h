/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_ack - what the peer has: acknowledgments, and what they say of the rest
 */
#ifndef TUX_CONN_CONN_ACK_H
#define TUX_CONN_CONN_ACK_H

#include <stdbool.h>

#include "base/time.h"
#include "part/sentq.h"
#include "wire/pkt.h"

struct tux_conn;

/* Takes the acknowledgments of the packet with header @h; its SACK, if any, is
 * @sack.  False: no honest peer sends these. */
bool tux_conn_acked(struct tux_conn *c, const struct tux_pkt *h,
		    const struct tux_record *sack, tux_time now);

/* What is late by now is lost. */
void tux_conn_detect(struct tux_conn *c, tux_time now);

/* All that is in flight is lost, since the timer passed.  Returns how many
 * packets. */
unsigned tux_conn_lose_all(struct tux_conn *c, tux_time now);

/* What @s carried must be sent again. */
void tux_conn_again(struct tux_conn *c, const struct tux_sent *s);

#endif
