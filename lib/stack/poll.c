/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/poll.h"

#include <errno.h>
#include <string.h>

#include "sys/area.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "sys/sys.h"
#include "sys/wake.h"

/* Bell, deferred signals and loop come behind the others. */
enum { FEW = 128, OURS = 2 + TUX_LOOP_FDS };

static bool has_bell(const struct tux_poll *x)
{
	return x->w && x->w->bell;
}

/* ppoll(), which a deferred signal ends.  @none is an entry of the set that has
 * no descriptor.  A thread that waits for time alone is not interrupted. */
static int poll_interruptibly(const struct tux_poll *x, struct pollfd *set,
			      unsigned n, struct pollfd *none,
			      struct timespec *ts)
{
	bool alone = !x->n && !has_bell(x);
	int r;

	*none = (struct pollfd){ -1, 0, 0 };
	if (!alone)
		tux_defer_sleep(&none->fd, x->mask);
	r = tux_sys_ppoll(set, n, ts, x->mask);
	if (!alone && tux_defer_woke() && r <= (none->revents != 0))
		return -EINTR;
	return r;
}

static int poll_set(const struct tux_poll *x, struct pollfd *set,
		    tux_time until, tux_time now)
{
	struct timespec ts;
	unsigned i, n = x->n, loop_n = 0;
	struct pollfd *ours = set + n;
	bool sleeps = until > now;
	int r, got = 0;

	if (n)
		memcpy(set, x->fds, n * sizeof(*set));
	ours[0] = (struct pollfd){ sleeps && has_bell(x) ? x->w->fd : -1,
				   POLLIN, 0 };
	if (x->loop && sleeps)
		loop_n = tux_loop_fds(x->loop, ours + 2);
	r = poll_interruptibly(x, set, n + 2 + loop_n, &ours[1],
			       tux_clock_until(&ts, until, now));
	if (r < 0)
		return r;
	for (i = 0; i < n; i++) {
		x->fds[i].revents = set[i].revents;
		if (set[i].revents)
			got |= TUX_POLL_FDS;
	}
	if (ours[0].revents || (!sleeps && tux_poll_rung(x)))
		got |= TUX_POLL_BELL;
	for (i = 0; i < loop_n; i++)
		if (ours[2 + i].revents)
			got |= i ? TUX_POLL_LINK : TUX_POLL_LOOP;
	return got;
}

int tux_poll(const struct tux_poll *x, tux_time until, tux_time now)
{
	struct pollfd few[FEW + OURS], *set;
	size_t len = (x->n + OURS) * sizeof(*set);
	int got;

	if (x->n <= FEW)
		return poll_set(x, few, until, now);
	if (tux_area_map((void **)&set, len, TUX_AREA_PRIVATE))
		return -ENOMEM;
	got = poll_set(x, set, until, now);
	tux_area_unmap(set, len);
	return got;
}

enum tux_loop_told tux_poll_told(const struct tux_poll *x, tux_time until,
				 tux_time now, int got)
{
	if (!x->loop || until <= now || got < 0)
		return TUX_LOOP_UNTOLD;
	return got & TUX_POLL_LOOP ? TUX_LOOP_READABLE : TUX_LOOP_NOTHING;
}

bool tux_poll_rung(const struct tux_poll *x)
{
	return has_bell(x) && !tux_bell_quiet(x->w->bell);
}

bool tux_poll_prepare_sleep(const struct tux_poll *x)
{
	if (!has_bell(x))
		return true;
	atomic_fetch_add(&x->w->sleepers, 1);
	tux_bell_set_asleep(x->w->bell, true);
	return !tux_poll_rung(x);
}

void tux_poll_finish_sleep(const struct tux_poll *x, int got)
{
	if (!has_bell(x))
		return;
	tux_wake_finish_sleep(x->w->bell, x->w->fd,
			      got > 0 && got & TUX_POLL_BELL);
	/* Other threads that sleep on the same bell still have to be woken by
	 * the next ring; the rings until now are the caller's to answer. */
	if (atomic_fetch_sub(&x->w->sleepers, 1) > 1)
		tux_bell_set_asleep(x->w->bell, true);
}
