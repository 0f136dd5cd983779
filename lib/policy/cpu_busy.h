/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpu_busy - whether a loop leaves its connections to TCP, since the processors
 * are busy
 *
 * A packet that wakes a thread over a UDP socket takes some 25 us of processor
 * time for a request and its answer, both ends together; TCP takes 16 us.  The
 * protocol's code is not in the processor's caches when a thread wakes for one
 * packet.  Tux gains all the same if the processors have time: the thread spins,
 * and is not woken.  It also gains if several packets come at once.  If neither
 * is so, TCP carries more.
 *
 * So a loop looks at the thread that runs it.  Three looks in a row, each over
 * 100 ms or more, have to find that
 *   - the thread has run for one part in 200 of the time, or longer: less costs
 *     the other threads nothing;
 *   - it has waited for a processor for as long as it has run, or longer; and
 *   - packets come one by one: the loop has less than four connections, or no
 *     more than three packets have come for two sleeps.
 * Then the loop leaves its connections to TCP for a hold, and tries again.
 *
 * By then the connections have moved twice for nothing.  So a thread that carries
 * bytes over TCP looks at itself before a connection of it moves, by the same
 * rule.  A single look decides, since the connection loses little if it moves
 * later.  The first look counts from the thread's begin.  Once the thread was
 * found busy, it is so until it waits for less than half the time that it runs.
 *
 * The next request of a lone connection may come while its thread waits for a
 * processor.  Then the thread does not sleep between two packets, though they come
 * one by one.  So sleeps count only where there are several connections.
 *
 * These functions are pure.  Counters and the time go in, a decision comes out.
 */
#ifndef TUX_POLICY_CPU_BUSY_H
#define TUX_POLICY_CPU_BUSY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "policy/backoff.h"

enum {
	TUX_CPU_BUSY_LOOK_MS = 100,
	TUX_CPU_BUSY_SLEEPS = 32,	/* fewer say nothing: it goes on, */
	TUX_CPU_BUSY_IDLE_MS = 2000,	/* ... and then begins anew */
	TUX_CPU_BUSY_RAN = 200,	/* one part of the time in so many */
	TUX_CPU_BUSY_ROW = 3,
	TUX_CPU_BUSY_FEW = 4,	/* connections: fewer send single packets */
	/* The hold, in s. */
	TUX_CPU_BUSY_MIN_S = 5,
	TUX_CPU_BUSY_MAX_S = 320,
};

/* Counters, which only grow, but for `thread` and `conns`. */
struct tux_cpu_busy_seen {
	uintptr_t thread;	/* that runs the loop */
	unsigned conns;		/* of the loop, or of the thread */
	tux_time ran;		/* it was on a processor */
	tux_time waited;	/* it could run, and waited for a processor */
	uint64_t sleeps;	/* of the loop, or of the thread */
	uint64_t packets;	/* that came; over TCP, calls that received
				 * bytes */
};

enum tux_cpu_busy_do {
	TUX_CPU_BUSY_STAY,
	TUX_CPU_BUSY_LEAVE,		/* the connections go to TCP */
	TUX_CPU_BUSY_RETURN,	/* they may move again */
};

struct tux_cpu_busy {
	bool away;		/* the connections are left to TCP */
	bool begun;		/* `seen` is valid */
	unsigned row;		/* looks in a row that found it busy */
	struct tux_cpu_busy_seen seen;	/* when the look began */
	tux_time at;			/* ... and its time */
	tux_time next;		/* the next look is due */
	struct tux_backoff holds;
};

void tux_cpu_busy_init(struct tux_cpu_busy *b);

/* @s has been counted at @now. */
enum tux_cpu_busy_do tux_cpu_busy_look(struct tux_cpu_busy *b,
				       const struct tux_cpu_busy_seen *s,
				       tux_time now);

struct tux_cpu_busy_start {		/* of a thread; all zero at first */
	bool busy;
	struct tux_cpu_busy_seen seen;	/* at the last look */
	tux_time at;			/* ... and its time; 0: there was none */
};

/* Is it time for a look? */
static inline bool tux_cpu_busy_start_due(const struct tux_cpu_busy_start *b,
					  tux_time now)
{
	return !b->at || now - b->at >= TUX_MSEC(TUX_CPU_BUSY_LOOK_MS);
}

/* @s has been counted at @now, and has no `thread`; `conns` are those from which
 * the thread has received bytes lately.  Does the thread keep its connections on
 * TCP until the next look?  In a forked child, which has a copy of @b, the thread's
 * times begin anew. */
bool tux_cpu_busy_start_look(struct tux_cpu_busy_start *b,
			     const struct tux_cpu_busy_seen *s, tux_time now);

#endif
