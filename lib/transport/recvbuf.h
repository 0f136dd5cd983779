/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recvbuf - puts the bytes of a stream that arrive in any order into order
 *
 * Bytes are copied straight to their place in the connection's pipe.  A set of
 * ranges says which bytes beyond the pipe's head have arrived.
 */
#ifndef TUX_TRANSPORT_RECVBUF_H
#define TUX_TRANSPORT_RECVBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "base/range.h"

struct tux_recvbuf {
	struct tux_pipe *pipe;	/* recvbuf is its producer */
	struct tux_ranges ahead; /* bytes that arrived beyond the pipe's head */
	uint64_t end;		/* offset of FIN; UINT64_MAX: not known */
	uint64_t limit;		/* the last window told to the peer ends here */
	uint64_t taken;		/* the application has all below, although the pipe
				 * still has them; or less */
};

/* The stream begins at the pipe's head. */
void tux_recvbuf_init(struct tux_recvbuf *b, struct tux_pipe *pipe);

/* @len bytes at offset @off have arrived, with FIN behind them if @fin.
 * Returns 1 if something was new, 0 if nothing was.  -EBADMSG: they contradict
 * what is known of the end of the stream.  -ENOBUFS: they lie beyond the room,
 * or would leave too many gaps; then nothing was taken. */
int tux_recvbuf_put(struct tux_recvbuf *b, uint64_t off, const void *p,
		    uint32_t len, bool fin);

/* All bytes below this offset have arrived.  FIN counts as a byte: it is
 * b->end + 1 once FIN and all bytes have arrived. */
static inline uint64_t tux_recvbuf_got(const struct tux_recvbuf *b)
{
	uint64_t head = tux_pipe_head(b->pipe);

	return head == b->end ? head + 1 : head;
}

/* The window to tell the peer now, in bytes beyond tux_recvbuf_got().  Sets
 * b->limit, which never goes back. */
uint32_t tux_recvbuf_window(struct tux_recvbuf *b);

/* When the application has consumed up to this offset, the window is worth a
 * packet of its own: it has grown by half of the pipe beyond b->limit. */
static inline uint64_t tux_recvbuf_wake_at(const struct tux_recvbuf *b)
{
	uint32_t half = tux_pipe_most(b->pipe) / 2;

	return b->limit > half ? b->limit - half : 0;
}

#endif
