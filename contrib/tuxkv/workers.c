/* SPDX-License-Identifier: BSD-2-Clause */
#include "workers.h"

#include <tux.h>

/* Takes what is there, as far as it fits into one batch; waits if there is none.
 * False: there will be none any more. */
static bool take_some(struct workers *w, struct job_queue *q)
{
	unsigned n = 0;
	bool is_long = false;

	pthread_mutex_lock(&w->lock);
	while (!w->queue.first && !w->ends)
		pthread_cond_wait(&w->some, &w->lock);
	while (w->queue.first && n < w->engine->group && !is_long) {
		struct job *j = job_pop(&w->queue);

		is_long = j->proc->is_long;
		job_push(q, j);
		n++;
	}
	w->queued -= n;
	w->active += n > 0;
	pthread_cond_signal(&w->room);
	pthread_mutex_unlock(&w->lock);
	return n;
}

static void have_done(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	w->active--;
	pthread_mutex_unlock(&w->lock);
}

static void *work(void *arg)
{
	struct workers *w = arg;
	struct batch b = { .engine = w->engine };
	struct job_queue q;
	struct job *j;

	job_queue_init(&q);
	while (take_some(w, &q)) {
		while ((j = job_pop(&q)))
			batch_add(&b, j);
		batch_run(&b);
		have_done(w);
	}
	return NULL;
}

int workers_start(struct workers *w, struct engine *e, unsigned n)
{
	int err = 0;

	*w = (struct workers){ .engine = e };
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->some, NULL);
	pthread_cond_init(&w->room, NULL);
	job_queue_init(&w->queue);
	while (w->n < n && !err) {
		err = pthread_create(&w->thread[w->n], NULL, work, w);
		w->n += !err;
	}
	return -err;
}

void workers_stop(struct workers *w)
{
	pthread_mutex_lock(&w->lock);
	w->ends = true;
	pthread_cond_broadcast(&w->some);
	pthread_mutex_unlock(&w->lock);
	while (w->n)
		pthread_join(w->thread[--w->n], NULL);
}

static void put_job(struct workers *w, struct job *j)
{
	job_push(&w->queue, j);
	w->queued++;
	pthread_cond_signal(&w->some);
}

void workers_give(struct workers *w, struct job *j)
{
	tux_uninterruptible_enter();
	pthread_mutex_lock(&w->lock);
	put_job(w, j);
	pthread_mutex_unlock(&w->lock);
	tux_uninterruptible_leave();
}

void workers_give_wait(struct workers *w, struct job *j)
{
	pthread_mutex_lock(&w->lock);
	while (w->queued >= WORKERS_QUEUE)
		pthread_cond_wait(&w->room, &w->lock);
	put_job(w, j);
	pthread_mutex_unlock(&w->lock);
}

bool workers_busy(struct workers *w)
{
	bool busy;

	pthread_mutex_lock(&w->lock);
	busy = w->queued || w->active;
	pthread_mutex_unlock(&w->lock);
	return busy;
}
