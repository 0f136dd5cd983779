/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workers - threads that run jobs, and the queue before them
 */
#ifndef TUXKV_WORKERS_H
#define TUXKV_WORKERS_H

#include "batch.h"

enum {
	WORKERS_MAX = 16,
	WORKERS_QUEUE = 4096,	/* jobs; with more, a thread that gives one waits */
};

struct workers {
	struct engine *engine;
	pthread_mutex_t lock;	/* of what follows */
	pthread_cond_t some;	/* a job, or the end */
	pthread_cond_t room;
	struct job_queue queue;
	unsigned queued, active;	/* jobs, and threads with jobs */
	bool ends;
	unsigned n;
	pthread_t thread[WORKERS_MAX];
};

/* -errno; then workers_stop() is due all the same. */
int workers_start(struct workers *w, struct engine *e, unsigned n);
/* Returns when what they were given is done. */
void workers_stop(struct workers *w);

/* For callbacks: never waits. */
void workers_give(struct workers *w, struct job *j);
/* For other threads: waits for room. */
void workers_give_wait(struct workers *w, struct job *j);

/* Is anything under way? */
bool workers_busy(struct workers *w);

#endif
