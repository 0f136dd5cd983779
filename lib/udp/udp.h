/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp - datagrams by way of ordinary UDP sockets
 *
 * No privilege and any interface: how tests, containers and laptops run the
 * stack.  One socket on any port is the queue, for both families; one per
 * listener is bound where that listens.  Ports are never shared with anybody.
 * Silence and ICMP say nothing about a peer, so no error of a socket is ever
 * reported.
 */
#ifndef TUX_UDP_UDP_H
#define TUX_UDP_UDP_H

#include "link/link.h"

extern const struct tux_link_ops tux_udp;

/* The queue of @l, a link over UDP. */
const struct tux_udp_queue *tux_udp_queue(const struct tux_link *l);

#endif
