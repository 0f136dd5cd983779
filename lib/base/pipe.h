/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pipe - bytes of one direction, in order, between one producer and one consumer
 *
 * Places are 64-bit stream offsets.  Bytes in [tail, head) are there to be
 * consumed; the producer may also place bytes beyond head, anywhere in
 * [head, tail + cap), and publish them later (a receiver fills gaps that way).
 * The block and its bytes hold no pointer and may be shared by processes.
 * One thread produces and one consumes at any time; who takes turns at an end
 * holds that end's latch.
 *
 * A pipe that runs empty starts again at the front of its memory, so that a
 * connection with little in flight touches few cache lines.
 */
#ifndef TUX_BASE_PIPE_H
#define TUX_BASE_PIPE_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct tux_pipe {
	_Atomic uint64_t head;	/* producer's: end of what is published */
	_Atomic uint64_t tail;	/* consumer's: end of what is consumed */
	uint64_t origin;	/* producer's: the offset at mem[0] of this lap */
	uint32_t cap;		/* power of two */
	uint32_t mem;		/* distance of the bytes from this struct */
};

/* Starts @p again, empty at offset @off; neither end may be at work. */
static inline void tux_pipe_reset(struct tux_pipe *p, uint64_t off)
{
	p->origin = off;
	atomic_store_explicit(&p->tail, off, memory_order_relaxed);
	atomic_store_explicit(&p->head, off, memory_order_release);
}

/* Sets up @p, empty at offset @off, with its @cap bytes (a power of two)
 * @mem bytes after @p. */
static inline void tux_pipe_init(struct tux_pipe *p, uint32_t mem, uint32_t cap,
				 uint64_t off)
{
	p->mem = mem;
	p->cap = cap;
	tux_pipe_reset(p, off);
}

static inline uint64_t tux_pipe_head(const struct tux_pipe *p)
{
	return atomic_load_explicit(&p->head, memory_order_acquire);
}

static inline uint64_t tux_pipe_tail(const struct tux_pipe *p)
{
	return atomic_load_explicit(&p->tail, memory_order_acquire);
}

static inline uint32_t tux_pipe_len(const struct tux_pipe *p)
{
	/* tail first: head only grows, so the difference is never negative. */
	uint64_t tail = tux_pipe_tail(p);

	return (uint32_t)(tux_pipe_head(p) - tail);
}

static inline uint32_t tux_pipe_room(const struct tux_pipe *p)
{
	return p->cap - tux_pipe_len(p);
}

/* Producer, with nothing placed beyond head: start at the front if empty. */
static inline void tux_pipe_rewind(struct tux_pipe *p)
{
	uint64_t head = atomic_load_explicit(&p->head, memory_order_relaxed);

	if (tux_pipe_tail(p) == head)
		p->origin = head;
}

/* The bytes at offset @off, and in *@len how many stand there in one piece
 * (at most the *@len asked for). */
static inline uint8_t *tux_pipe_at(const struct tux_pipe *p, uint64_t off,
				   uint32_t *len)
{
	uint32_t i = (uint32_t)(off - p->origin) & (p->cap - 1);

	if (*len > p->cap - i)
		*len = p->cap - i;
	return (uint8_t *)(uintptr_t)p + p->mem + i;
}

/* Producer: copies @len bytes to offset @off; they must fit below tail + cap. */
static inline void tux_pipe_place(struct tux_pipe *p, uint64_t off,
				  const void *src, uint32_t len)
{
	uint32_t n = len;
	uint8_t *at = tux_pipe_at(p, off, &n);

	memcpy(at, src, n);
	if (n < len) {
		uint32_t rest = len - n;

		at = tux_pipe_at(p, off + n, &rest);
		memcpy(at, (const uint8_t *)src + n, rest);
	}
}

/* Consumer (or producer, of its own bytes): copies out without consuming. */
static inline void tux_pipe_copy(const struct tux_pipe *p, uint64_t off,
				 void *dst, uint32_t len)
{
	uint32_t n = len;
	const uint8_t *at;

	if (!len)		/* an empty pipe's origin is the producer's */
		return;
	at = tux_pipe_at(p, off, &n);
	memcpy(dst, at, n);
	if (n < len) {
		uint32_t rest = len - n;

		at = tux_pipe_at(p, off + n, &rest);
		memcpy((uint8_t *)dst + n, at, rest);
	}
}

/* Producer: all below @head is there. */
static inline void tux_pipe_publish(struct tux_pipe *p, uint64_t head)
{
	atomic_store_explicit(&p->head, head, memory_order_release);
}

/* Consumer: all below @tail is done with. */
static inline void tux_pipe_consume(struct tux_pipe *p, uint64_t tail)
{
	atomic_store_explicit(&p->tail, tail, memory_order_release);
}

#endif
