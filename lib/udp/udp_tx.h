/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_tx - datagrams that wait to leave through a UDP socket
 *
 * One batch.  The datagrams lie one behind the other in memory, so that a batch
 * of short ones touches few pages, and so that the kernel can take a row of them
 * as the segments of one packet (UDP_SEGMENT): equal lengths, of which the last
 * may be shorter, with the same addresses and mark, whichever connections they
 * belong to.  A datagram longer than the row before it is most often a probe of
 * the path MTU.  It leaves apart: a row of two has equal lengths.
 *
 * A kernel or a path that takes no rows (one with IPsec, say) is noticed when it
 * refuses one; the datagrams of the row go one by one then.
 */
#ifndef TUX_UDP_UDP_TX_H
#define TUX_UDP_UDP_TX_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "link/link.h"
#include "sys/name.h"

/* What the kernel is told of a row: our own address, ECN, its segments. */
union tux_udp_tx_control {
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
		   CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint16_t))];
};

struct tux_udp_row {
	struct tux_addr to, from;
	size_t len;		/* of each datagram, the last aside */
	uint16_t n;
	uint8_t ecn;
	bool refused;		/* its datagrams go one by one */
};

struct tux_udp_tx {
	struct mmsghdr msg[TUX_LINK_BATCH];
	struct iovec iov[TUX_LINK_BATCH];
	union tux_name name[TUX_LINK_BATCH];
	union tux_udp_tx_control control[TUX_LINK_BATCH];
	struct tux_udp_row row[TUX_LINK_BATCH];
	unsigned first, n;	/* rows; from first to n: not yet with the
				 * kernel */
	unsigned datagrams;	/* in all rows */
	bool no_rows;		/* the kernel takes none */
	uint8_t *mem;
	size_t used;		/* bytes of mem */
	bool large;		/* a batch needed much memory; settable */
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

/* Gives back the memory of batches that have left. */
void tux_udp_tx_drop(struct tux_udp_tx *t);

#endif
