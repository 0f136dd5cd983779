/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_play - plays a script in several worlds at once, and compares
 *
 * The first world says what is right; it and the second, if there are three,
 * are kernel TCP.  A step is played in all worlds and compared.  Then each
 * world comes to rest: what the step has done has reached the peer, and calls
 * that it lets return have returned.  Both ends are looked at, and what they
 * show is compared, too.
 */
#ifndef TUX_T_POSIX_PARITY_PLAY_H
#define TUX_T_POSIX_PARITY_PLAY_H

#include "parity_model.h"
#include "parity_script.h"
#include "parity_world.h"

enum { PARITY_WORLDS = 3, PARITY_ERRNOS = 134 };

struct parity_counts {
	uint64_t calls, on_tux, upgrades, not_upgraded;
	uint64_t kind[PARITY_KIND_N];
	uint64_t err[PARITY_ERRNOS];
	uint64_t blocked, permitted;
};

struct parity_difference {
	bool found;
	bool certain;		/* no late machine can be the cause */
	unsigned at;		/* the step */
	unsigned world;		/* which differs from the first */
	char words[64];		/* what differs */
	struct parity_record want, got;
};

struct parity_stage {
	unsigned n;		/* worlds */
	struct parity_world world[PARITY_WORLDS];
	struct parity_model model;
	struct parity_counts *counts;
	struct parity_difference diff;
	bool trace;		/* print each step and record */
};

/* Plays @s up to the first difference: was there none?  Worlds in which there
 * was one are stopped. */
bool parity_play(struct parity_stage *g, const struct parity_script *s);

#endif
