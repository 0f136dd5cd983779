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

/* Runs the next step of each job in a transaction of its own kind.  If the engine
 * fails, nothing of this step has been changed, and the answers of all say
 * KV_FAILED.  Returns whether a job has a further step. */
bool group_step(struct group *g, struct store *s);

/* Sends the answers, and frees the jobs. */
void group_answer(struct group *g);

#endif
