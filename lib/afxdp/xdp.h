/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp - datagrams by way of AF_XDP
 *
 * The links of a stack own all queues of one interface, which they divide, and one
 * UDP socket.  What comes to the socket's port at an address of their connections, the
 * interface's program hands to the queues.  The first loop's link receives from the
 * socket what comes while the program is not there.  What comes to another loop than its
 * connection's is passed on by the stack.
 *
 * A datagram leaves by the queue from which the last authentic one of its connection
 * came that the loop has received, if the queue is the loop's and can send; else by the
 * loop's first queue.  It has the number of the active end's TCP port, so that a peer's
 * interface spreads connections over its queues.
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
