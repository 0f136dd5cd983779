/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * workers - threads that run jobs, and the queue before them
 */
#ifndef TUXKV_WORKERS_H
#define TUXKV_WORKERS_H

#include "batch.h"

enum { WORKERS_MAX = 16 };

struct workers {
	struct engine *engine;
	pthread_mutex_t lock;	/* of what follows */
	pthread_cond_t some;	/* a job, or the end */
	struct job_queue queue;
	bool ends;
	unsigned n;
	pthread_t thread[WORKERS_MAX];
};

/* -errno; then workers_stop() is due all the same. */
int workers_start(struct workers *w, struct engine *e, unsigned n);
/* Returns when what they were given is done. */
void workers_stop(struct workers *w);

/* Any thread, and callbacks. */
void workers_give(struct workers *w, struct job *j);

#endif
