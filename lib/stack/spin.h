/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spin - whether it pays to look again before sleeping
 *
 * It may when the last waits were short: going to sleep and being woken costs
 * more than such a wait.  Two ends that both sleep make each other's waits
 * long, so a spin is tried also where the mean is a few times its length.
 *
 * A wait that is slept through takes what the peer does, and what both ends'
 * sleeps cost: a wake-up of the peer, our own, or a system call of the peer that
 * sends an interrupt to our processor.  These take 5 to 50 us each on one machine
 * and 100 us on another, under a hypervisor.  So a spin is as long as the waits
 * that were slept through: it ends later than the peer's sleep does, and then
 * the peer's spin finds at once what we send.  Both stay awake from then on.
 *
 * If the peer has to work for long, a spin finds what a sleep would have found
 * soon after.  It pays if it saves a third of the time.  Only a row of spins
 * that do not is one that was in vain, because the peer, too, tries now and
 * then.
 *
 * It does not pay when the other side waits for our processor; then spinning is
 * what keeps it from answering.  So a spin that found nothing is not repeated
 * for a while, twice as long each time.
 *
 * After 64 spins that paid, with none lost between them, one that found nothing has
 * no such consequence: it is likely chance, such as a hypervisor that has stopped the
 * peer.  Otherwise one pause of 50 us would be followed by eight waits of 50 us, at
 * both ends.
 *
 * A spin also was in vain if the thread lost its processor meanwhile, and so the
 * other side ran.  Then what the spin found only looks like a gain.  It counts as
 * lost if that happens in two spins in a row; once may be any other thread.
 *
 * What is there at the first look was not waited for.  It says nothing about
 * how long waits are, or whether spins help.
 *
 * Where a spin does not pay and the last wait was slept through, the first look
 * does not pay either: it is a system call that finds nothing, and the sleep
 * looks at the same descriptors.
 *
 * For the driver of a loop: one thread at a time.
 */
#ifndef TUX_STACK_SPIN_H
#define TUX_STACK_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

enum {
	TUX_SPIN_MIN_US = 50,	/* about what sleeping costs both ends */
	TUX_SPIN_MAX_US = 300,
};

struct tux_spin {
	tux_time since;		/* the wait began */
	tux_time until;		/* of the spin in it */
	tux_time looked;	/* the last look of the spin */
	uint64_t (*preempted)(void);	/* how often the thread has lost its
				 * processor */
	uint64_t preemptions;	/* when it was last asked */
	uint32_t mean_ns;	/* of the last waits, each cut at 1 ms */
	uint32_t slept_ns;	/* of the short ones that were slept through */
	uint32_t skip;		/* waits without a spin, still to come */
	uint32_t penalty;	/* how many after the next lost one */
	uint8_t paid;		/* spins that paid, since the last lost one */
	uint8_t late;		/* spins in a row that found something, but
				 * saved too little */
	bool cut;		/* the thread lost its processor in the last
				 * spin */
	bool waits;		/* nothing was there when the wait began */
	bool slept;		/* the last wait was slept through */
	bool at_once;		/* this one began with the sleep */
	bool on;		/* spinning */
	bool never;		/* it would keep the application waiting */
	bool always;
};

enum tux_spin_how {
	TUX_SPIN_IF_IT_PAYS,
	TUX_SPIN_BESIDE,	/* ... a thread beside the application's: not if
				 * they share one processor */
	TUX_SPIN_ALWAYS,
};

void tux_spin_init(struct tux_spin *s, enum tux_spin_how how);

/* A wait begins. */
void tux_spin_begin(struct tux_spin *s, tux_time now);

/* Is the next wait to begin with a sleep, without a look before it? */
bool tux_spin_sleeps_at_once(const struct tux_spin *s);

/* Begins a wait with a sleep, in place of tux_spin_begin(). */
void tux_spin_begin_asleep(struct tux_spin *s, tux_time now);

/* Nothing yet: look again, without sleeping? */
bool tux_spin_more(struct tux_spin *s, tux_time now);

/* The wait is over. */
void tux_spin_end(struct tux_spin *s, tux_time now);

#endif
