/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_tx - datagrams that wait to leave through a UDP socket
 *
 * One batch.  The datagrams lie one behind the other in memory, so that a batch
 * of short ones touches few pages.
 */
#ifndef TUX_LINK_UDP_TX_H
#define TUX_LINK_UDP_TX_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "link/link.h"
#include "sys/name.h"

/* What the kernel is told of a datagram: our own address, ECN. */
union tux_udp_tx_control {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
		   CMSG_SPACE(sizeof(int))];
};

struct tux_udp_tx {
	struct mmsghdr msg[TUX_LINK_BATCH];
	struct iovec iov[TUX_LINK_BATCH];
	union tux_name name[TUX_LINK_BATCH];
	union tux_udp_tx_control control[TUX_LINK_BATCH];
	unsigned first, n;	/* from first to n: not yet with the kernel */
	uint8_t *mem;
	size_t used;		/* bytes of mem */
};

/* -errno; fini() is due even then. */
int tux_udp_tx_init(struct tux_udp_tx *t);
void tux_udp_tx_fini(struct tux_udp_tx *t);

/* A buffer of *@cap bytes for one datagram, NULL: flush() first. */
uint8_t *tux_udp_tx_buffer(const struct tux_udp_tx *t, size_t *cap);

/* That buffer holds @len bytes from our address @from to @to, to leave with
 * @ecn (TUX_ECN_*) through a socket of @family. */
void tux_udp_tx_put(struct tux_udp_tx *t, int family, size_t len,
		    const struct tux_addr *to, const struct tux_addr *from,
		    uint8_t ecn);

/* Hands the batch to the kernel.  What the kernel refuses is dropped.  False:
 * the kernel had no room for all; the rest waits for the next flush(). */
bool tux_udp_tx_flush(struct tux_udp_tx *t, int fd);

#endif
