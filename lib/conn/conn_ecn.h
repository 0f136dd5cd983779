/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_ecn - ECN of a connection: what leaves with ECT(0), what the peer says of
 * that, and what came
 *
 * The path is judged in part/ecn.c.
 */
#ifndef TUX_CONN_CONN_ECN_H
#define TUX_CONN_CONN_ECN_H

#include <stdbool.h>

#include "base/time.h"
#include "wire/pkt.h"

struct tux_conn;
struct tux_settled;

/* A numbered packet leaves: chooses whether with ECT(0), and counts it.  The
 * first packet of a datagram chooses for all of it.  A packet that must get
 * through goes without: a probe of the tail, and all packets after a timeout
 * until something is acknowledged. */
bool tux_conn_choose_ect(struct tux_conn *c);

/* The packet with header @h has settled @got. */
void tux_conn_ecn_acked(struct tux_conn *c, const struct tux_pkt *h,
			const struct tux_settled *got, tux_time now);

/* A numbered packet came, and is kept. */
void tux_conn_ecn_came(struct tux_conn *c, tux_time now);

#endif
