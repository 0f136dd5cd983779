/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * end - a connection as its application and its loop hold it
 *
 * Ends live in a table of the stack; an end's index is what rings in a loop's
 * bell.  The application gets one, closes it, is told when the loop is done
 * with it, and gives it back.  The fields say which thread may touch them.
 */
#ifndef TUX_LOOP_END_H
#define TUX_LOOP_END_H

#include <stdbool.h>
#include <stdint.h>

#include "base/latch.h"
#include "base/list.h"
#include "conn/duplex.h"
#include "conn/msgbox.h"
#include "link/link.h"
#include "loop/lifeline.h"
#include "policy/choice.h"
#include "wire/addr.h"

struct tux_loop;

enum { TUX_ENDS_MAX = 65536 };

enum tux_end_stage {
	TUX_END_FRESH,		/* claimed; the core has not been told */
	TUX_END_OPEN,
	TUX_END_OVER,		/* the core knows it no more, or never did */
};

struct tux_end {
	/* The loop that it belongs to: set last when it is claimed, cleared
	 * first when it is given back, so that a late ring finds no half of an
	 * end. */
	struct tux_loop *_Atomic loop;
	/* Connections that the entry has had, this one included, which counts again
	 * when it may move once more: see recall.h. */
	_Atomic uint32_t claims;

	/* set before the loop hears of it, then constant */
	struct tux_duplex *dx;
	struct tux_msgbox *box;	/* NULL: it takes no messages */
	void *user;
	struct tux_tuple tuple;
	struct tux_key key;	/* all zero: there is no secret */
	uint32_t mtu;
	uint16_t peer_port;	/* the loop's of the peer; 0: not announced */
	uint32_t index;
	bool active;
	bool returns;		/* see struct tux_end_opts */
	enum tux_path_mode mode;

	/* the application's descriptor, while it is open; -1 after that */
	struct tux_latch fd_latch;
	int fd;
	int lent;		/* the same number, if the loop uses that, too, and
				 * not a duplicate: the application or the loop
				 * closes it, the one that is done with it last;
				 * or -1 */
	bool lent_back;		/* the loop is done with it */
	bool leaves;		/* the application has taken it back, and TCP goes
				 * on without the loop, */

	_Atomic uint8_t recalled;	/* enum tux_recall_is: what the loop has
				 * answered; a child may write to the table */
	_Atomic bool left;	/* ... which does not use it any more */
	_Atomic bool copied;	/* the loop has a duplicate of the descriptor */
	_Atomic bool over;	/* the loop has said gone(), and hears no ring
				 * for this end any more */

	/* the loop's */
	uint8_t stage;		/* enum tux_end_stage */
	bool closed;		/* the application is done */
	bool late;		/* closed before the loop had a duplicate */
	bool tux;		/* what `decided` told last: both directions */
	uint8_t why;		/* enum tux_reason */
	uint32_t flow;		/* the link's handle, with a connection */
	bool returned;		/* `returned` was told, and nothing moved since */
	bool blocked;		/* the link could not carry it when last asked */
	uint32_t recall_looks;	/* another process has asked for it, and is refused
				 * after so many looks; 0: none waits */
	bool for_good;		/* ... and has no way back to Tux then, */
	bool slept;		/* ... or had one when it was pinned */
	struct tux_conn *conn;
	struct tux_conn_stats last;	/* when it has none any more */
	struct tux_grounds last_grounds;
	struct tux_lifeline line;

	struct tux_end *next_free;
};

struct tux_ends {
	struct tux_latch latch;	/* with it held, none is given back */
	struct tux_end *at;
	struct tux_end *free;
	_Atomic uint32_t used;	/* entries that ever were in use */
};

int tux_ends_init(struct tux_ends *t);		/* -errno */
void tux_ends_fini(struct tux_ends *t);

/* A fresh end, all zero but its index and its empty lifeline; NULL: none is
 * left.  Any thread.  The caller sets loop when the rest is complete. */
struct tux_end *tux_ends_get(struct tux_ends *t);
void tux_ends_put(struct tux_ends *t, struct tux_end *e);

/* What its connection has counted; for the thread that drives the loop. */
static inline const struct tux_conn_stats *tux_end_stats(const struct tux_end *e)
{
	return e->conn ? tux_conn_stats(e->conn) : &e->last;
}

/* What decides which path it takes; for the same thread. */
static inline struct tux_grounds tux_end_grounds(const struct tux_end *e)
{
	return e->conn ? tux_conn_grounds(e->conn) : e->last_grounds;
}

/* The end with index @i; NULL: there never was one. */
static inline struct tux_end *tux_ends_at(const struct tux_ends *t, uint32_t i)
{
	return i < atomic_load(&t->used) ? &t->at[i] : NULL;
}

#endif
