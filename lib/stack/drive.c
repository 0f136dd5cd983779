/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/drive.h"

#include <errno.h>

#include "sys/clock.h"
#include "sys/take.h"

enum {
	FDS_US = 20,		/* between looks at descriptors while busy */
};

/* A wait during which the caller runs the loop. */
struct run {
	struct tux_driver *d;
	struct tux_poll *x;
	tux_time until;
	bool began;
};

static int answer(int got)
{
	if (got == -EINTR)
		return -EINTR;
	return got < 0 || got & (TUX_POLL_FDS | TUX_POLL_BELL);
}

static int drive_look(struct run *r)
{
	tux_time now = r->d->loop->now;

	r->d->fds_at = now;
	return answer(tux_poll(r->x, now, now));
}

static int drive_sleep(struct run *r, tux_time now)
{
	struct tux_loop *l = r->d->loop;
	tux_time until = tux_time_min(r->until, tux_loop_deadline(l));
	bool loop_quiet = tux_loop_prepare_sleep(l);
	bool quiet = tux_poll_prepare_sleep(r->x);
	enum tux_loop_told told = TUX_LOOP_UNTOLD;
	int got = 0;

	if (loop_quiet && quiet) {
		got = tux_poll(r->x, until, now);
		told = tux_poll_told(r->x, until, now, got);
	}
	tux_poll_finish_sleep(r->x, got);
	tux_loop_finish_sleep(l, told);
	return answer(got);
}

/* Sends what is there to send, and sleeps without a look at what has come: the
 * sleep ends at once if there is something. */
static int sleep_at_once(struct run *r)
{
	struct tux_loop *l = r->d->loop;
	tux_time now;

	tux_loop_flush(l);
	tux_spin_begin(&r->d->spin, l->now);
	r->began = true;
	if (tux_poll_rung(r->x))
		return 1;
	now = tux_clock_read();
	tux_spin_begin_asleep(&r->d->spin, now);
	return drive_sleep(r, now);
}

/* Runs the loop until the wait is over, or until the helper wants the loop:
 * *@handed. */
static int run_loop(struct run *r, bool *handed)
{
	struct tux_spin *s = &r->d->spin;
	struct tux_loop *l = r->d->loop;
	int got = tux_spin_sleeps_at_once(s) ? sleep_at_once(r) : 0;

	*handed = false;
	while (!got) {
		bool busy = tux_loop_turn(l) > 0;

		if (!r->began)
			tux_spin_begin(s, l->now);
		r->began = true;
		if (tux_poll_rung(r->x))
			return 1;
		if (l->now >= r->until)
			return drive_look(r);
		*handed = atomic_load(&r->d->helper) == TUX_DRIVES;
		if (*handed)
			return 0;
		if (busy) {
			tux_spin_end(s, l->now);
			tux_spin_begin(s, l->now);
		}
		if (!tux_spin_more(s, l->now))
			got = drive_sleep(r, tux_clock_read());
		else if (l->now - r->d->fds_at >= TUX_USEC(FDS_US))
			got = drive_look(r);
	}
	return got;
}

static int drive_until(struct tux_driver *d, struct tux_poll *x, tux_time until,
		       bool *handed)
{
	struct run r = { .d = d, .x = x, .until = until };
	int got;

	x->loop = d->loop;
	got = run_loop(&r, handed);
	x->loop = NULL;
	tux_spin_end(&d->spin, tux_clock_read());
	tux_driver_release(d, true);
	return got;
}

int tux_passive_wait(struct tux_poll *x, tux_time until)
{
	for (;;) {
		bool quiet = tux_poll_prepare_sleep(x);
		tux_time now = tux_clock_read();
		int got = tux_poll(x, quiet ? until : now, now);

		tux_poll_finish_sleep(x, got);
		if (!quiet || got)
			return quiet ? answer(got) : 1;
		if (until <= tux_clock_read())
			return 0;
	}
}

int tux_driver_wait(struct tux_driver *d, struct tux_poll *x, tux_time until)
{
	bool handed = true;
	int got = 0;

	if (atomic_fetch_add(&d->waiters, 1))
		atomic_store(&d->crowd_at, tux_clock_read());
	if (tux_driver_acquire(d))
		got = drive_until(d, x, until, &handed);
	if (handed)
		got = tux_passive_wait(x, until);
	atomic_fetch_sub(&d->waiters, 1);
	return got;
}
