/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group - jobs that run in one transaction
 */
#ifndef TUXKV_GROUP_H
#define TUXKV_GROUP_H

#include "job.h"
#include "store.h"

enum { GROUP_MAX = 64 };

struct group {			/* its jobs all write, or none of them does */
	unsigned n;
	struct job *job[GROUP_MAX];
};

/* Runs the next step of each job, of which none is finished, all in one transaction.
 * If the engine fails, none of these steps has changed anything, and the jobs are
 * finished, with the answer KV_FAILED. */
void group_step(struct group *g, struct store *s);

/* Takes a job that has a further step out of @g.  NULL: there is none. */
struct job *group_unfinished(struct group *g);

/* Hands finished jobs to their clients, which send the answers and free them.  The others
 * stay. */
void group_answer(struct group *g);

#endif
