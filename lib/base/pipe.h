/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pipe - a byte ring between one producer and one consumer
 *
 * A byte is named by its 64-bit offset in the stream.  The consumer may read
 * the bytes in [tail, head).  The producer may place bytes anywhere in
 * [head, tail + cap), in any order, and publish them later by moving head: that
 * is how a receiver puts bytes that arrived out of order into place.
 *
 * The struct and its bytes hold no pointer, so processes may share them.  At
 * any time one thread produces and one thread consumes; threads that take turns
 * at one side hold that side's latch.
 *
 * When the pipe is empty, the producer may start again at the front of its
 * memory (tux_pipe_rewind()), so a connection with little in flight touches few
 * cache lines.
 */
#ifndef TUX_BASE_PIPE_H
#define TUX_BASE_PIPE_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct tux_pipe {
	_Atomic uint64_t head;	/* bytes below are published; the producer
				 * writes it */
	_Atomic uint64_t tail;	/* bytes below are consumed; the consumer
				 * writes it */
	uint64_t origin;	/* an offset that lies at the front of the
				 * memory; the producer writes it */
	uint32_t cap;		/* bytes, a power of two */
	_Atomic uint32_t most;	/* it is to hold no more than these, up to cap */
	uint32_t mem;		/* from the start of this struct to the bytes */
};

/* Makes @p empty at offset @off.  Neither the producer nor the consumer may use
 * it meanwhile. */
static inline void tux_pipe_reset(struct tux_pipe *p, uint64_t off)
{
	p->origin = off;
	atomic_store_explicit(&p->tail, off, memory_order_relaxed);
	atomic_store_explicit(&p->head, off, memory_order_release);
}

/* Sets up @p, empty at offset @off.  Its @cap bytes (a power of two) begin @mem
 * bytes after @p. */
static inline void tux_pipe_init(struct tux_pipe *p, uint32_t mem, uint32_t cap,
				 uint64_t off)
{
	p->mem = mem;
	p->cap = cap;
	atomic_store_explicit(&p->most, cap, memory_order_relaxed);
	tux_pipe_reset(p, off);
}

/* From now on, @p is to hold @most bytes at most; what is in it stays.  Any thread;
 * the producer follows when it looks for room. */
static inline void tux_pipe_bound(struct tux_pipe *p, uint32_t most)
{
	atomic_store_explicit(&p->most, most < p->cap ? most : p->cap,
			      memory_order_relaxed);
}

static inline uint32_t tux_pipe_most(const struct tux_pipe *p)
{
	return atomic_load_explicit(&p->most, memory_order_relaxed);
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
	/* Read tail first: head only grows, so it is never below that tail. */
	uint64_t tail = tux_pipe_tail(p);

	return (uint32_t)(tux_pipe_head(p) - tail);
}

static inline uint32_t tux_pipe_room(const struct tux_pipe *p)
{
	uint32_t most = tux_pipe_most(p), len = tux_pipe_len(p);

	return len < most ? most - len : 0;
}

/* Producer: if the pipe is empty, the next byte goes to the front of the
 * memory.  Nothing may be placed beyond head, for placed bytes would not move
 * along. */
static inline void tux_pipe_rewind(struct tux_pipe *p)
{
	uint64_t head = atomic_load_explicit(&p->head, memory_order_relaxed);

	if (tux_pipe_tail(p) == head)
		p->origin = head;
}

/* The address of the byte at offset @off.  *@len is how many bytes the caller
 * wants there; it is cut to those that follow in one piece. */
static inline uint8_t *tux_pipe_at(const struct tux_pipe *p, uint64_t off,
				   uint32_t *len)
{
	uint32_t i = (uint32_t)(off - p->origin) & (p->cap - 1);

	if (*len > p->cap - i)
		*len = p->cap - i;
	return (uint8_t *)(uintptr_t)p + p->mem + i;
}

/* Producer: copies @len bytes to offset @off.  They must end at or below
 * tail + cap. */
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

/* Copies the @len bytes at offset @off to @dst without consuming them.  For the
 * consumer, or for the producer and bytes that it placed itself. */
static inline void tux_pipe_copy(const struct tux_pipe *p, uint64_t off,
				 void *dst, uint32_t len)
{
	uint32_t n = len;
	const uint8_t *at;

	/* With no byte published the producer may be moving origin. */
	if (!len)
		return;
	at = tux_pipe_at(p, off, &n);
	memcpy(dst, at, n);
	if (n < len) {
		uint32_t rest = len - n;

		at = tux_pipe_at(p, off + n, &rest);
		memcpy((uint8_t *)dst + n, at, rest);
	}
}

/* Producer: publishes all bytes below @head. */
static inline void tux_pipe_publish(struct tux_pipe *p, uint64_t head)
{
	atomic_store_explicit(&p->head, head, memory_order_release);
}

/* Consumer: gives back the memory of all bytes below @tail. */
static inline void tux_pipe_consume(struct tux_pipe *p, uint64_t tail)
{
	atomic_store_explicit(&p->tail, tail, memory_order_release);
}

#endif
