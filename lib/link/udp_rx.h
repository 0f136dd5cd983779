/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_rx - datagrams from a UDP socket
 *
 * Buffers for one batch, whichever socket it comes from.
 */
#ifndef TUX_LINK_UDP_RX_H
#define TUX_LINK_UDP_RX_H

#include <sys/socket.h>

#include "link/link.h"
#include "sys/name.h"

/* What the kernel says of a datagram beside its bytes. */
union tux_udp_rx_control {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(int))];	/* ECN */
};

struct tux_udp_rx {
	struct mmsghdr msg[TUX_LINK_BATCH];
	struct iovec iov[TUX_LINK_BATCH];
	union tux_name name[TUX_LINK_BATCH];
	union tux_udp_rx_control control[TUX_LINK_BATCH];
	struct tux_dgram dgram[TUX_LINK_BATCH];
	uint8_t *mem;
};

/* -errno; fini() is due even then. */
int tux_udp_rx_init(struct tux_udp_rx *r);
void tux_udp_rx_fini(struct tux_udp_rx *r);

/* Takes what has arrived at @fd, without waiting: how many datagrams, in *@d,
 * borrowed until the next call. */
unsigned tux_udp_rx_take(struct tux_udp_rx *r, int fd,
			 const struct tux_dgram **d);

#endif
