/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network thread: turns, and sleep when there is nothing for any of them.
 */
#include "api/serve.h"

#include "api/connection.h"
#include "api/threads.h"
#include "api/turn.h"
#include "api/wait.h"
#include "stack/driver.h"
#include "stack/poll.h"
#include "sys/clock.h"

/* The thread that sleeps has the loop, so that the helper can sleep. */
static void serve_sleep_until(struct tux *t, tux_time until)
{
	struct pollfd own = { t->epfd, POLLIN, 0 };
	struct tux_poll x = { .w = &t->w, .fds = &own, .n = 1 };
	int got = 0;

	if (t->l && !t->acquired)
		t->acquired = tux_driver_acquire(t->d);
	if (t->acquired)
		x.loop = t->l;
	if (tux_api_prepare_sleep(t) && !atomic_load(&t->stop)) {
		t->sleeps++;
		until = tux_time_min(until, tux_api_deadline(t));
		got = tux_poll(&x, until, tux_clock_read());
	}
	tux_api_finish_sleep(t, got);
}

void tux_api_drive(struct tux *t, _Atomic uint32_t *stop, tux_time until)
{
	tux_spin_begin(&t->spin, tux_clock_read());
	while (!atomic_load(stop)) {
		if (!tux_api_goes_on(t, tux_api_turn(t) > 0))
			serve_sleep_until(t, until);
		/* With a callback that does not return, it is always busy. */
		if (t->now >= until)
			break;
	}
}

static void serve_loop(struct tux *t)
{
	tux_api_wait_halt(t, false);
	tux_api_awake(t);
	tux_api_drive(t, &t->stop, TUX_NEVER);
	tux_api_wait_halt(t, true);
	tux_api_beckon(t);
}

static void run_other(struct tux *t)
{
	if (tux_api_begin(t))
		return;
	serve_loop(t);
	atomic_store(&t->stop, 0);
	tux_api_end(t);
}

void tux_api_run_others(struct tux *t)
{
	if (t->threads && !tux_api_threads_run(t))
		tux_api_threads_do(t, run_other);
}

static void stop_loop(struct tux *t)
{
	tux_sched_enter();
	atomic_store(&t->stop, 1);
	tux_api_ring(t);
	tux_sched_leave();
}

void tux_api_stop_others(struct tux *t)
{
	unsigned i;

	if (!tux_api_threads_run(t))
		return;
	for (i = 1; i < tux_api_loops(t); i++)
		stop_loop(tux_api_loop(t, i));
	tux_api_threads_wait(t);
}

/* Before the wait for the others, callbacks of ours that were preempted in libc go on
 * until they are out of it: callbacks of the others may need a lock that they have.
 * And the helper may have our loop meanwhile. */
int tux_run(struct tux *t)
{
	int err = tux_api_begin(t);

	if (err)
		return err;
	tux_api_run_others(t);
	serve_loop(t);
	tux_sched_drain(t->sched);
	tux_api_release(t);
	tux_api_stop_others(t);
	atomic_store(&t->stop, 0);
	tux_api_end(t);
	return 0;
}

void tux_stop(struct tux *t)
{
	if (!t->forked)
		stop_loop(t);
}
