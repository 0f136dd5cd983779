/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sendbuf - which bytes of a stream go next
 *
 * The bytes lie in the connection's pipe: [tail, head).  The peer's `got` moves
 * the tail; what was lost is sent again before what is new.  The end of the
 * stream (FIN) counts as one byte at offset `end`.
 */
#ifndef TUX_PART_SENDBUF_H
#define TUX_PART_SENDBUF_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pipe.h"
#include "base/range.h"

struct tux_sendbuf {
	struct tux_pipe *pipe;	/* we consume it */
	uint64_t next;		/* the first offset never sent */
	uint64_t got;		/* the peer has all below; FIN counted */
	uint64_t limit;		/* the peer takes bytes below */
	uint64_t end;		/* where the stream ends; UINT64_MAX: not known */
	struct tux_ranges lost;	/* sent, lost, not yet sent again */
};

struct tux_extent {
	uint64_t off;
	uint32_t len;
	bool fin;		/* FIN stands behind these bytes */
};

/* The stream begins at @off (the pipe's tail), and the peer takes @window. */
void tux_sendbuf_init(struct tux_sendbuf *b, struct tux_pipe *pipe,
		      uint64_t off, uint32_t window);

/* The application will send nothing beyond @end.  The first word counts. */
void tux_sendbuf_finish(struct tux_sendbuf *b, uint64_t end);

/* The peer has all below @got and takes bytes below @limit; neither goes back,
 * and a @got beyond what was sent is an error: -EBADMSG.  0 if nothing moved,
 * 1 if something did. */
int tux_sendbuf_got(struct tux_sendbuf *b, uint64_t got, uint64_t limit);

/* [@off, @off + @len) was in a packet that is lost; @fin if FIN was. */
void tux_sendbuf_lost(struct tux_sendbuf *b, uint64_t off, uint32_t len,
		      bool fin);

/* It was not lost: what of it waits to be sent again need not. */
void tux_sendbuf_found(struct tux_sendbuf *b, uint64_t off, uint32_t len);

/* What to send next, at most @max bytes: false if there is nothing (that the
 * window allows).  *@e is not yet taken. */
bool tux_sendbuf_peek(const struct tux_sendbuf *b, uint32_t max,
		      struct tux_extent *e);

/* Would it find anything? */
static inline bool tux_sendbuf_any(const struct tux_sendbuf *b)
{
	uint64_t head = tux_pipe_head(b->pipe);

	return b->lost.n || b->next < (head < b->limit ? head : b->limit) ||
	       b->next == b->end;
}

/* *@e, from tux_sendbuf_peek(), is being sent. */
void tux_sendbuf_take(struct tux_sendbuf *b, const struct tux_extent *e);

/* Is anything waiting that only the peer's window holds back? */
bool tux_sendbuf_blocked(const struct tux_sendbuf *b);

/* Has the peer everything, FIN too? */
static inline bool tux_sendbuf_done(const struct tux_sendbuf *b)
{
	return b->end != UINT64_MAX && b->got > b->end;
}

#endif
