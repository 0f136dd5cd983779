/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * world - a network, its programs and what goes wrong, written down
 *
 * A list of items, each of a kind with named numbers.  A number that is not
 * given has its plain value, the one that makes least trouble; so a world is
 * made smaller by leaving items out and by moving numbers towards plain.  Items
 * name hosts and connections by their place among those.
 *
 * world.c: the list; world_text.c: as text; world_draw.c and world_fault.c:
 * from a seed; world_run.c: what comes of it.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "app.h"

/* number, its name, plain value */
#define SIM_F_NET(X) \
	X(NET_SEED, "seed", 1)		/* of all that is decided later */ \
	X(NET_V6, "v6", 0) \
	X(NET_PORTS, "ports", 0)	/* handshakes announce them */ \
	X(NET_NEWRENO, "newreno", 0) \
	X(NET_BOUND, "bound", 400)	/* seconds until all must be done */ \
	X(NET_OWN, "own", 0)		/* duplicating takes up to so long */

#define SIM_F_HOST(X) \
	X(HOST_WAKE, "wake", 0) \
	X(HOST_LOOP, "loop", 0)		/* another of the one so many before */

#define SIM_F_LINK(X) \
	X(LINK_FROM, "from", 0) \
	X(LINK_TO, "to", 0) \
	X(LINK_DELAY, "delay", 1000000) \
	X(LINK_JITTER, "jitter", 0) \
	X(LINK_FIFO, "fifo", 0) \
	X(LINK_LOSS, "loss", 0) \
	X(LINK_TWICE, "twice", 0) \
	X(LINK_LATE, "late", 0) \
	X(LINK_FLIP, "flip", 0) \
	X(LINK_RATE, "rate", 0)		/* 0: no bottleneck */ \
	X(LINK_QUEUE, "queue", 10000000) \
	X(LINK_PLACES, "places", 0) \
	X(LINK_MARK, "mark", 0) \
	X(LINK_CE, "ce", 0) \
	X(LINK_BLEACH, "bleach", 0) \
	X(LINK_INVENT, "invent", 0)

#define SIM_F_CONN(X) \
	X(CONN_A, "a", 0) \
	X(CONN_B, "b", 0) \
	X(CONN_AT, "at", 0)		/* when TCP has connected it */ \
	X(CONN_AFTER, "after", 0)	/* 0, or 1 + whose ports it takes */ \
	X(CONN_ALIAS, "alias", 0)	/* another address of both hosts */ \
	X(CONN_DELAY, "delay", 1000000) \
	X(CONN_SNDBUF, "sndbuf", 65536) \
	X(CONN_RCVBUF, "rcvbuf", 65536) \
	X(CONN_MSS, "mss", 1448) \
	X(CONN_CUT, "cut", 0) \
	X(CONN_SHORT, "short", 0)	/* of a million writes, take a part */ \
	X(CONN_RING, "ring", 65536)	/* a power of two, from 4096 on */ \
	X(CONN_MTU, "mtu", 1472) \
	X(CONN_SMALL, "small", 0)	/* lanes, powers of two; 0: none */ \
	X(CONN_BULK, "bulk", 0) \
	X(CONN_OLD, "old", 0)		/* its numbers are about to wrap */

#define SIM_F_PLAN(X) \
	X(PLAN_CONN, "conn", 0) \
	X(PLAN_SIDE, "side", 0) \
	X(PLAN_ROLE, "role", 0) \
	X(PLAN_REQ, "req", 1) \
	X(PLAN_RESP, "resp", 1) \
	X(PLAN_ROUNDS, "rounds", 1) \
	X(PLAN_WMAX, "wmax", 16384) \
	X(PLAN_RMAX, "rmax", 16384) \
	X(PLAN_VARY, "vary", 0) \
	X(PLAN_CLAIM, "claim", 0) \
	X(PLAN_THINK, "think", 0) \
	X(PLAN_NO_FD, "no_fd", 0) \
	X(PLAN_PLAIN, "plain", 0) \
	X(PLAN_DEAF, "deaf", 0) \
	X(PLAN_AUTO, "auto", 0) \
	X(PLAN_KEEP, "keep", 0) \
	X(PLAN_HOLD, "hold", 0) \
	X(PLAN_MIMIC, "mimic", 0)

#define SIM_F_WRITE(X) \
	X(WRITE_CONN, "conn", 0) \
	X(WRITE_SIDE, "side", 0) \
	X(WRITE_AT, "at", 0) \
	X(WRITE_LEN, "len", 0)

#define SIM_F_MAIL(X) \
	X(MAIL_CONN, "conn", 0) \
	X(MAIL_SIDE, "side", 0) \
	X(MAIL_AT, "at", 0) \
	X(MAIL_LEN, "len", 0) \
	X(MAIL_ORDER, "order", 0) \
	X(MAIL_BACK, "back", 0)		/* 0, or 1 + how many before is
					 * the one that is taken back */

#define SIM_F_FAULT(X) \
	X(FAULT_WHAT, "what", 0)	/* enum sim_fault */ \
	X(FAULT_CONN, "conn", 0) \
	X(FAULT_SIDE, "side", 0) \
	X(FAULT_AT, "at", 0) \
	X(FAULT_FOR, "for", 0)		/* it ends so much later */ \
	X(FAULT_TIMES, "times", 1)		/* how often, or how much */

#define X(number, name, plain) SIM_##number,
enum { SIM_F_NET(X) SIM_N_NET };
enum { SIM_F_HOST(X) SIM_N_HOST };
enum { SIM_F_LINK(X) SIM_N_LINK };
enum { SIM_F_CONN(X) SIM_N_CONN };
enum { SIM_F_PLAN(X) SIM_N_PLAN };
enum { SIM_F_WRITE(X) SIM_N_WRITE };
enum { SIM_F_MAIL(X) SIM_N_MAIL };
enum { SIM_F_FAULT(X) SIM_N_FAULT };
#undef X

enum sim_item_kind {
	SIM_NET,			/* the first, and only once */
	SIM_HOST,
	SIM_LINK,
	SIM_CONN,
	SIM_PLAN,
	SIM_WRITE,
	SIM_MAIL,
	SIM_FAULT,
	SIM_KINDS,
};

enum { SIM_NUMBERS = 18 };	/* of an item, at most */

struct sim_item {
	enum sim_item_kind kind;
	uint64_t v[SIM_NUMBERS];
};

struct sim_number {
	const char *name;
	uint64_t plain;
};

struct sim_form {		/* of items of a kind */
	const char *name;
	unsigned n;
	struct sim_number number[SIM_NUMBERS];
};

extern const struct sim_form sim_forms[SIM_KINDS];

struct sim_world {		/* all zero: empty */
	struct sim_item *item;
	unsigned n, cap;
};

void sim_world_fini(struct sim_world *w);

/* Another of @kind, all plain; valid until the next is added. */
struct sim_item *sim_world_add(struct sim_world *w, enum sim_item_kind kind);

/* @to, which is empty, becomes the same as @from. */
void sim_world_copy(struct sim_world *to, const struct sim_world *from);

/* Leaves out the @n items from @at on, all that needs one of these, and hosts
 * that nobody needs any more; but for SIM_NET. */
void sim_world_drop(struct sim_world *w, unsigned at, unsigned n);

unsigned sim_world_count(const struct sim_world *w, enum sim_item_kind kind);

/* Names something: a number that must stay as it is. */
bool sim_world_is_name(enum sim_item_kind kind, unsigned number);

/* A line for each item, with what is not plain. */
void sim_world_write(const struct sim_world *w, FILE *f);

/* Reads what the above has written into @w, which is empty.  0, or the number
 * of the first line that makes no sense. */
unsigned sim_world_read(struct sim_world *w, FILE *f);

/* The world of @seed; @size times as much is said in it.  @w is empty. */
void sim_world_draw(struct sim_world *w, uint64_t seed, unsigned size);

struct sim_seen;

struct sim_ran {		/* what came of it */
	bool held;
	uint64_t digest;
	uint64_t packets, chunks;	/* datagrams sent; reads checked */
};

enum sim_tell {			/* of a run, besides what came of it */
	SIM_TELL_NOTHING,
	SIM_TELL_DIGEST,	/* ran->digest */
	SIM_TELL_WIRE,		/* that, and prints what leaves hosts */
	SIM_TELL_TRACE,		/* prints what happens, on standard error */
};

/* Lives through @w; @seen, unless NULL, counts what came about. */
void sim_world_run(const struct sim_world *w, enum sim_tell tell,
		   struct sim_seen *seen, struct sim_ran *ran);

#endif
