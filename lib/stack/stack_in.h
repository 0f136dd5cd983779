/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stack_in - the loops of a process, and what they share; for lib/stack, and for
 * lib/api, where the network thread runs the loop itself
 */
#ifndef TUX_STACK_STACK_IN_H
#define TUX_STACK_STACK_IN_H

#include "handshake/announce.h"
#include "loop/end.h"
#include "stack/driver.h"
#include "stack/mode.h"
#include "stack/refusals.h"
#include "stack/stack.h"
#include "sys/arena.h"
#include "udp/udp_queue.h"

enum {
	TUX_LISTENERS_MAX = 256,
	TUX_RING_LEN = 256 * 1024,	/* bytes under way, each direction */
	TUX_SMALL_LEN = 256 * 1024,	/* ... of small messages */
};

struct tux_place {			/* where we are reachable */
	struct tux_addr local;
	bool v4;
	bool both;			/* any address, of IPv4 too */
	uint64_t netns;
	uint32_t refs;			/* 0: the entry is free */
	unsigned source;		/* of the first loop's link */
};

struct tux_stack {
	struct tux_stack_opts o;
	const struct tux_link_ops *link;
	enum tux_reason lacks;		/* why no connection would move, as far
					 * as the process is to blame */
	bool forked;			/* we are a child, or have left it:
					 * nothing works */
	bool mixed;			/* AF_XDP and UDP sockets, both */
	struct tux_udp_queue queue;	/* of the first loop, which may come
					 * later; fd is -1: it has one of its
					 * own, */
	struct tux_loop_held held;	/* ... and of these */
	struct tux_latch loop_latch;	/* taken to open a loop */
	_Atomic unsigned loop_n;
	struct tux_driver driver[TUX_LOOPS_MAX];
	struct tux_ends ends;
	struct tux_recall *recall;	/* NULL: children are not heard */
	struct tux_arena arena;		/* of duplexes */
	struct tux_arena boxes;		/* of messages */
	uint32_t bulk_len;		/* of them, for long ones; 0: there are
					 * none */
	struct tux_announce announce;	/* if connections have a key */
	struct tux_refusals refusals;
	struct tux_latch place_latch;
	struct tux_place place[TUX_LISTENERS_MAX];
};

/* Have connections a key, from TCP's handshake? */
bool tux_stack_keyed(const struct tux_stack *s);

#endif
