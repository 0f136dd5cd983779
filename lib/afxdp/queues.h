/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queues - the queues of the interface that one loop has
 *
 * The fast side of the `xdp` link: what a loop does for each datagram.  It touches
 * its own queues, which no other loop has meanwhile (afxdp/shares.h), and takes no
 * lock.
 */
#ifndef TUX_AFXDP_QUEUES_H
#define TUX_AFXDP_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "afxdp/nic.h"
#include "link/link.h"
#include "wire/eth.h"

enum { TUX_QUEUES_BUF = TUX_UMEM_CHUNK - TUX_ETH_ROOM };

struct tux_queues {
	struct tux_nic *nic;		/* the stack's */
	unsigned loop;			/* its number there */
	uint32_t shares;		/* as of the last look: among how many loops
					 * the queues are divided */
	uint32_t n;			/* queues that the loop has: `loop`, `loop` +
					 * `shares`, ...; 0: none */
	uint32_t next;			/* to be looked at first, of these */
	uint32_t queue;			/* of `frame` */
	uint16_t frame;			/* being built in, or TUX_UMEM_NONE */
	int epfd;			/* for those that have no place in the list
					 * of what the loop sleeps on */
	uint64_t tag;			/* the data of their events */
};

/* @loop has none yet. */
void tux_queues_init(struct tux_queues *q, struct tux_nic *nic, unsigned loop,
		     int epfd, uint64_t tag);

/* Takes queues or lets go of them, as they are assigned.  True: it has done either. */
bool tux_queues_look(struct tux_queues *q);

/* Lets go of them. */
void tux_queues_leave(struct tux_queues *q);

/* What the loop sleeps on, into @fd; how many. */
unsigned tux_queues_fds(const struct tux_queues *q, int fd[TUX_LINK_FDS]);

/* What has arrived, into @d: how many, TUX_LINK_BATCH at most; borrowed until the next
 * call, and until the next look. */
unsigned tux_queues_rx(struct tux_queues *q,
		       struct tux_dgram d[TUX_LINK_BATCH]);

/* The queue by which the loop, which has some, sends what belongs to @queue: @queue
 * itself if the loop has it and it can send, else the loop's first. */
uint32_t tux_queues_near(const struct tux_queues *q, uint32_t queue);

/* A buffer of TUX_QUEUES_BUF bytes for a datagram that leaves by @queue, which
 * tux_queues_near() has given; NULL: flush first. */
uint8_t *tux_queues_tx(struct tux_queues *q, uint32_t queue);

/* @len bytes in the last buffer leave from @from to @to. */
void tux_queues_send(struct tux_queues *q, size_t len,
		     const struct tux_eth_macs *m, const struct tux_addr *from,
		     const struct tux_addr *to, uint8_t ecn);

/* Hands what was sent to the kernel.  False: some of it stays for now. */
bool tux_queues_flush(struct tux_queues *q);

#endif
