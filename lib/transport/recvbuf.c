/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recvbuf - puts the bytes of a stream that arrive in any order into order
 */
#include "transport/recvbuf.h"

#include <errno.h>

/* The pipe has memory for bytes below this offset. */
static uint64_t recvbuf_room_end(const struct tux_recvbuf *b)
{
	return tux_pipe_tail(b->pipe) + b->pipe->cap;
}

void tux_recvbuf_init(struct tux_recvbuf *b, struct tux_pipe *pipe)
{
	b->pipe = pipe;
	tux_ranges_init(&b->ahead);
	b->end = UINT64_MAX;
	b->limit = tux_pipe_tail(pipe) + tux_pipe_most(pipe);
	b->taken = 0;
}

/* Do bytes up to @stop, with FIN behind them if @fin, agree with what is known?
 * They must not pass a known end of the stream, and FIN must not be before
 * bytes that have arrived. */
static bool recvbuf_end_fits(const struct tux_recvbuf *b, uint64_t stop,
			     bool fin)
{
	uint64_t top = tux_pipe_head(b->pipe);

	if (b->end != UINT64_MAX)
		return fin ? stop == b->end : stop <= b->end;
	if (b->ahead.n)
		top = b->ahead.r[b->ahead.n - 1].end;
	return !fin || stop >= top;
}

/* Has all of [@start, @stop), which lies beyond the head, arrived? */
static bool recvbuf_has(const struct tux_ranges *s, uint64_t start,
			uint64_t stop)
{
	uint32_t i = 0;

	while (i < s->n && s->r[i].end < stop)
		i++;
	return i < s->n && s->r[i].start <= start;
}

/* All bytes from the head to @stop are in place: publishes them, and the range
 * that begins at @stop. */
static void recvbuf_publish(struct tux_recvbuf *b, uint64_t stop)
{
	tux_ranges_below(&b->ahead, stop);
	if (b->ahead.n && b->ahead.r[0].start == stop) {
		stop = b->ahead.r[0].end;
		tux_ranges_below(&b->ahead, stop);
	}
	tux_pipe_publish(b->pipe, stop);
}

/* Takes the bytes [@start, @stop), none of which is below the head. */
static int recvbuf_take(struct tux_recvbuf *b, uint64_t start,
			const uint8_t *p, uint64_t stop)
{
	uint64_t head = tux_pipe_head(b->pipe);

	if (recvbuf_has(&b->ahead, start, stop))
		return 0;
	/* A rewind does not move bytes that are in place beyond the head. */
	if (!b->ahead.n)
		tux_pipe_rewind(b->pipe);
	if (start != head && tux_ranges_add(&b->ahead, start, stop))
		return -ENOBUFS;
	tux_pipe_place(b->pipe, start, p, (uint32_t)(stop - start));
	if (start == head)
		recvbuf_publish(b, stop);
	return 1;
}

int tux_recvbuf_put(struct tux_recvbuf *b, uint64_t off, const void *p,
		    uint32_t len, bool fin)
{
	uint64_t head = tux_pipe_head(b->pipe);
	uint64_t stop = off + len, start = off > head ? off : head;
	int new = 0;

	if (stop < off || stop == UINT64_MAX ||
	    !recvbuf_end_fits(b, stop, fin))
		return -EBADMSG;
	/* FIN alone needs no room, so it may lie beyond the room. */
	if (len && stop > recvbuf_room_end(b))
		return -ENOBUFS;
	if (start < stop) {
		new = recvbuf_take(b, start, (const uint8_t *)p + (start - off),
				   stop);
		if (new < 0)
			return new;
	}
	if (fin && b->end == UINT64_MAX) {
		b->end = stop;
		new = 1;
	}
	return new;
}

uint32_t tux_recvbuf_window(struct tux_recvbuf *b)
{
	uint64_t got = tux_recvbuf_got(b), tail = tux_pipe_tail(b->pipe);
	uint64_t end = (b->taken > tail ? b->taken : tail) +
		       tux_pipe_most(b->pipe);

	if (end > recvbuf_room_end(b))
		end = recvbuf_room_end(b);
	if (end < b->limit)
		end = b->limit;
	b->limit = end;
	return got < end ? (uint32_t)(end - got) : 0;
}
