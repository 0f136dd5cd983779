/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forge - packets and frames that a peer might send, as the input wants them
 *
 * Each number is the right one, or near it, or any.  Content follows from its
 * place, as in world.h: whatever else the peer says, what it sends twice is the
 * same.
 */
#ifndef FUZZ_FORGE_H
#define FUZZ_FORGE_H

#include "world.h"

enum { FORGED = 4 };			/* messages that are spoken of again */

struct forged {
	uint8_t flags;
	uint32_t id, pos, total, order;
};

struct forge {
	struct fuzz_end *to;
	bool key;			/* it seals what it sends */
	bool raw;			/* it has sent RAW or PLAIN */
	uint64_t seq;			/* its next number */
	uint32_t id[TUX_LANES], pos[TUX_LANES], order;
	struct forged message[FORGED];	/* the last */
	unsigned message_n;
};

/* Speaks to @to as its peer does, with the key or without. */
void forge_init(struct forge *f, struct fuzz_end *to, bool key);

/* The next packet, in @cap bytes at @p; its length. */
size_t forge_packet(struct forge *f, struct fuzz_in *in, uint8_t *p,
		    size_t cap);

/* The next frame, with its body, in @cap bytes at @p; its length. */
size_t forge_frame(struct forge *f, struct fuzz_in *in, uint8_t *p, size_t cap);

#endif
