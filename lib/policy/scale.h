/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scale - how many threads run the loops of a stack, and which thread runs which
 *
 * The scaling of the paper (section 3.5, figure 7).  Somebody looks at intervals,
 * and says for each loop which share of the time was spent on its packets and
 * callbacks.  The share of a thread is the sum of those of its loops.
 *
 * One thread more: if a thread was above T_scaleup (0.9) in two looks in a row, it
 * gives loops away, so that it keeps about half of its work.  They go to a thread
 * that has none; if there may be no more threads, to the one that has the least to
 * do.  Nothing changes if that would not help, as with a thread that has one loop.
 * A single look says too little: a burst that is over is no load.
 *
 * One thread less: if the thread with the least to do was below T_scaledown (0.2) in
 * ten looks in a row, it and the next one become one, unless that one would then be
 * above 0.7: it would soon be two again.  If a thread more is wanted soon after a
 * thread less, the next thread less takes twice as many looks, so that a load that
 * comes and goes does not move the loops each time.
 *
 * Thread 0 always has loop 0.
 *
 * These functions are pure.  Shares are in thousandths.
 */
#ifndef TUX_POLICY_SCALE_H
#define TUX_POLICY_SCALE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	TUX_SCALE_LOOPS = 16,		/* at most, and as many threads */
	TUX_SCALE_UP = 900,		/* T_scaleup */
	TUX_SCALE_DOWN = 200,		/* T_scaledown */
	TUX_SCALE_JOINED = 700,		/* of two threads that become one, at most */
	TUX_SCALE_GAIN = 50,		/* a move that wins less is none */
	TUX_SCALE_UP_LOOKS = 2,
	TUX_SCALE_DOWN_LOOKS = 10,	/* at first, */
	TUX_SCALE_DOWN_MOST = 320,	/* and at most */
	TUX_SCALE_SOON = 640,		/* looks */
};

struct tux_scale {
	unsigned loops;
	unsigned least, most;		/* threads */
	uint8_t thread[TUX_SCALE_LOOPS];	/* that runs each loop */
	uint8_t up[TUX_SCALE_LOOPS];	/* looks in a row that found a thread
					 * above T_scaleup */
	unsigned down;			/* looks in a row that found one thread too
					 * many, */
	unsigned down_looks;		/* and so many it takes */
	unsigned since;			/* looks since the last thread less; at most
					 * TUX_SCALE_SOON */
};

/* @least threads run the @loops, as many each as possible; later, up to @most:
 * 1 <= @least <= @most <= @loops <= TUX_SCALE_LOOPS. */
void tux_scale_init(struct tux_scale *s, unsigned loops, unsigned least,
		    unsigned most);

/* @share of each loop since the last look.  True: s->thread has changed. */
bool tux_scale_look(struct tux_scale *s, const unsigned *share);

/* Nothing came of what tux_scale_look() has decided, which found @was: the loops are
 * where they were. */
void tux_scale_undo(struct tux_scale *s, const struct tux_scale *was);

/* How many threads have loops. */
unsigned tux_scale_threads(const struct tux_scale *s);

#endif
