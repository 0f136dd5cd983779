/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * batch - what came together runs together: one transaction for what reads, and one
 * for what writes
 *
 * A long procedure runs alone.
 */
#ifndef TUXKV_BATCH_H
#define TUXKV_BATCH_H

#include "group.h"
#include "writers.h"

struct engine {
	struct store store;
	struct writers writers;
	unsigned group;		/* jobs in one transaction, at most */
};

struct batch {			/* zero in both groups: empty */
	struct engine *engine;
	bool in_callback;
	struct group reads, writes;
};

/* Takes @j, and runs what is full. */
void batch_add(struct batch *b, struct job *j);

/* Runs and answers what is there.  In a callback, what writes may run later. */
void batch_run(struct batch *b);

#endif
