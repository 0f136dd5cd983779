/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * recall - another process asks for a connection back, as plain TCP
 *
 * A forked child has the descriptors of its parent, but not its loops.  It can
 * use what the parent has on Tux as plain TCP only, so it asks for that, in a
 * table in shared memory, and rings the loop's eventfd.  The loop takes both
 * directions to TCP, whatever the parent's threads do meanwhile, pins them, and
 * answers in the table.  When the parent is alone with the connection again, it may
 * move once more (tux_recall_anew).  If it has messages, or the peer does not know
 * how, it has gone back to TCP for good.
 *
 * The parent takes nothing from the table but that some process asks for an end.
 * A hostile child may ask for each of them: then they go on over TCP.  The table is
 * all that a child sees of its parent's connections, but for the counts of holders: it
 * has none of the memory that their threads and loops share.
 */
#ifndef TUX_LOOP_RECALL_H
#define TUX_LOOP_RECALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "sys/alive.h"

struct tux_end;
struct tux_loop;

/* Which claim of an end's entry, as tux_end.claims counts them; 0: none. */
struct tux_recall_at {
	_Atomic uint32_t asked;		/* ... is asked for, */
	_Atomic uint32_t stranger;	/* ... is asked for by a process that is not
					 * counted; children write these two, */
	_Atomic uint32_t done;		/* ... is plain TCP, */
	_Atomic uint32_t refused;	/* ... or cannot be had, */
	_Atomic uint32_t begun;		/* ... or has begun to move: if the owner
					 * ends, it is lost; else it is plain TCP.
					 * The owner writes these */
};

struct tux_recall {
	struct tux_alive_who owner;	/* the process that runs the loops */
	_Atomic uint32_t rung;		/* a bit for each loop: some `asked` of it is
					 * new */
	struct tux_recall_at at[];	/* by the index of the end, TUX_ENDS_MAX */
};

/* In memory that children of this process share.  -errno. */
int tux_recall_map(struct tux_recall **rp);

/* Before a fork of the process that runs the loops: stores in the table, once, which
 * process that is.  That reads /proc, so the table does not have it from the beginning: most
 * processes never fork. */
void tux_recall_fork(struct tux_recall *r);
void tux_recall_unmap(struct tux_recall *r);	/* NULL is fine */

/* @e is claimed: its duplex tells the table when the connection begins to move. */
void tux_recall_follow(struct tux_recall *r, struct tux_end *e);

/* ---- a forked child ---- */

/* Asks for @e, an end of the parent, and waits for the answer.  0: the connection is
 * plain TCP as long as the caller has it; or the parent has ended, and it had always been.  -EBUSY: the
 * parent keeps it: the peer did not follow, or cannot send again what was not read;
 * the parent has closed it; or it has not answered for some two seconds.  -ETIMEDOUT:
 * it has not, and it is stopped.  -ESRCH: it has ended. */
int tux_recall(const struct tux_end *e);

/* The same without the wait: for many ends, each of which is waited for then. */
void tux_recall_call(const struct tux_end *e);

/* ... and the caller wakes the loop. */
void tux_recall_ask(struct tux_recall *r, const struct tux_end *e);

/* The caller is not counted among the holders of @e, which it is about to ask for: the
 * connection is to stay plain TCP, because the owner cannot know when the caller has
 * closed it. */
void tux_recall_uncounted(const struct tux_end *e);

enum tux_recall_is {
	TUX_RECALL_OPEN,	/* no answer yet */
	TUX_RECALL_DONE,	/* the connection is plain TCP */
	TUX_RECALL_REFUSED,	/* the parent keeps it, or has closed it, and may
				 * have another in its place */
};

enum tux_recall_is tux_recall_look(const struct tux_recall *r,
				   const struct tux_end *e);

/* ---- the loop ---- */

/* Takes up what has been asked for.  How many ends. */
unsigned tux_loop_recalls(struct tux_loop *l);

/* Answers what was taken up: it is done, or it has taken too long. */
void tux_loop_recalled(struct tux_loop *l);

/* Has nothing been asked for since the last tux_loop_recalls()? */
bool tux_loop_unasked(const struct tux_loop *l);

/* ---- any thread of the parent ---- */

/* The connection of @e is plain TCP for good. */
void tux_recall_plain(struct tux_end *e);

/* No other process has the connection of @e, and it may move again: later children
 * have to ask for it.  Both latches are held. */
void tux_recall_anew(struct tux_end *e);

/* The loop is done with @e.  If TCP has carried the connection alone to the end,
 * the other processes may go on with it; else they are refused. */
void tux_loop_recall_over(struct tux_loop *l, struct tux_end *e);

#endif
