/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scale - how many threads run the loops of a stack, and which thread runs which
 *
 * The scaling of the paper (section 3.5, figure 7).  The caller looks at intervals,
 * and says for each loop which share of the time was spent on its packets and
 * callbacks.  The share of a thread is the sum of those of its loops.
 *
 * One thread more: a thread with several loops that was above T_scaleup (0.9) in
 * two looks in a row gives some of them to a thread that has none, so that it
 * keeps about half of its work.  If there may be no more threads, the one with
 * the least to do gets loops, until the two have about as much.  Nothing changes
 * if the busier of the two would hardly have less.  A single look says too
 * little: a burst that is over is no load.
 *
 * One thread less: if in ten looks in a row the thread with the least to do was
 * below T_scaledown (0.2), and it and the next one together were at most 0.7,
 * these become one.  With more, that one would soon be two again.  If a thread is
 * added within 640 looks of that, the next time takes twice as many looks as the
 * last, 320 at most, so that a load that comes and goes does not move the loops
 * each time; if one is added later, ten again.
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
