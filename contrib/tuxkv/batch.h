/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * batch - what came together runs together: one transaction for what reads, and one
 * for what writes
 *
 * A long procedure runs alone, in the order of arrival.
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

struct batch {			/* all zero: empty */
	struct group reads, writes;
};

/* Takes @j, and runs what is full. */
void batch_add(struct batch *b, struct engine *e, struct job *j);

/* Runs and answers what is there. */
void batch_run(struct batch *b, struct engine *e);

#endif
