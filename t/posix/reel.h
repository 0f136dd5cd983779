/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reel - one direction of a RESP connection, as bytes known beforehand
 *
 * Values are a function of a seed and an index, so what a client must send and
 * what the server must answer are both known to the last byte.  A reel plays
 * them piece by piece, from any size of buffer, and holds none of them.
 */
#ifndef TUX_T_POSIX_REEL_H
#define TUX_T_POSIX_REEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reel_verb { REEL_WRITE, REEL_READ, REEL_DEL };

struct reel_plan {
	enum reel_verb verb;
	uint64_t seed;
	uint32_t max;		/* longest value */
	uint32_t end;		/* items before this index */
	uint32_t step;		/* from one item of a connection to the next */
};

struct reel {
	const struct reel_plan *plan;
	bool reply;		/* the server's direction */
	uint32_t item;		/* whose bytes come next; >= plan->end: done */
	uint64_t pos;		/* within the item */
	char head[96];		/* text, value, text: an item's bytes */
	uint32_t head_len, body_len;
	const char *tail;
	uint32_t tail_len;
};

/* How long value @i is: 1 to max, each power of two as likely as the next, and
 * now and then a length that buffers and packets like to get wrong. */
uint32_t reel_length(const struct reel_plan *p, uint32_t i);

/* Starts at item @first. */
void reel_init(struct reel *r, const struct reel_plan *p, bool reply,
	       uint32_t first);

/* The next bytes, at most @cap of them and of one item; 0 at the end. */
size_t reel_read(struct reel *r, void *buf, size_t cap);

static inline bool reel_done(const struct reel *r)
{
	return r->item >= r->plan->end;
}

#endif
