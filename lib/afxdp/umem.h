/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * umem - the frames that one AF_XDP socket and its kernel side share
 *
 * Chunks of 4 KiB, named by their index.  Each has one owner at any time, and
 * passes from one to the next by tux_umem_pass(), which names both:
 *
 *   FREE - get -> FILL -> HELD -> FREE		received
 *   FREE - get -> BUILT -> SENT -> FREE	sent; or FREE again, not sent
 *
 * A debug build (TUX_DEBUG) aborts at any other step, and fills free frames
 * with a pattern that it checks when they are taken: a write by a thread that
 * does not own the frame is found. A forked child has nothing mapped there.
 */
#ifndef TUX_AFXDP_UMEM_H
#define TUX_AFXDP_UMEM_H

#include <stddef.h>
#include <stdint.h>

enum {
	TUX_UMEM_CHUNK = 4096,
	TUX_UMEM_NONE = UINT16_MAX,	/* no frame */
	TUX_UMEM_MAX = 32768,		/* frames */
};

enum tux_umem_owner {
	TUX_UMEM_FREE,
	TUX_UMEM_FILL,		/* the kernel's, to receive into */
	TUX_UMEM_HELD,		/* the loop's: received, borrowed by readers */
	TUX_UMEM_BUILT,	/* the loop's: a datagram is being built in it */
	TUX_UMEM_SENT,		/* the kernel's, to send from */
	TUX_UMEM_OWNERS
};

struct tux_umem {
	uint8_t *mem;		/* n chunks */
	uint16_t *free;		/* a stack of free_n indices */
	uint8_t *owner;		/* enum tux_umem_owner of each */
	uint32_t n, free_n;
};

/* @n frames, all free.  -errno. */
int tux_umem_init(struct tux_umem *u, uint32_t n);
void tux_umem_fini(struct tux_umem *u);		/* all zero is fine */

/* Takes a free frame for @owner, FILL or BUILT; TUX_UMEM_NONE: none is free. */
uint16_t tux_umem_get(struct tux_umem *u, enum tux_umem_owner owner);

/* Frame @f goes from its owner @from to @to, maybe TUX_UMEM_FREE. */
void tux_umem_pass(struct tux_umem *u, uint16_t f, enum tux_umem_owner from,
		   enum tux_umem_owner to);

/* How many frames @owner has: for tests and for the end, it counts. */
uint32_t tux_umem_count(const struct tux_umem *u, enum tux_umem_owner owner);

static inline uint8_t *tux_umem_at(const struct tux_umem *u, uint16_t f)
{
	return u->mem + (size_t)f * TUX_UMEM_CHUNK;
}

#endif
