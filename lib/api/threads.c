/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/threads.h"

#include <errno.h>
#include <signal.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "sys/sys.h"
#include "sys/thread.h"

enum { IDLE, BUSY, ENDS };

/* ---- a thread ---- */

static void thread_set(struct tux_thread *x, uint32_t state)
{
	atomic_store(&x->state, state);
	tux_sys_futex(&x->state, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL);
}

/* Waits until the state is no longer @state: what it is then. */
static uint32_t thread_await(struct tux_thread *x, uint32_t state)
{
	uint32_t now;

	while ((now = atomic_load(&x->state)) == state)
		tux_sys_futex(&x->state, FUTEX_WAIT | FUTEX_PRIVATE_FLAG,
			      state, NULL);
	return now;
}

/* Callbacks get the signals that they would get on the thread which has called
 * us; without a job the thread gets none. */
static void *thread_run(void *arg)
{
	struct tux_thread *x = arg;
	sigset_t none;

	TUX_SYS(SYS_prctl, PR_SET_NAME, "tux-loop", 0, 0, 0, 0);
	pthread_sigmask(SIG_SETMASK, NULL, &none);
	while (thread_await(x, IDLE) == BUSY) {
		pthread_sigmask(SIG_SETMASK, &x->all->mask, NULL);
		x->job(x);
		pthread_sigmask(SIG_SETMASK, &none, NULL);
		thread_set(x, IDLE);
	}
	return NULL;
}

/* ---- all of them ---- */

static void add_one(struct tux_threads *a, struct tux *loop)
{
	struct tux_thread *x = &a->at[a->n];

	x->number = loop->number = a->n;
	x->all = a;
	a->loop[a->n] = loop;
}

int tux_api_threads_add(struct tux *t, struct tux *loop)
{
	struct tux_threads *a = t->threads;
	struct tux_thread *x;
	int err;

	if (!a) {
		a = calloc(1, sizeof(*a));
		if (!a)
			return -ENOMEM;
		add_one(a, t);
		a->n++;
		t->threads = a;
	}
	add_one(a, loop);
	x = &a->at[a->n];
	err = tux_thread_start(&x->thread, NULL, thread_run, x);
	a->n += !err;
	return err;
}

void tux_api_threads_do(struct tux *t, void (*job)(struct tux_thread *x))
{
	unsigned i;

	if (!t->threads)
		return;
	if (!atomic_exchange(&t->threads->run, true))
		pthread_sigmask(SIG_SETMASK, NULL, &t->threads->mask);
	for (i = 1; i < tux_api_loops(t); i++) {
		struct tux_thread *x = &t->threads->at[i];

		if (atomic_load(&x->state) != IDLE)
			continue;
		x->job = job;
		thread_set(x, BUSY);
	}
}

void tux_api_threads_wait(struct tux *t)
{
	unsigned i;

	for (i = 1; i < tux_api_loops(t); i++)
		thread_await(&t->threads->at[i], BUSY);
	if (t->threads)
		atomic_store(&t->threads->run, false);
}

void tux_api_threads_end(struct tux *t)
{
	unsigned i;

	for (i = 1; i < tux_api_loops(t); i++) {
		thread_set(&t->threads->at[i], ENDS);
		pthread_join(t->threads->at[i].thread, NULL);
	}
}

/* ---- which loop ---- */

struct tux *tux_api_loop_near(const struct tux_service *s)
{
	struct tux *here = tux_api_here(s->t);

	if (!here || here == s->t)
		return s->t;
	return s->serial ? NULL : here;
}

struct tux *tux_api_loop_least(const struct tux_service *s)
{
	unsigned i, n = s->serial ? 1 : tux_api_loops(s->t);
	struct tux *best = s->t;

	for (i = 1; i < n; i++)
		if (atomic_load(&tux_api_loop(s->t, i)->connections_now) <
		    atomic_load(&best->connections_now))
			best = tux_api_loop(s->t, i);
	return best;
}

struct tux *tux_api_loop_next(struct tux *t)
{
	struct tux *here = tux_api_here(t);

	if (here || !tux_api_threads_run(t))
		return here ? here : t;
	return tux_api_loop(t, atomic_fetch_add(&t->threads->next, 1) %
			       tux_api_loops(t));
}
