/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recvbuf - bytes of a stream that arrive in any order, put in order
 */
#include "part/recvbuf.h"

#include <errno.h>

/* The highest offset that the pipe has memory for. */
static uint64_t room_end(const struct tux_recvbuf *b)
{
	return tux_pipe_tail(b->pipe) + b->pipe->cap;
}

void tux_recvbuf_init(struct tux_recvbuf *b, struct tux_pipe *pipe)
{
	b->pipe = pipe;
	tux_ranges_init(&b->ahead);
	b->end = UINT64_MAX;
	b->limit = room_end(b);
}

/* Do bytes up to @stop, with FIN there if @fin, agree with what is known? */
static bool end_fits(const struct tux_recvbuf *b, uint64_t stop, bool fin)
{
	uint64_t top = tux_pipe_head(b->pipe);

	if (b->end != UINT64_MAX)
		return fin ? stop == b->end : stop <= b->end;
	if (b->ahead.n)
		top = b->ahead.r[b->ahead.n - 1].end;
	return !fin || stop >= top;
}

/* Is all of [@start, @stop), beyond the head, there already? */
static bool known(const struct tux_ranges *s, uint64_t start, uint64_t stop)
{
	uint32_t i = 0;

	while (i < s->n && s->r[i].end < stop)
		i++;
	return i < s->n && s->r[i].start <= start;
}

/* [@head, @stop) has been placed: publish it and what follows on it. */
static void publish(struct tux_recvbuf *b, uint64_t stop)
{
	tux_ranges_below(&b->ahead, stop);
	if (b->ahead.n && b->ahead.r[0].start == stop) {
		stop = b->ahead.r[0].end;
		tux_ranges_below(&b->ahead, stop);
	}
	tux_pipe_publish(b->pipe, stop);
}

/* Takes bytes [@start, @stop), none of them below the head. */
static int take(struct tux_recvbuf *b, uint64_t start, const uint8_t *p,
		uint64_t stop)
{
	uint64_t head = tux_pipe_head(b->pipe);

	if (known(&b->ahead, start, stop))
		return 0;
	/* Placed bytes would not move along with a new beginning. */
	if (!b->ahead.n)
		tux_pipe_rewind(b->pipe);
	if (start != head && tux_ranges_add(&b->ahead, start, stop))
		return -ENOBUFS;
	tux_pipe_place(b->pipe, start, p, (uint32_t)(stop - start));
	if (start == head)
		publish(b, stop);
	return 1;
}

int tux_recvbuf_put(struct tux_recvbuf *b, uint64_t off, const void *p,
		    uint32_t len, bool fin)
{
	uint64_t head = tux_pipe_head(b->pipe);
	uint64_t stop = off + len, start = off > head ? off : head;
	int new = 0;

	if (stop < off || stop == UINT64_MAX || !end_fits(b, stop, fin))
		return -EBADMSG;
	/* FIN alone needs no room; it may come long before the bytes. */
	if (len && stop > room_end(b))
		return -ENOBUFS;
	if (start < stop) {
		new = take(b, start, (const uint8_t *)p + (start - off), stop);
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
	uint64_t got = tux_recvbuf_got(b), end = room_end(b);

	b->limit = end;
	return got < end ? (uint32_t)(end - got) : 0;
}
