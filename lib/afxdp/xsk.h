/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xsk - an AF_XDP socket: one queue of an interface, its frames and its rings
 *
 * Four rings of one producer and one consumer lie between us and the kernel:
 *
 *   fill    we give frames to receive into      rx    and get them back full
 *   tx      we give frames to send              comp  and get them back
 *
 * Each side owns one index and reads the other's.  Indices run freely, their
 * low bits name the slot.  The verbs of a ring are those of libxdp, inline in
 * afxdp/xsk.h; the library itself is not needed.  One thread at a time,
 * but for what is said of any.
 */
#ifndef TUX_AFXDP_XSK_H
#define TUX_AFXDP_XSK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <xdp/xsk.h>

#include "afxdp/umem.h"
#include "link/tally.h"

enum {
	TUX_XSK_BATCH = 64,		/* frames in one tux_xsk_rx() */
	TUX_XSK_TX = 1024,		/* slots of tx and of comp */
	TUX_XSK_RINGS = 4,
};

/* Where a ring is mapped. */
struct tux_xsk_map {
	char *p;
	size_t len;
};

/* Packets and bytes, of which other threads may ask meanwhile. */
struct tux_xsk_moved {
	_Atomic uint64_t rx, tx, rx_bytes, tx_bytes;
};

struct tux_xsk {
	int fd;
	bool zerocopy;
	struct tux_umem umem;
	struct xsk_ring_prod fill, tx;
	struct xsk_ring_cons rx, comp;
	struct tux_xsk_map map[TUX_XSK_RINGS];
	uint32_t queued;		/* slots of tx, not submitted yet */
	bool all_sent;			/* the kernel has taken the others */
	uint16_t held[TUX_XSK_BATCH];	/* what the last rx() gave */
	unsigned held_n;
	struct tux_xsk_moved moved;
	struct tux_tally did;		/* system calls only */
};

struct tux_xsk_frame {
	const uint8_t *p;
	uint32_t len;
};

/* Opens a socket with @frames frames, a power of two; half of them go to the
 * kernel to receive into.  0; -EPERM; -ENOBUFS: RLIMIT_MEMLOCK is too low; or
 * another -errno.  After an error, @x is all zero and fd -1. */
int tux_xsk_open(struct tux_xsk *x, uint32_t frames);

/* Binds it to @queue of interface @ifindex, with XDP_COPY or XDP_ZEROCOPY.
 * 0; -EBUSY: another socket has the queue, and this one may try again with the
 * frames it has; -EOPNOTSUPP: not with XDP_ZEROCOPY; other -errno.  @x remains
 * to be closed. */
int tux_xsk_bind(struct tux_xsk *x, unsigned ifindex, uint32_t queue,
		 uint16_t how);
void tux_xsk_close(struct tux_xsk *x);

/* In a forked child: closes the descriptor; the memory is not there. */
void tux_xsk_forked(struct tux_xsk *x);

/* What has arrived, at most @max (up to TUX_XSK_BATCH), into @f; borrowed until
 * the next call, which also takes the frames of the last one back. */
unsigned tux_xsk_rx(struct tux_xsk *x, struct tux_xsk_frame *f, unsigned max);

/* A frame to build in; TUX_UMEM_NONE: all are under way, kick first. */
uint16_t tux_xsk_build(struct tux_xsk *x);

/* Queues @len bytes at @off in frame @f, which tux_xsk_build() gave. */
void tux_xsk_send(struct tux_xsk *x, uint16_t f, size_t off, size_t len);

/* Hands what was queued to the kernel, by the one system call of a turn, which
 * also lets a driver receive.  0; -EAGAIN: some is left, try again soon; other
 * -errno: the interface is down or gone. */
int tux_xsk_kick(struct tux_xsk *x);

/* Adds to @t the packets that the socket has moved, and their bytes.  Any thread. */
void tux_xsk_moved(const struct tux_xsk *x, struct tux_tally *t);

/* Adds to *@left and *@came how many packets the kernel has given back as sent, and
 * has received.  Any thread. */
void tux_xsk_seen(const struct tux_xsk *x, uint64_t *left, uint64_t *came);

/* Adds to @t what the socket has done, and where its frames are.  What has been
 * sent and has come back is taken back first. */
void tux_xsk_count(struct tux_xsk *x, struct tux_tally *t);

#endif
