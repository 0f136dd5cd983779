/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * payload - messages of all lengths that both ends of a connection know, sent
 * and taken in any number, with the stream beside them
 *
 * What message i of a sender is follows from a seed and i.  One of four bytes
 * or more begins with i; shorter ones are always ordered, so that the reader
 * knows which it is.
 */
#ifndef TUX_LIVE_PAYLOAD_H
#define TUX_LIVE_PAYLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "side.h"
#include "stack/post.h"

enum { PAYLOAD_RING = 4096 };	/* more than can be under way */

struct payloads {		/* of one direction */
	uint64_t seed;
	uint32_t max;		/* the longest: every 97th */
	uint32_t n;		/* of them; UINT32_MAX: not yet known */
	uint32_t next;		/* the sender's: the next to send */
	_Atomic bool stop;	/* it sends no more; any thread sets it */
	uint32_t low;		/* the reader's: the lowest not yet here, */
	_Atomic uint32_t got_n;	/* how many are, */
	uint32_t ordered;	/* no ordered one below is missing */
	uint64_t bytes;
	bool got[PAYLOAD_RING];
};

void payloads_init(struct payloads *p, uint64_t seed, uint32_t n, uint32_t max);

uint32_t payload_len(const struct payloads *p, uint32_t i);
unsigned payload_flags(const struct payloads *p, uint32_t i);

/* Hands the next one in.  0, or what tux_post_reserve() says. */
int payloads_send(struct payloads *p, struct side *x);

/* Message @m has come.  NULL, or what is wrong with it. */
const char *payloads_check(struct payloads *p, const struct tux_msg *m);

/* Sends @out, until all are sent, @until has come or @out is told to stop, and
 * then, in the stream, how many; takes @in until that many are here.  NULL, or
 * what went wrong. */
const char *payloads_exchange(struct side *x, struct payloads *out,
			     struct payloads *in, tux_time until);

#endif
