/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp - datagrams by way of AF_XDP
 *
 * The link owns all queues of one interface.  A datagram travels under the
 * addresses and ports of a TCP connection, so that nobody listens anywhere, and
 * leaves by the queue from which that connection's last one came.
 */
#ifndef TUX_LINK_XDP_H
#define TUX_LINK_XDP_H

#include "link/link.h"

extern const struct tux_link_ops tux_xdp;

#endif
