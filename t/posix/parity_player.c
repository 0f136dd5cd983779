/* SPDX-License-Identifier: BSD-2-Clause */
#include "parity_player.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client.h"
#include "parity_call.h"

enum {
	END_MS = 20000,
	SLEEPS_MS = 4,		/* between two looks whether a call sleeps, */
	TRIES = 2500,		/* of which there are so many */
};

struct worker {
	pthread_t thread;
	sem_t go, done;
	bool busy;		/* the player's: not yet reported */
	_Atomic pid_t tid;	/* while it is in a call */
	uint16_t port;
	struct parity_step step;
	struct parity_record record;
};

static struct worker workers[PARITY_WORKERS];

static void *work(void *arg)
{
	struct worker *w = arg;

	for (;;) {
		while (sem_wait(&w->go))
			;	/* a signal */
		w->tid = gettid();
		parity_call(&w->step, w->port, &w->record);
		w->tid = 0;
		sem_post(&w->done);
	}
	return NULL;
}

static void hire(void)
{
	for (unsigned i = 0; i < PARITY_WORKERS; i++) {
		struct worker *w = &workers[i];

		sem_init(&w->go, 0, 0);
		sem_init(&w->done, 0, 0);
		if (pthread_create(&w->thread, NULL, work, w))
			client_fail("no thread");
	}
}

/* The record of the call of @w, if that ends within @ms. */
static void await(struct worker *w, uint32_t ms, struct parity_record *r)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_nsec += (long)(ms % 1000) * 1000000;
	end.tv_sec += ms / 1000 + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	memset(r, 0, sizeof(*r));
	r->state = PARITY_BLOCKS;
	while (w->busy && sem_clockwait(&w->done, CLOCK_MONOTONIC, &end))
		if (errno == ETIMEDOUT)
			return;
	*r = w->record;
	w->busy = false;
}

/* Has the call begun, and does its thread sleep? */
static bool sleeps(struct worker *w)
{
	char path[64], stat[256] = "", *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", w->tid);
	f = w->tid ? fopen(path, "r") : NULL;
	if (!f)
		return false;
	p = fgets(stat, sizeof(stat), f) ? strrchr(stat, ')') : NULL;
	fclose(f);
	return p && p[1] && p[2] == 'S';
}

/* A call that is said to block has begun. */
static void start(const struct parity_order *o, struct parity_record *r)
{
	unsigned tries = 0;
	struct worker *w = &workers[o->step.worker];

	w->step = o->step;
	w->port = o->port;
	w->busy = true;
	sem_post(&w->go);
	await(w, o->ms, r);
	while (r->state == PARITY_BLOCKS && !sleeps(w) && ++tries < TRIES)
		await(w, SLEEPS_MS, r);
}

/* Calls that block are interrupted, until none is left. */
static void end(struct parity_record *r)
{
	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < PARITY_WORKERS; i++) {
		struct worker *w = &workers[i];
		struct parity_record last;

		if (!w->busy)
			continue;
		pthread_kill(w->thread, SIGUSR1);
		await(w, END_MS, &last);
		if (last.state == PARITY_BLOCKS)
			r->ret = -1;
	}
	if (r->ret == 0)
		parity_call_end();
}

static void obey(const struct parity_order *o, struct parity_record *r)
{
	const struct parity_step *s = &o->step;

	memset(r, 0, sizeof(*r));
	switch (o->op) {
	case PARITY_BEGIN:
		parity_call_begin();
		break;
	case PARITY_END:
		end(r);
		break;
	case PARITY_CALL:
		start(o, r);
		break;
	case PARITY_AWAIT:
		await(&workers[s->worker], o->ms, r);
		break;
	case PARITY_KILL:
		pthread_kill(workers[s->worker].thread,
			     s->value & 1 ? SIGUSR1 : SIGUSR2);
		break;
	case PARITY_OBSERVE:
		parity_call_observe(s->slot, o->bytes, o->events, o->ms, r);
		break;
	case PARITY_SWALLOW:
		parity_call_swallow(s, o->bytes, o->ms, r);
		break;
	case PARITY_POKE:
		parity_call_poke(s->slot, r);
		break;
	case PARITY_GULP:
		parity_call_gulp(s->slot, r);
		break;
	case PARITY_PORT:
		r->ret = parity_call_port();
		break;
	}
}

void parity_player_run(int fd)
{
	struct parity_order o;
	struct parity_record r;

	parity_call_signals();
	hire();
	while (recv(fd, &o, sizeof(o), 0) == sizeof(o)) {
		obey(&o, &r);
		if (send(fd, &r, sizeof(r), 0) != sizeof(r))
			break;
	}
	_exit(0);
}
