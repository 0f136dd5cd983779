/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_recv - a packet in
 */
#ifndef TUX_CONN_CONN_RECV_H
#define TUX_CONN_CONN_RECV_H

#include <stdint.h>

#include "base/time.h"
#include "wire/addr.h"
#include "wire/pkt.h"

struct tux_conn;

/* A numbered packet with header @h, which begins at @p, came from @from.  The
 * caller has checked its seal.  Takes acknowledgments and records, or counts
 * the packet as dropped. */
void tux_conn_recv(struct tux_conn *c, const struct tux_addr *from,
		   const struct tux_pkt *h, const uint8_t *p, tux_time now);

#endif
