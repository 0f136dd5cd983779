/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stream - pipes, and bytes that are a function of their offset, for the tests
 * of sendbuf and recvbuf
 */
#ifndef TUX_UNIT_STREAM_H
#define TUX_UNIT_STREAM_H

#include "../test.h"
#include "base/pipe.h"

enum { STREAM_CAP = 1024 };

struct stream {
	struct tux_pipe p;
	uint8_t mem[STREAM_CAP];
};

static inline void stream_init(struct stream *s, uint64_t off)
{
	tux_pipe_init(&s->p, offsetof(struct stream, mem), STREAM_CAP, off);
}

/* The byte at offset @off of every stream. */
static inline uint8_t stream_byte(uint64_t off)
{
	return (uint8_t)(off % 251 ^ off >> 8);
}

/* Bytes [@off, @off + @len) into @p. */
static inline void stream_fill(uint8_t *p, uint64_t off, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		p[i] = stream_byte(off + i);
}

/* The application writes @len bytes; there must be room. */
static inline void stream_write(struct stream *s, uint32_t len)
{
	uint64_t head = tux_pipe_head(&s->p);
	uint8_t b[STREAM_CAP];

	stream_fill(b, head, len);
	tux_pipe_rewind(&s->p);
	tux_pipe_place(&s->p, head, b, len);
	tux_pipe_publish(&s->p, head + len);
}

/* The application reads @len bytes and checks them. */
static inline void stream_read(struct stream *s, uint32_t len)
{
	uint64_t tail = tux_pipe_tail(&s->p);
	uint8_t b[STREAM_CAP], want[STREAM_CAP];

	stream_fill(want, tail, len);
	tux_pipe_copy(&s->p, tail, b, len);
	assert_memory_equal(b, want, len);
	tux_pipe_consume(&s->p, tail + len);
}

#endif
