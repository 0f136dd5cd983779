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
 * low bits name the slot.  One thread at a time.
 */
#ifndef TUX_LINK_XSK_H
#define TUX_LINK_XSK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/if_xdp.h>

#include "link/tally.h"
#include "link/umem.h"

enum {
	TUX_XSK_BATCH = 64,		/* frames in one tux_xsk_rx() */
	TUX_XSK_TX = 1024,		/* slots of tx and of comp */
};

struct tux_xsk_ring {
	uint32_t *prod, *cons;		/* shared with the kernel */
	uint32_t *flags;
	void *slot;			/* uint64_t or struct xdp_desc each */
	uint32_t size;			/* a power of two */
	uint32_t ours;			/* our index; published by submit() */
	uint32_t theirs;		/* the kernel's, as last read */
	void *map;
	size_t map_len;
};

/* ---- as producer: fill and tx ---- */

/* Is there room for @n more?  The acquire pairs with the kernel's release of
 * its index: a slot that it has passed, it has read, and we may write. */
static inline bool tux_xsk_room(struct tux_xsk_ring *r, uint32_t n)
{
	if (r->size - (r->ours - r->theirs) >= n)
		return true;
	r->theirs = __atomic_load_n(r->cons, __ATOMIC_ACQUIRE);
	return r->size - (r->ours - r->theirs) >= n;
}

/* Shows the kernel all that was put.  The release orders the slots, and the
 * frames they name, before the index. */
static inline void tux_xsk_submit(struct tux_xsk_ring *r)
{
	__atomic_store_n(r->prod, r->ours, __ATOMIC_RELEASE);
}

/* How much the kernel has not taken yet. */
static inline uint32_t tux_xsk_pending(struct tux_xsk_ring *r)
{
	r->theirs = __atomic_load_n(r->cons, __ATOMIC_ACQUIRE);
	return r->ours - r->theirs;
}

/* ---- as consumer: rx and comp ---- */

/* How many slots are there to read, at most @max.  The acquire pairs with the
 * kernel's release: slots before its index are written, and so are the frames
 * they name. */
static inline uint32_t tux_xsk_peek(struct tux_xsk_ring *r, uint32_t max)
{
	uint32_t n = r->theirs - r->ours;

	if (n < max) {
		r->theirs = __atomic_load_n(r->prod, __ATOMIC_ACQUIRE);
		n = r->theirs - r->ours;
	}
	return n < max ? n : max;
}

/* Gives @n slots back.  The release orders our reading of them before the index
 * that lets the kernel write them again. */
static inline void tux_xsk_release(struct tux_xsk_ring *r, uint32_t n)
{
	r->ours += n;
	__atomic_store_n(r->cons, r->ours, __ATOMIC_RELEASE);
}

/* ---- slots ---- */

static inline uint64_t *tux_xsk_addr(struct tux_xsk_ring *r, uint32_t i)
{
	return (uint64_t *)r->slot + (i & (r->size - 1));
}

static inline struct xdp_desc *tux_xsk_desc(struct tux_xsk_ring *r, uint32_t i)
{
	return (struct xdp_desc *)r->slot + (i & (r->size - 1));
}

/* The kernel wants a system call before it goes on.  It writes the flag after
 * it has found the ring as it is; a stale 0 is seen at the next look. */
static inline bool tux_xsk_sleeps(const struct tux_xsk_ring *r)
{
	return __atomic_load_n(r->flags, __ATOMIC_RELAXED) &
	       XDP_RING_NEED_WAKEUP;
}

/* ---- the socket ---- */

struct tux_xsk {
	int fd;
	bool zerocopy;
	struct tux_umem umem;
	struct tux_xsk_ring fill, rx, tx, comp;
	uint16_t held[TUX_XSK_BATCH];	/* what the last rx() gave */
	unsigned held_n;
	struct tux_tally did;		/* packets and system calls only */
};

struct tux_xsk_frame {
	const uint8_t *p;
	uint32_t len;
};

/* Opens a socket with @frames frames (a power of two, half of them to receive
 * into) and binds it to @queue of interface @ifindex, with XDP_COPY or
 * XDP_ZEROCOPY.  0; -EBUSY: somebody has the queue; -EOPNOTSUPP: not with
 * XDP_ZEROCOPY; -EPERM, -ENOBUFS (memory must not be locked), other -errno.
 * @x is all zero and fd -1 then. */
int tux_xsk_open(struct tux_xsk *x, unsigned ifindex, uint32_t queue,
		 uint32_t frames, uint16_t how);
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

/* Adds to @t what the socket has done, and where its frames are.  What has been
 * sent and has come back is taken back first. */
void tux_xsk_count(struct tux_xsk *x, struct tux_tally *t);

#endif
