/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network thread within a loop of the application: one descriptor, an epoll
 * instance of all that would end its sleep, with a timer for deadlines.
 *
 * Between turns the thread runs the application, and the helper runs the loop
 * if the application takes long. A ring must still wake the network thread, so
 * it counts as asleep from one turn to the next. It stays awake where the next
 * turn will find something, or where it pays to look again (stack/spin.h): the
 * descriptor is readable until that is over, and turns in between do without
 * the kernel.
 */
#include "api/embed.h"

#include <errno.h>
#include <sys/timerfd.h>

#include "api/hand_over.h"
#include "api/serve.h"
#include "api/sleep.h"
#include "api/turn.h"
#include "api/wait.h"
#include "stack/driver.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"

enum { LOOK_MS = 10 };		/* at a loop that cannot be watched: the kernel
				 * nests only so many epoll instances */

int tux_api_embed(struct tux *t)
{
	int err;

	t->timer_at = TUX_NEVER;
	t->fd = tux_fd_lift(tux_sys_epoll_create());
	if (t->fd < 0)
		return t->fd;
	t->timer_fd = tux_fd_lift((int)TUX_SYS(SYS_timerfd_create,
					       CLOCK_MONOTONIC,
					       TFD_NONBLOCK | TFD_CLOEXEC, 0, 0,
					       0, 0));
	if (t->timer_fd < 0)
		return t->timer_fd;
	err = tux_api_watch_fd(t, t->epfd);
	if (!err)
		err = tux_api_watch_fd(t, t->w.fd);
	if (!err)
		err = tux_api_watch_fd(t, t->timer_fd);
	tux_api_beckon(t);
	return err;
}

void tux_api_unembed(struct tux *t)
{
	tux_fd_close(t->fd);
	tux_fd_close(t->timer_fd);
}

int tux_fd(const struct tux *t)
{
	return t->forked ? -EOWNERDEAD : t->fd;
}

/* ---- between turns ---- */

/* Is what would wake @t on the descriptor of the stack? */
static bool nest(struct tux *t)
{
	if (!t->nested)
		t->nested = !tux_api_watch_fd(t->first, t->fd);
	return t->nested;
}

/* From here to wake_up() a ring makes t->fd readable, and so does the time @at. */
static void lie_down(struct tux *t, tux_time at)
{
	if (tux_api_lie_down(t, &at))
		tux_api_set_timer(t, at);
	else
		tux_wake_kick(t->w.fd);
	t->asleep = true;
}

static void wake_up(struct tux *t)
{
	if (t->l && !t->acquired)
		t->acquired = tux_driver_acquire(t->d);
	if (t->awake)
		return;
	tux_api_awake(t);
	/* It stays readable until it is set anew. */
	if (t->timer_at <= tux_clock_read())
		tux_api_set_timer(t, TUX_NEVER);
}

static void stay_awake(struct tux *t)
{
	if (!t->awake)
		tux_wake_kick(t->w.fd);
	t->awake = true;
}

static unsigned turn_all(struct tux *t)
{
	unsigned n = 0;

	for (; t; t = t->next_run) {
		if (atomic_load(&t->halted))
			tux_api_wait_halt(t, false);
		wake_up(t);
		n += tux_api_turn(t);
	}
	return n;
}

/* The first, which has the descriptor, stays awake for all. */
static void rest_all(struct tux *first, bool goes_on, tux_time at)
{
	struct tux *t;

	if (goes_on) {
		stay_awake(first);
		return;
	}
	for (t = first->next_run; t; t = t->next_run) {
		lie_down(t, TUX_NEVER);
		if (!nest(t))
			at = tux_time_min(at, first->now + TUX_MSEC(LOOK_MS));
	}
	tux_api_awake(first);
	lie_down(first, at);
}

int tux_turn(struct tux *t)
{
	struct tux_thread *x = t->threads ? &t->threads->at[0] : NULL;
	int err = tux_api_begin(t);
	tux_time at = TUX_NEVER;
	unsigned n;

	if (err)
		return err;
	tux_api_run_others(t);
	if (x && tux_api_hand_over_called(x))
		tux_api_hand_over_take(x);
	n = turn_all(t);
	if (x) {
		tux_api_hand_over_give(x, t->now);
		at = tux_api_hand_over_deadline(x);
	}
	rest_all(t, tux_api_goes_on(t, n > 0), at);
	tux_api_end(t);
	return (int)n;
}
