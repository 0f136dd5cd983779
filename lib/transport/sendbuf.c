/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sendbuf - which bytes of a stream to send next
 *
 * FIN is treated as the byte at offset `end`.  Once it was sent, `next` is
 * end + 1; when it is lost, it is in the ranges of `lost`; when it has arrived,
 * `got` is end + 1.
 */
#include "transport/sendbuf.h"

#include <assert.h>
#include <errno.h>

static uint64_t sendbuf_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void tux_sendbuf_init(struct tux_sendbuf *b, struct tux_pipe *pipe,
		      uint64_t off, uint32_t window)
{
	b->pipe = pipe;
	b->next = b->got = off;
	b->limit = off + window;
	b->end = UINT64_MAX;
	tux_ranges_init(&b->lost);
}

void tux_sendbuf_finish(struct tux_sendbuf *b, uint64_t end)
{
	if (b->end != UINT64_MAX)
		return;
	assert(b->next <= end && "no byte beyond the end was sent");
	b->end = end;
}

int tux_sendbuf_got(struct tux_sendbuf *b, uint64_t got, uint64_t limit)
{
	int moved = 0;

	if (got > b->next)
		return -EBADMSG;
	if (got > b->got) {
		b->got = got;
		tux_ranges_below(&b->lost, got);
		tux_pipe_consume(b->pipe, sendbuf_min(got, b->end));
		moved = 1;
	}
	if (limit > b->limit) {
		b->limit = limit;
		moved = 1;
	}
	return moved;
}

/* Adds a range for which there is no room: joins it, with the gap between, to
 * the nearer of its neighbours.  The bytes of the gap are sent again although
 * they are not lost; the receiver ignores what it has. */
static void sendbuf_add_with_gap(struct tux_ranges *s, uint64_t start,
				 uint64_t end)
{
	uint64_t before = UINT64_MAX, behind = UINT64_MAX;	/* the gaps */
	uint32_t i = 0;
	int err;

	while (i < s->n && s->r[i].end < start)
		i++;
	if (i > 0)
		before = start - s->r[i - 1].end;
	if (i < s->n)
		behind = s->r[i].start - end;
	if (before <= behind)
		err = tux_ranges_add(s, start - before, end);
	else
		err = tux_ranges_add(s, start, end + behind);
	assert(!err && "it touches a range, so it needs none of its own");
	(void)err;
}

void tux_sendbuf_lost(struct tux_sendbuf *b, uint64_t off, uint32_t len,
		      bool fin)
{
	uint64_t start = off > b->got ? off : b->got;
	uint64_t end = sendbuf_min(off + len + fin, b->next);

	if (start < end && tux_ranges_add(&b->lost, start, end))
		sendbuf_add_with_gap(&b->lost, start, end);
}

void tux_sendbuf_found(struct tux_sendbuf *b, uint64_t off, uint32_t len)
{
	int err = tux_ranges_sub(&b->lost, off, off + len);

	(void)err;	/* no room to split a range: the bytes are sent twice */
}

/* *@e becomes [@off, @end), cut to @max bytes, with FIN if it reaches the end
 * of the stream.  FIN is included even if it is not lost: it costs no byte. */
static bool sendbuf_extent(const struct tux_sendbuf *b, uint64_t off,
			   uint64_t end, uint32_t max, struct tux_extent *e)
{
	end = sendbuf_min(end, b->end);
	e->off = off;
	e->len = off < end ? (uint32_t)sendbuf_min(end - off, max) : 0;
	e->fin = off + e->len == b->end;
	return e->len || e->fin;
}

bool tux_sendbuf_peek(const struct tux_sendbuf *b, uint32_t max,
		      struct tux_extent *e)
{
	if (b->lost.n)
		return sendbuf_extent(b, b->lost.r[0].start,
				      b->lost.r[0].end, max, e);
	if (b->next > b->end)
		return false;
	return sendbuf_extent(b, b->next,
			      sendbuf_min(tux_pipe_head(b->pipe), b->limit),
			      max, e);
}

void tux_sendbuf_take(struct tux_sendbuf *b, const struct tux_extent *e)
{
	uint64_t end = e->off + e->len + e->fin;
	int err = tux_ranges_sub(&b->lost, e->off, end);

	assert(!err && "a lost extent is the front of the first range");
	(void)err;
	if (end > b->next)
		b->next = end;
}

bool tux_sendbuf_blocked(const struct tux_sendbuf *b)
{
	return !b->lost.n && b->next >= b->limit &&
	       b->next < sendbuf_min(tux_pipe_head(b->pipe), b->end);
}
