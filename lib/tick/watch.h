/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch - the thread that sends a tick when a routine has run for too long
 *
 * One for all network threads of the process. A network thread says by a store
 * when it enters a routine, and when the slice ends; the watcher looks at that
 * when it is due. It sleeps until shortly before, because the kernel wakes it
 * late, and spins then if the same routine still runs. While routines end in time
 * it looks rarely (tick/calm.h). When no thread has entered for a while it sleeps
 * for good, and the next thread that enters wakes it.
 */
#ifndef TUX_TICK_WATCH_H
#define TUX_TICK_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/time.h"
#include "tick/calm.h"
#include "tick/tick.h"

struct tux_watch {
	/* The network thread's: when its slice ends, in ticks, the lowest bit
	 * cleared; set while it is inside. */
	_Atomic tux_tick until;
	tux_tick slice, patience;
	_Atomic tux_tick over;		/* so much too long were callbacks, in all */

	/* the watcher's */
	struct tux_list node;
	int tid, sig;
	unsigned slot;			/* among those of the process */
	tux_tick seen;			/* until, as last looked at */
	tux_tick next;			/* tick, if that one is still inside; */
	tux_tick again;			/* from one tick to the next */
	bool late;			/* the last has not arrived in that time */
	tux_tick sent_at;		/* the last was */
	struct tux_calm calm;
};

enum { TUX_WATCH_INSIDE = 1 };

/* A tick carries the number of its network thread. The kernel queues ticks one
 * upon another, so the next one is not sent before the last has arrived.  After
 * one that was late the next one waits for longer and longer: on a slow machine
 * the thread would have no time beside its ticks. */
enum { TUX_WATCH_SLOTS = 64 };
extern _Atomic uint8_t tux_watch_sent[TUX_WATCH_SLOTS]
	__attribute__((visibility("hidden")));

extern _Atomic uint32_t tux_watch_asleep __attribute__((visibility("hidden")));

/* @w, with its slice, stands for the calling thread; it gets the signal @sig.
 * The watcher runs where the process could when it was loaded, but stays away
 * from a thread that is tied to one processor, if there is another.
 * The caller is in no routine that can be preempted: the watcher would wait for
 * its lock.  -ENOSPC, -errno. */
int tux_watch_add(struct tux_watch *w, int sig);

/* No tick is sent after it.  The caller as above. */
void tux_watch_remove(struct tux_watch *w);

void tux_watch_wake(void);

/* A slice begins at @now. */
static inline void tux_watch_enter(struct tux_watch *w, tux_tick now)
{
	w->patience = 0;
	/* Ordered: either we see that it sleeps, or it sees that we entered. */
	atomic_store(&w->until, (now + w->slice) | TUX_WATCH_INSIDE);
	if (atomic_load(&tux_watch_asleep))
		tux_watch_wake();
}

/* It goes on, and is to be told half as often from @now on, down to a hundred
 * times a second. */
static inline void tux_watch_later(struct tux_watch *w, tux_tick now)
{
	w->patience = w->patience < w->slice ? w->slice : 2 * w->patience;
	if (w->patience > tux_tick_of(TUX_MSEC(10)))
		w->patience = tux_tick_of(TUX_MSEC(10));
	atomic_store(&w->until, (now + w->patience) | TUX_WATCH_INSIDE);
}

static inline void tux_watch_leave(struct tux_watch *w)
{
	tux_tick t = atomic_load_explicit(&w->until, memory_order_relaxed);

	atomic_store_explicit(&w->until, t & ~(tux_tick)TUX_WATCH_INSIDE,
			      memory_order_relaxed);
}

/* A callback has taken @took of its slice. */
static inline void tux_watch_took(struct tux_watch *w, tux_tick took)
{
	if (took > w->slice)
		atomic_store_explicit(&w->over,
				      atomic_load_explicit(&w->over,
							   memory_order_relaxed) +
				      took - w->slice, memory_order_relaxed);
}

/* The watcher: a new slice of @w ends at @until. */
void tux_watch_slice(struct tux_watch *w, tux_tick until);

/* The watcher: a tick is due at @now; is it sent, and when is the next due?
 * @expected: the last one has not arrived. */
bool tux_watch_sends(struct tux_watch *w, tux_tick now, bool expected);

/* In the handler, at its end: the tick has arrived. */
static inline void tux_watch_arrived(unsigned slot)
{
	if (slot < TUX_WATCH_SLOTS)
		atomic_store(&tux_watch_sent[slot], 0);
}

static inline bool tux_watch_over(const struct tux_watch *w, tux_tick now)
{
	return now >= atomic_load_explicit(&w->until, memory_order_relaxed);
}

#endif
