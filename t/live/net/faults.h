/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * faults - what a bad network does to packets, from a seed
 *
 * Packets of two directions go in, and come out later, twice, in another order,
 * with a bit flipped, or not at all.  A delay alone keeps the order; only those
 * chosen by `reorder` are overtaken.  After a spike, all that waited comes at
 * once.  Time and packets come from outside, so the same seed and the same
 * input give the same output.
 */
#ifndef TUX_T_LIVE_FAULTS_H
#define TUX_T_LIVE_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/rng.h"
#include "base/time.h"

struct faults_opts {
	uint64_t seed;
	double loss, dup, reorder, corrupt;	/* probabilities */
	double spike;		/* that one, and all behind it, has to wait */
	tux_time delay, jitter;	/* each packet: delay to delay + jitter */
	uint64_t rate;		/* bytes a second and direction; 0: no limit */
	bool udp_only;		/* all else passes unharmed and at once */
	bool spare_resets;	/* of TCP: none is lost */
};

struct faults_counts {
	uint64_t passed, unharmed, lost, doubled, reordered, corrupted,
		 blackholed, overflowed, spikes;
};

struct faults_packet {
	struct tux_heap_node due;	/* first: the heap's handle */
	unsigned side;		/* where it came from, 0 or 1 */
	size_t len;
	uint8_t bytes[];
};

struct faults {
	struct faults_opts o;
	struct tux_rng rng;
	struct tux_heap heap;
	uint32_t held;
	bool blackhole;		/* of UDP; the owner sets it */
	tux_time last[2];	/* when the latest in order is due */
	tux_time free_at[2];	/* when the slow link is idle again */
	struct faults_counts n[2];
};

void faults_init(struct faults *f, const struct faults_opts *o);
void faults_fini(struct faults *f);

/* A frame of @len bytes came from @side at @now; its Ethernet header is @skip
 * bytes in.  It is copied. */
void faults_add(struct faults *f, unsigned side, const void *p, size_t len,
		size_t skip, tux_time now);

/* A packet that is due at @now, for the caller to forward and free(); NULL if
 * there is none. */
struct faults_packet *faults_take(struct faults *f, tux_time now);

/* When the next one is due. */
tux_time faults_deadline(const struct faults *f);

#endif
