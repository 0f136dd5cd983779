/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edge - what is new about a sock for a caller that waits for edges
 *
 * The kernel tells an edge when something happens, be it of no consequence.  A
 * connection that moves to Tux has much happening to it that is nobody's
 * business, so here an edge is bytes that have come, be they read by now, room
 * that has come after bytes were written, an end, or a call of shutdown(), also if
 * it ends nothing that has not ended.
 *
 * One edge of the kernel's can be lost: bytes came on TCP and were read, and
 * the direction moved before the caller looked.  That edge would have told of
 * room alone.  A caller that has written nothing since does not wait for room.
 */
#ifndef TUX_PRELOAD_EDGE_H
#define TUX_PRELOAD_EDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "sock/ready.h"

struct edge {			/* what was told so far */
	uint64_t rx;		/* bytes that had come on the ring; 0: none */
	uint64_t tx;		/* bytes that had left, when told of room */
	uint32_t end;		/* EPOLLRDHUP, EPOLLERR, EPOLLHUP */
	uint8_t shuts;		/* calls of shutdown(), and the peer's end behind
				 * that of the reads */
	uint8_t resumes;	/* times that reads of the ring went on */
	uint32_t turns;		/* edge_hidden(): times that a direction has
				 * become plain again, */
	uint8_t bars;		/* ... waits for the end of a doubt, */
	uint8_t hidden_shuts;	/* ... calls of shutdown(), */
	uint64_t behind;	/* ... and bytes that had come on the ring */
};

/* Nothing has been told yet of @s; what only made TCP tell something has been, as
 * the kernel is asked anew. */
void edge_init(struct edge *e, struct sock *s);

/* Is there anything in @now, which ready_of(@s) gave a moment ago, that was not
 * told, or has something happened that is @asked for?  It counts as told from
 * now on, but for the room: see edge_told(). */
bool edge_new(struct edge *e, struct sock *s, uint32_t asked, uint32_t now);

/* Was there a reason to wait for room since it was told? */
bool edge_wrote(const struct edge *e, struct sock *s);

/* @told is told. */
void edge_told(struct edge *e, struct sock *s, uint32_t told);

/* An edge that shows only in what TCP can do, and of which the kernel knows
 * nothing: bytes on the ring behind bytes that are still in TCP; a direction is
 * plain TCP again, after a while in which TCP's edges were not the
 * application's; a write that had to wait, although TCP had room, need not wait any
 * more; or a call of shutdown() which the kernel has not seen. */
bool edge_hidden(struct edge *e, struct sock *s);

#endif
