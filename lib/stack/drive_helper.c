/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/drive_helper.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"
#include "sys/take.h"
#include "sys/thread.h"

enum {
	CROWD_MS = 1000,	/* how long a crowd is remembered */
	STACK = 1024 * 1024,	/* of it, what thread-local storage takes */
	HANDOVER_US = 200,
	HALT_TRIES = 500,	/* of as long each */
};

/* Sleeps until the helper's state is not @state, at most for @in. */
static void helper_wait(struct tux_driver *d, uint32_t state, tux_time in)
{
	struct timespec ts;

	tux_sys_futex(&d->helper, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, state,
		      tux_clock_until(&ts, in, 0));
}

static bool stopping(struct tux_driver *d)
{
	return atomic_load(&d->stop);
}

/* Quietly: it is the helper itself that changes its mind. */
static bool become(struct tux_driver *d, uint32_t from, uint32_t to)
{
	return atomic_compare_exchange_strong(&d->helper, &from, to);
}

static bool helper_has_work(struct tux_driver *d)
{
	return atomic_load(&d->loop->end_n) || atomic_load(&d->loop->tends) ||
	       atomic_load(&d->loop->hears) ||
	       !tux_loop_quiet(d->loop);
}

/* If no thread releases the loop for a whole period, the helper sleeps, because
 * the driver may stay for ever.  The next release wakes the helper. */
static void helper_watch(struct tux_driver *d)
{
	uint32_t leaves = atomic_load(&d->leaves);
	bool driven;

	helper_wait(d, TUX_WATCHES, d->watch);
	driven = leaves != atomic_load(&d->leaves);
	d->watch = tux_watch_next(d->watch, driven);
	if (stopping(d) || driven)
		return;
	if (!atomic_load(&d->taken) && helper_has_work(d)) {
		become(d, TUX_WATCHES, TUX_FILLS_IN);
		return;
	}
	if (become(d, TUX_WATCHES, TUX_SLEEPS) &&
	    leaves != atomic_load(&d->leaves))
		become(d, TUX_SLEEPS, TUX_WATCHES);
}

static enum tux_loop_told sleep_on_loop(struct tux_driver *d, tux_time until)
{
	struct pollfd p[TUX_LOOP_FDS];
	unsigned n = tux_loop_fds(d->loop, p);
	struct timespec ts;

	tux_sys_ppoll(p, n, tux_clock_until(&ts, until, tux_clock_read()),
		      NULL);
	return p[0].revents ? TUX_LOOP_READABLE : TUX_LOOP_NOTHING;
}

/* The helper is not woken by the eventfd of the loop: a thread of the
 * application that takes a turn in between would clear it before the helper
 * sleeps on it. */
static void sleep_beside(struct tux_driver *d, struct pollfd *p, unsigned n,
			 tux_time until)
{
	struct timespec ts;

	p[n] = (struct pollfd){ d->helper_fd, POLLIN, 0 };
	tux_sys_ppoll(p, n + 1, tux_clock_until(&ts, until, tux_clock_read()),
		      NULL);
	if (p[n].revents)
		tux_wake_clear(d->helper_fd);
}

/* Without the loop in hand while asleep, so that an application's thread can
 * take it at any time. */
static void fill_in(struct tux_driver *d)
{
	struct pollfd p[TUX_LOOP_FDS + 1];
	tux_time until;
	unsigned n;

	if (!tux_driver_take(d)) {
		become(d, TUX_FILLS_IN, TUX_WATCHES);
		return;
	}
	d->loop->woken = true;
	while (tux_loop_turn(d->loop) > 0 && !atomic_load(&d->waiters) &&
	       !stopping(d))
		;
	until = tux_loop_deadline(d->loop);
	n = tux_loop_fds(d->loop, p);
	if (!helper_has_work(d))
		become(d, TUX_FILLS_IN, TUX_WATCHES);
	atomic_store(&d->helper_sleeps, 1);
	tux_driver_drop(d);
	if (tux_loop_quiet(d->loop) && !stopping(d) &&
	    atomic_load(&d->helper) == TUX_FILLS_IN)
		sleep_beside(d, p, n, until);
	atomic_store(&d->helper_sleeps, 0);
}

static bool still_drives(struct tux_driver *d)
{
	tux_time now = d->loop->now;

	if (d->dedicated)
		return true;
	if (atomic_load(&d->waiters) > 1)
		atomic_store(&d->crowd_at, now);
	return tux_time_since(atomic_load(&d->crowd_at), now) <
	       TUX_MSEC(CROWD_MS);
}

static void helper_sleep(struct tux_driver *d)
{
	struct tux_loop *l = d->loop;
	enum tux_loop_told told = TUX_LOOP_UNTOLD;

	if (tux_loop_prepare_sleep(l) && !stopping(d))
		told = sleep_on_loop(d, tux_loop_deadline(l));
	tux_loop_finish_sleep(l, told);
}

static void helper_run(struct tux_driver *d)
{
	struct tux_loop *l = d->loop;

	tux_spin_begin(&d->spin, tux_clock_read());
	do {
		if (tux_loop_turn(l)) {
			tux_spin_end(&d->spin, l->now);
			tux_spin_begin(&d->spin, l->now);
		} else if (!tux_spin_more(&d->spin, l->now)) {
			helper_sleep(d);
		}
	} while (!stopping(d) && still_drives(d));
}

static void helper_drive(struct tux_driver *d)
{
	/* The driver reads d->helper only while it is awake, so wake it. */
	while (!tux_driver_take(d)) {
		tux_loop_wake(d->loop);
		helper_wait(d, TUX_DRIVES, TUX_USEC(HANDOVER_US));
		if (stopping(d))
			return;
	}
	helper_run(d);
	atomic_store(&d->crowds, 0);
	become(d, TUX_DRIVES, TUX_WATCHES);
	tux_driver_drop(d);
}

static void *help(void *arg)
{
	struct tux_driver *d = arg;

	TUX_SYS(SYS_prctl, PR_SET_NAME, "tux", 0, 0, 0, 0);
	while (!stopping(d)) {
		switch (atomic_load(&d->helper)) {
		case TUX_SLEEPS:
			helper_wait(d, TUX_SLEEPS, TUX_NEVER);
			break;
		case TUX_WATCHES:
			helper_watch(d);
			break;
		case TUX_FILLS_IN:
			fill_in(d);
			break;
		default:
			helper_drive(d);
			break;
		}
	}
	return NULL;
}

static int helper_start(struct tux_driver *d)
{
	pthread_attr_t attr;
	int err;

	if (d->helper_fd < 0)
		d->helper_fd = tux_fd_lift(tux_sys_eventfd(EFD_CLOEXEC |
							   EFD_NONBLOCK));
	if (d->helper_fd < 0)
		return d->helper_fd;
	err = pthread_attr_init(&attr);
	if (err)
		return -err;
	pthread_attr_setstacksize(&attr, STACK);
	err = tux_thread_start(&d->thread, &attr, help, d);
	pthread_attr_destroy(&attr);
	d->started = !err;
	return err;
}

int tux_driver_start(struct tux_driver *d)
{
	int err = 0;

	tux_latch_take(&d->start_latch);
	if (!d->started)
		err = helper_start(d);
	tux_latch_drop(&d->start_latch);
	return err;
}

void tux_driver_stop(struct tux_driver *d)
{
	if (!d->started)
		return;
	atomic_store(&d->stop, 1);
	/* The new value keeps a helper about to sleep from sleeping. */
	atomic_store(&d->helper, TUX_WATCHES);
	tux_sys_futex(&d->helper, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL);
	tux_wake_kick(d->loop->held.bell_fd);
	tux_wake_kick(d->helper_fd);
	pthread_join(d->thread, NULL);
	d->started = false;
}

bool tux_driver_halt(struct tux_driver *d)
{
	unsigned i;

	tux_driver_stop(d);
	/* TUX_DRIVES makes a driver release the loop; no helper takes it. */
	atomic_store(&d->helper, TUX_DRIVES);
	for (i = 0; i < HALT_TRIES; i++) {
		if (tux_driver_take(d))
			return true;
		tux_loop_wake(d->loop);
		helper_wait(d, TUX_DRIVES, TUX_USEC(HANDOVER_US));
	}
	return false;
}
