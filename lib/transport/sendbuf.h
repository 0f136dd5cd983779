/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sendbuf - which bytes of a stream to send next
 *
 * The bytes lie in the connection's pipe, between its tail and its head.  The
 * peer's `got` moves the tail.  Lost bytes are sent again before new bytes.
 * The end of the stream, FIN, counts as one byte at offset `end`.
 */
#ifndef TUX_TRANSPORT_SENDBUF_H
#define TUX_TRANSPORT_SENDBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "base/range.h"

struct tux_sendbuf {
	struct tux_pipe *pipe;	/* sendbuf is its consumer */
	uint64_t next;		/* all below was sent once; FIN counts */
	uint64_t got;		/* the peer has all below; FIN counts */
	uint64_t limit;		/* the peer accepts bytes below */
	uint64_t end;		/* offset of FIN; UINT64_MAX: not known */
	struct tux_ranges lost;	/* lost and not yet sent again; FIN counts */
};

struct tux_extent {
	uint64_t off;
	uint32_t len;
	bool fin;		/* FIN follows these bytes */
};

/* The stream begins at @off, the pipe's tail; the peer accepts @window
 * bytes. */
void tux_sendbuf_init(struct tux_sendbuf *b, struct tux_pipe *pipe,
		      uint64_t off, uint32_t window);

/* The application ends the stream at @end.  Further calls change nothing. */
void tux_sendbuf_finish(struct tux_sendbuf *b, uint64_t end);

/* The peer has all below @got and accepts bytes below @limit.  Neither goes
 * back: a lower value changes nothing.  Returns 1 if one of them moved, 0 if
 * not, or -EBADMSG if @got is beyond what was sent. */
int tux_sendbuf_got(struct tux_sendbuf *b, uint64_t got, uint64_t limit);

/* A packet that carried [@off, @off + @len), and FIN if @fin, is lost. */
void tux_sendbuf_lost(struct tux_sendbuf *b, uint64_t off, uint32_t len,
		      bool fin);

/* [@off, @off + @len) has arrived after all: none of it need be sent again. */
void tux_sendbuf_found(struct tux_sendbuf *b, uint64_t off, uint32_t len);

/* Finds what to send next, at most @max bytes, and puts it into *@e; changes
 * nothing.  Returns false if there is nothing that the window allows. */
bool tux_sendbuf_peek(const struct tux_sendbuf *b, uint32_t max,
		      struct tux_extent *e);

/* Cuts *@e to @max bytes; FIN stays only behind all of its bytes, and not if
 * @max is 0. */
static inline void tux_extent_cut(struct tux_extent *e, size_t max)
{
	e->fin = e->fin && max && e->len <= max;
	if (e->len > max)
		e->len = (uint32_t)max;
}

/* Would tux_sendbuf_peek() find anything? */
static inline bool tux_sendbuf_any(const struct tux_sendbuf *b)
{
	uint64_t head = tux_pipe_head(b->pipe);

	return b->lost.n || b->next < (head < b->limit ? head : b->limit) ||
	       b->next == b->end;
}

/* *@e, from tux_sendbuf_peek(), is being sent. */
void tux_sendbuf_take(struct tux_sendbuf *b, const struct tux_extent *e);

/* Are there bytes to send that only the peer's window holds back? */
bool tux_sendbuf_blocked(const struct tux_sendbuf *b);

/* Has the peer acknowledged everything, FIN included? */
static inline bool tux_sendbuf_done(const struct tux_sendbuf *b)
{
	return b->end != UINT64_MAX && b->got > b->end;
}

#endif
