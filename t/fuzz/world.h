/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world - two cores, a connection between them, and TCP under it, in memory
 *
 * Like t/sim, but small and quick: it begins anew with each input, as it was
 * when it was saved.  Time and the network are the target's.  All bytes that an
 * application writes follow from their place, so that who reads can tell
 * whether they are right.
 */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include "../duo/end.h"
#include "conn/conn_in.h"
#include "fuzz.h"
#include "mem.h"

enum {
	FUZZ_RING = 4096,
	FUZZ_MTU = 600,		/* of the path, to begin with */
	FUZZ_DGRAM = 700,	/* ... and at most */
	FUZZ_TCP = 4096,	/* bytes that TCP has room for */
	FUZZ_TAKEN = 8,		/* messages that an application keeps */
	FUZZ_IDS = 512,		/* messages that may be delivered */
};

struct fuzz_end {
	struct duo_end end;
	struct fuzz_world *w;
	bool closed, shut;	/* by the application */
	bool eof;		/* it has read the end, */
	int err;		/* ... or been told this */
	uint64_t wrote, read;
	bool muddled;		/* what it reads follows from nothing now */
	uint32_t sent_n[TUX_LANES];	/* messages */
	uint32_t got_n, failed_n;
	bool cancelled;
	uint64_t ref;		/* the last message sent */
	struct tux_msg taken[FUZZ_TAKEN];
	unsigned taken_n;
	uint8_t seen[TUX_LANES][FUZZ_IDS / 8];	/* messages delivered */
};

/* Where a world is when it is saved. */
enum fuzz_stage {
	FUZZ_OPENING,		/* nothing has been sent */
	FUZZ_PROVED,		/* each knows the other; nothing has moved */
	FUZZ_MOVED,		/* both directions are on Tux */
	FUZZ_BACK,		/* ... and back in TCP again */
};

struct fuzz_world {
	struct fuzz_mem *mem[2];	/* of the world and end 0, of end 1 */
	struct fuzz_end end[2];
	uint8_t tcp[2][FUZZ_TCP];	/* on its way to each */
	tux_time now;
	uint8_t salt;		/* in all bytes, so that none of another input
				 * is taken for one of this */
	/* What end 0 and 1 have sent: told each datagram of a core.  NULL: to
	 * the other end, at once. */
	void (*sent)(struct fuzz_end *e, const uint8_t *p, size_t len);
	unsigned datagrams;	/* since the target set it to 0 */
	uint64_t bytes;		/* in them */
};

/* A world at @stage, saved; with messages or without. */
struct fuzz_world *fuzz_world_new(enum fuzz_stage stage, bool messages);

/* As it was, but for the end @but, if that is 0 or 1, which nobody uses; bytes
 * are salted with @salt. */
enum { FUZZ_NONE = 2 };
void fuzz_world_restore(struct fuzz_world *w, unsigned but, uint8_t salt);

/* Has the core of any end asked for memory since? */
bool fuzz_world_grew(const struct fuzz_world *w);

/* Closes @e and its core: no memory of it is left. */
void fuzz_end_end(struct fuzz_end *e);

static inline struct fuzz_end *fuzz_peer(struct fuzz_end *e)
{
	return &e->w->end[!e->end.side];
}

/* ---- the loop of an end ---- */

void fuzz_input(struct fuzz_end *e, const struct tux_addr *from,
		const uint8_t *p, size_t len);
/* Sends until the core has no more: that may not take long. */
void fuzz_output(struct fuzz_end *e);
/* A turn of both ends, or of one, as often as something moves. */
void fuzz_turn(struct fuzz_end *e);
/* Time goes on by @by at @e; what is due in between happens in time. */
void fuzz_pass(struct fuzz_end *e, tux_time by);
/* The same at both ends, which take their turns. */
void fuzz_pass_both(struct fuzz_world *w, tux_time by);

/* ---- the application of an end (app.c) ---- */

/* The @len bytes from @off on of the stream that side @side writes, to @p; are
 * those at @p right? */
void fuzz_fill(const struct fuzz_world *w, unsigned side, uint64_t off,
	       uint8_t *p, size_t len);
bool fuzz_same(const struct fuzz_world *w, unsigned side, uint64_t off,
	       const uint8_t *p, size_t len);

/* The same of its message @n in @lane, which begins with @n. */
void fuzz_message_fill(const struct fuzz_world *w, unsigned side, unsigned lane,
		       uint32_t n, uint32_t off, uint8_t *p, size_t len);
bool fuzz_message_same(const struct fuzz_world *w, unsigned side, unsigned lane,
		       uint32_t n, const uint8_t *p, size_t len);

void fuzz_write(struct fuzz_end *e, size_t len);
void fuzz_read(struct fuzz_end *e, size_t len);
void fuzz_shut(struct fuzz_end *e);
void fuzz_ring(struct fuzz_end *e, uint32_t bits);
void fuzz_close(struct fuzz_end *e, bool abort);
void fuzz_send(struct fuzz_end *e, uint32_t len, unsigned flags);
void fuzz_cancel(struct fuzz_end *e);
/* Takes what has come, and looks at what was sent. */
void fuzz_take(struct fuzz_end *e);
/* Is done with the @i-th of those it keeps. */
void fuzz_release(struct fuzz_end *e, unsigned i);

#endif
