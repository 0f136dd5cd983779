/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recvbuf - bytes of a stream that arrive in any order, put in order
 *
 * Bytes go straight to their place in the connection's pipe; the set of ranges
 * beyond its head says which are there.
 */
#ifndef TUX_PART_RECVBUF_H
#define TUX_PART_RECVBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "base/range.h"

struct tux_recvbuf {
	struct tux_pipe *pipe;	/* we produce it */
	struct tux_ranges ahead; /* arrived, beyond the pipe's head */
	uint64_t end;		/* where the stream ends; UINT64_MAX: not known */
	uint64_t limit;		/* the highest limit that the peer was told */
};

/* The stream begins at the pipe's head. */
void tux_recvbuf_init(struct tux_recvbuf *b, struct tux_pipe *pipe);

/* @len bytes at offset @off, and FIN behind them if @fin.  0 if nothing was
 * new, 1 if something was; -EBADMSG if it contradicts a known end of the
 * stream, -ENOBUFS if it lies beyond the room or leaves too many gaps (then
 * nothing was taken). */
int tux_recvbuf_put(struct tux_recvbuf *b, uint64_t off, const void *p,
		    uint32_t len, bool fin);

/* Everything below has arrived; one more than the end when FIN has, too. */
static inline uint64_t tux_recvbuf_got(const struct tux_recvbuf *b)
{
	uint64_t head = tux_pipe_head(b->pipe);

	return head == b->end ? head + 1 : head;
}

/* The window to tell the peer now, counted from tux_recvbuf_got(); remembers
 * the limit that it means. */
uint32_t tux_recvbuf_window(struct tux_recvbuf *b);

/* Consumption up to here makes a window update worth a packet: half of the
 * pipe beyond what the peer knows. */
static inline uint64_t tux_recvbuf_wake_at(const struct tux_recvbuf *b)
{
	return b->limit - b->pipe->cap / 2;
}

#endif
