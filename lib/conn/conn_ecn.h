/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_ecn - ECN of a connection: which packets leave with ECT(0), what the
 * peer reports of their marks, and the marks of packets that arrive
 *
 * transport/ecn.c decides whether the path can be trusted with ECN.
 */
#ifndef TUX_CONN_CONN_ECN_H
#define TUX_CONN_CONN_ECN_H

#include <stdbool.h>

#include "base/time.h"
#include "wire/pkt.h"

struct tux_conn;
struct tux_retired;

/* A numbered packet leaves: decides whether with ECT(0), and counts it if so.
 * The first packet of a datagram decides for all of it.  Packets that must get
 * through go without ECT: tail probes, and all packets after a timeout until
 * one is acknowledged. */
bool tux_conn_choose_ect(struct tux_conn *c);

/* A packet with header @h has acknowledged @got: takes the peer's ECN counts
 * from the header. */
void tux_conn_ecn_acked(struct tux_conn *c, const struct tux_pkt *h,
			const struct tux_retired *got, tux_time now);

/* A numbered packet was accepted: counts the mark of its datagram. */
void tux_conn_ecn_came(struct tux_conn *c, tux_time now);

#endif
