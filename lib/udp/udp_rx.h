/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_rx - datagrams from a UDP socket
 *
 * Buffers for one batch, whichever socket it comes from.  A socket may hand over
 * several datagrams as one message (UDP_GRO); they are cut here, each to be
 * checked by itself.
 */
#ifndef TUX_UDP_UDP_RX_H
#define TUX_UDP_UDP_RX_H

#include <sys/socket.h>

#include "link/link.h"
#include "sys/name.h"

enum {
	TUX_UDP_RX_CUT_MAX = 128,	/* datagrams in a message: Linux's limit */
	TUX_UDP_RX_MAX = TUX_LINK_BATCH * TUX_UDP_RX_CUT_MAX,
};

/* What the kernel says of a message beside its bytes. */
union tux_udp_rx_control {
	struct cmsghdr align;
	char space[2 * CMSG_SPACE(sizeof(int))];	/* ECN, how to cut */
};

struct tux_udp_rx {
	struct mmsghdr msg[TUX_LINK_BATCH];
	struct iovec iov[TUX_LINK_BATCH];
	union tux_name name[TUX_LINK_BATCH];
	union tux_udp_rx_control control[TUX_LINK_BATCH];
	struct tux_dgram *dgram;
	uint8_t *mem;
	unsigned most;		/* messages to take at once */
	unsigned n;		/* datagrams of the batch, and their bytes */
	size_t bytes;
	bool large;		/* a batch needed much memory; settable */
};

/* -errno; fini() is due even then. */
int tux_udp_rx_init(struct tux_udp_rx *r);
void tux_udp_rx_fini(struct tux_udp_rx *r);

/* Lets the kernel hand over datagrams from @fd joined.  The first time on a host
 * takes the kernel 200 us.  False: it cannot. */
bool tux_udp_rx_join(int fd);

/* Was the last batch so many long datagrams that they are better joined? */
bool tux_udp_rx_bulk(const struct tux_udp_rx *r);

/* How many datagrams are in a message of @len bytes, if each but the last has
 * @each, 0: it is one.  0: that cannot be. */
unsigned tux_udp_rx_cut(size_t len, int each);

/* Takes what has arrived at @fd, without waiting: how many datagrams, in *@d,
 * borrowed until the next call. */
unsigned tux_udp_rx_take(struct tux_udp_rx *r, int fd,
			 const struct tux_dgram **d);

/* Gives back the memory of the last batch, and of those before. */
void tux_udp_rx_drop(struct tux_udp_rx *r);

#endif
