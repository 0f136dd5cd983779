/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp - datagrams by way of AF_XDP
 *
 * The link owns all queues of one interface, and a UDP socket.  What comes to
 * the socket's port at an address of its connections, the interface's program
 * hands to the queues; the socket receives what comes while the program is not
 * there.  A datagram leaves by the queue from which the last authentic one of
 * its connection came, under the number of the active end's TCP port, so that a
 * peer's interface spreads connections over its queues.
 *
 * With tux_link_opts.mixed, the socket also carries what the interface cannot,
 * or should not since connections are idle or other programs need it more.  A
 * connection then stays on Tux, whichever of the two carries it.  Without it,
 * the socket carries only what belongs to no connection: answers to peers that
 * ask for one in vain.
 */
#ifndef TUX_AFXDP_XDP_H
#define TUX_AFXDP_XDP_H

#include "link/link.h"

extern const struct tux_link_ops tux_xdp;

#endif
