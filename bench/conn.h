/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn - a connection with questions under way, each with the instant from
 * which its latency counts
 *
 * Answers come in the order of the questions, unless the transport or the protocol
 * keeps none.
 */
#ifndef BENCH_CONN_H
#define BENCH_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "talk.h"
#include "transport.h"

struct conn_ask {
	tux_time meant;		/* when it was, or should have been, sent */
	uint64_t key;
};

struct conn_buf {
	uint8_t *p;
	size_t at, end, cap;	/* what is in it: [at, end) */
};

struct conn {
	struct transport *by;
	const struct talk *talk;
	int h;			/* -1: it is over */
	struct conn_buf out, in;
	struct conn_ask *ask;	/* a ring of `depth` */
	uint32_t depth, first, n;
	bool listed;		/* the user's mark; nothing here reads it */
};

/* Dials.  -errno. */
int conn_open(struct conn *c, struct transport *by, const struct talk *t,
	      uint32_t depth);
void conn_close(struct conn *c);	/* all zero with h = -1 is fine */

static inline bool conn_alive(const struct conn *c)
{
	return c->h >= 0;
}

/* May one more be asked? */
static inline bool conn_room(const struct conn *c)
{
	return conn_alive(c) && c->n < c->depth;
}

/* Queues the question about @key; conn_flush() sends what is queued, as far as
 * there is room.  -errno: the connection has ended. */
void conn_ask(struct conn *c, uint64_t key, tux_time meant);
int conn_flush(struct conn *c);

/* Receives once.  How much; -EAGAIN; other -errno: it has ended. */
ssize_t conn_recv(struct conn *c);

/* Takes the next answer of what was received: 1, and its question in *@of; 0: there
 * is none; -EBADMSG: it is wrong. */
int conn_answer(struct conn *c, struct conn_ask *of);

#endif
