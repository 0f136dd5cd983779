/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A network thread: turns, and sleep when there is nothing for any of them.
 */
#include "api/serve.h"

#include "api/connection.h"
#include "api/hand_over.h"
#include "api/sleep.h"
#include "api/threads.h"
#include "api/turn.h"
#include "api/wait.h"
#include "stack/driver.h"
#include "stack/poll.h"
#include "sys/clock.h"

/* ---- sleep ---- */

/* The thread that sleeps has the loop, so that the helper can sleep. */
static void sleep_with_one(struct tux *t, tux_time until)
{
	struct pollfd own = { t->epfd, POLLIN, 0 };
	struct tux_poll x = { .w = &t->w, .fds = &own, .n = 1 };
	int got = 0;

	if (t->l && !t->acquired)
		t->acquired = tux_driver_acquire(t->d);
	if (t->acquired)
		x.loop = t->l;
	if (t->watched_n)
		tux_api_watch_none(t);
	if (tux_api_prepare_sleep(t) && !atomic_load(&t->stop)) {
		t->sleeps++;
		until = tux_time_min(until, tux_api_deadline(t));
		got = tux_poll(&x, until, tux_clock_read());
	}
	tux_api_finish_sleep(t, got);
}

static void sleep_with_several(struct tux *first, tux_time until)
{
	struct pollfd fds[TUX_THREADS_MAX];
	struct tux_poll x = { .fds = fds };
	bool quiet = true;
	struct tux *t;

	for (t = first; t; t = t->next_run) {
		quiet &= tux_api_lie_down(t, &until);
		fds[x.n++] = (struct pollfd){ t->fd, POLLIN, 0 };
	}
	if (quiet && !atomic_load(&first->stop)) {
		first->sleeps++;
		tux_poll(&x, until, tux_clock_read());
	}
	for (t = first, x.n = 0; t; t = t->next_run)
		tux_api_finish_sleep(t, fds[x.n++].revents ? TUX_API_WOKEN : 0);
}

static void serve_sleep_until(struct tux *t, tux_time until)
{
	if (t->next_run)
		sleep_with_several(t, until);
	else
		sleep_with_one(t, until);
}

/* ---- turns ---- */

/* A turn of each loop: how many things were found. */
static unsigned turn_each(struct tux *t)
{
	unsigned n = 0;

	for (; t; t = t->next_run)
		n += tux_api_turn(t);
	return n;
}

void tux_api_drive(struct tux *t, _Atomic uint32_t *stop, tux_time until)
{
	tux_spin_begin(&t->spin, tux_clock_read());
	while (!atomic_load(stop)) {
		if (!tux_api_goes_on(t, turn_each(t) > 0))
			serve_sleep_until(t, until);
		/* With a callback that does not return, it is always busy. */
		if (t->now >= until)
			break;
	}
}

/* One round, of the loops that the thread has now. */
static void serve_once(struct tux_thread *x)
{
	unsigned n;

	if (tux_api_hand_over_called(x))
		tux_api_hand_over_take(x);
	if (!x->runs) {
		tux_api_hand_over_wait(x);
		return;
	}
	n = turn_each(x->runs);
	tux_api_hand_over_give(x, x->runs->now);
	if (x->runs && !tux_api_goes_on(x->runs, n > 0))
		serve_sleep_until(x->runs, tux_api_hand_over_deadline(x));
}

static void drive_with_others(struct tux_thread *x, _Atomic uint32_t *stop)
{
	if (x->runs)
		tux_spin_begin(&x->runs->spin, tux_clock_read());
	while (!atomic_load(stop) && !atomic_load(&x->all->ends))
		serve_once(x);
}

/* ---- a thread's work ---- */

static void serve_begin(struct tux *t)
{
	for (; t; t = t->next_run) {
		tux_api_wait_halt(t, false);
		tux_api_awake(t);
		tux_api_set_timer(t, TUX_NEVER);
	}
}

static void serve_end(struct tux *t)
{
	for (; t; t = t->next_run) {
		tux_api_wait_halt(t, true);
		tux_api_beckon(t);
	}
}

static void run_other(struct tux_thread *x)
{
	_Atomic uint32_t never = 0;

	if (x->runs && tux_api_begin(x->runs))
		return;
	serve_begin(x->runs);
	drive_with_others(x, &never);
	tux_api_hand_over_leave(x);
	serve_end(x->runs);
	if (x->runs)
		tux_api_end(x->runs);
}

void tux_api_run_others(struct tux *t)
{
	if (!t->threads || tux_api_threads_run(t))
		return;
	tux_api_hand_over_begin(t->threads);
	tux_api_threads_do(t, run_other);
}

void tux_api_stop_others(struct tux *t)
{
	if (!tux_api_threads_run(t))
		return;
	tux_api_hand_over_end(t->threads);
	tux_api_threads_wait(t);
	tux_api_hand_over_leave(&t->threads->at[0]);
}

/* ---- the program's thread ---- */

static void run_first(struct tux *t)
{
	struct tux_thread *x = t->threads ? &t->threads->at[0] : NULL;

	serve_begin(t);
	if (x) {
		drive_with_others(x, &t->stop);
		tux_api_hand_over_end(x->all);
		tux_api_hand_over_leave(x);
	} else {
		tux_api_drive(t, &t->stop, TUX_NEVER);
	}
	serve_end(t);
}

/* Before the wait for the others, callbacks of ours that were preempted in libc go on
 * until they are out of it: callbacks of the others may need a lock that they have.
 * And the helper may have our loops meanwhile. */
int tux_run(struct tux *t)
{
	int err = tux_api_begin(t);

	if (err)
		return err;
	tux_api_run_others(t);
	run_first(t);
	tux_sched_drain(t->sched);
	tux_api_release_all(t);
	tux_api_stop_others(t);
	atomic_store(&t->stop, 0);
	tux_api_end(t);
	return 0;
}

void tux_stop(struct tux *t)
{
	if (t->forked)
		return;
	tux_sched_enter();
	atomic_store(&t->stop, 1);
	tux_api_ring(t);
	tux_sched_leave();
}
