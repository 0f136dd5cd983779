/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay - a connection that plays a reel and checks the answers against another
 *
 * It sends what the depth allows, reads what has come, and compares every byte.
 * The first wrong one ends the program.
 *
 * A connection that may not end yet plays again: what it has written it reads
 * back before it writes it again.  Its last turn begins when it may end.
 */
#ifndef TUX_T_POSIX_REPLAY_H
#define TUX_T_POSIX_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reel.h"

enum { REPLAY_CHUNK = 65536 };

struct replay_opts {
	struct reel_plan plan;
	uint32_t depth;		/* commands before the first answer, at most */
	bool blocking;		/* EAGAIN means that a timeout has passed */
	bool edge;		/* read until EAGAIN, or nobody will call again */
	bool (*may_end)(void);
};

struct replay {
	const struct replay_opts *o;
	int fd;			/* -1 when all is answered, or to begin with */
	uint32_t id, first;
	bool connected, last;	/* last: it ends after this turn */
	struct reel_plan plan;	/* of this turn */
	struct reel out, in;
	uint8_t buf[REPLAY_CHUNK];	/* of out; [at, len) is not sent yet */
	size_t at, len;
	uint32_t reads;
	uint64_t moved_at;	/* client_now() when bytes last moved */
	uint32_t events;	/* the caller's: what epoll was told */
};

/* Connection number @id begins at item @from + @id; not yet open. */
void replay_init(struct replay *c, const struct replay_opts *o, uint32_t id,
		 uint32_t from);

bool replay_may_send(const struct replay *c);

/* Sends as much as may be sent now. */
void replay_send(struct replay *c);

/* Reads once.  True if something came.  Now and then it reads with a small
 * buffer, so that answers arrive in pieces and readiness is reported again. */
bool replay_recv(struct replay *c);

/* All is answered: false at the end; or the next turn begins. */
bool replay_again(struct replay *c);

/* The descriptor is ready for something: both, until nothing moves; and closes
 * it when all is answered. */
void replay_step(struct replay *c);

#endif
