/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/epoll_wait.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "ground/timeout.h"
#include "sock/allow.h"
#include "sys/alone.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "sys/fd.h"
#include "wait/epoll.h"
#include "wait/epoll_item.h"
#include "wait/epoll_kick.h"
#include "wait/epoll_look.h"
#include "wait/epoll_nest.h"
#include "wait/epoll_told.h"
#include "wait/seat.h"
#include "wait/transfer.h"
#include "wait/wait.h"

/* While the rings always have something, the kernel is asked this often. */
#define KERNEL_EVERY TUX_USEC(50)

struct sleeper {
	struct tux_list node;	/* in ep->sleepers */
	struct waiting *t;
};

/* ---- asking the kernel ------------------------------------------------ */

static int ceil_ms(tux_time ns)
{
	tux_time ms = (ns + TUX_MSEC(1) - 1) / TUX_MSEC(1);

	return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* epoll_wait() of the kernel into l->evs + n, for @ns.  A count or -errno. */
static int ask_kernel(struct look *l, int max, tux_time ns)
{
	struct epoll_event *evs = l->evs + l->n;
	struct timespec t = { (time_t)(ns / TUX_SEC(1)),
			      (long)(ns % TUX_SEC(1)) };
	int ms = ns == TUX_NEVER ? -1 : ceil_ms(ns);
	int k;

	if (ms > 0 && ns % TUX_MSEC(1)) {
		k = libc.epoll_pwait2(l->fd, evs, max, &t, l->mask);
		if (k >= 0 || errno != ENOSYS)
			return k < 0 ? -errno : k;
	}
	if (l->mask && ms)
		k = libc.epoll_pwait(l->fd, evs, max, ms, l->mask);
	else
		k = libc.epoll_wait(l->fd, evs, max, ms);
	return k < 0 ? -errno : k;
}

/* The kernel's events, at most @max of them, without waiting. */
static int look_kernel(struct look *l, int max, tux_time now)
{
	int k = ask_kernel(l, max, 0);

	if (k < 0)
		return k;
	/* All places are filled, so the kernel may have more: the next look
	 * asks it again, without the pause of KERNEL_EVERY.  With one place,
	 * kernel and rings take turns instead. */
	l->ep->polled_at = k == max && max > 1 ? 0 : now;
	l->ep->found = k > 0;
	told_take(l, k);
	return 0;
}

static bool over(const struct look *l)
{
	return l->until == 0 ||
	       (l->until != TUX_NEVER && tux_clock_read() >= l->until);
}

/* ---- the kernel's call does the waiting -------------------------------- */

/* How long the kernel may sleep.  Not computed from `until` at first: that has
 * a fraction of a millisecond, for which old kernels have no call. */
static tux_time for_ns(struct look *l)
{
	tux_time ns = l->first;

	l->first = TUX_NEVER;
	if (ns != TUX_NEVER || l->until == TUX_NEVER)
		return ns;
	return tux_time_since(tux_clock_read(), l->until);
}

/* The kernel's call waits for @ep no longer: threads that sleep in it look
 * again (latch held). */
static void ep_recall(struct ep *ep)
{
	ep->plain_waits = 0;
	nest_unbell(ep);
	kick_sleepers(ep);
}

/* Were all socks of @ep on TCP for many waits?  wait_plain() looks more
 * closely. */
static bool ep_long_plain(const struct ep *ep)
{
	return ep->plain_waits >= READY_PLAIN;
}

/* Tries to leave the wait for @ep, which has socks, to the kernel's call.  The
 * kernel then watches the bell, which rings when a sock moves.  Not while there is
 * a leader, which would clear the bell's sleep flag.  False: this thread has to
 * wait for the rings itself. */
static bool ep_delegate(struct ep *ep)
{
	bool can;

	if (!ep_long_plain(ep))
		return false;
	ep_lock(ep);
	can = !ep->on_ring && !ep->nests && !ep->leader &&
		tux_list_empty(&ep->ready) && ep->w.bell && nest_bell(ep);
	if (can) {
		tux_bell_set_asleep(ep->w.bell, true);
		can = tux_bell_quiet(ep->w.bell);
	}
	if (!can)
		ep_recall(ep);
	ep_unlock(ep);
	return can;
}

/* Takes the wait back from the kernel if the bell is in @evs. */
static void ep_recall_rung(struct ep *ep, const struct epoll_event *evs, int k)
{
	if (!ep->plain_waits)
		return;
	ep_lock(ep);
	for (int i = 0; i < k; i++)
		if (evs[i].data.u64 == tag_make(TAG_PRIVATE, ep->w.fd))
			ep_recall(ep);
	ep_unlock(ep);
}

/* This thread takes its seat before it looks at `socks`.  A thread that
 * attaches a sock counts it there before it looks at the seats, so one of the
 * two notices.  1: go on; 0: the time is up; -errno. */
static int wait_plain(struct look *l)
{
	struct ep *ep = l->ep;
	struct seated seated;
	int k = 0;
	bool plain;

	seat_enter(&seated, ep);
	plain = ep_plain(ep) || ep_delegate(ep);
	/* Not deferred: a signal has to end the kernel's wait. */
	if (plain) {
		tux_defer_leave();
		k = ask_kernel(l, l->max, for_ns(l));
		tux_defer_enter();
	}
	seat_leave(&seated);
	if (k > 0) {
		ep_recall_rung(ep, l->evs, k);
		told_take(l, k);
	} else if (plain) {
		return k;
	}
	return l->n || !plain || !over(l);
}

/* ---- one look at an instance with socks ------------------------------- */

/* How many places to keep for the kernel's events. */
static int share(struct look *l, tux_time now)
{
	struct ep *ep = l->ep;

	if (tux_time_since(ep->polled_at, now) < KERNEL_EVERY)
		return 0;
	if (l->max > 1)
		return l->max / 2;
	ep->flip = !ep->flip;
	return ep->flip;
}

/* Need this look not ask the kernel?  No need if a sleep follows, since a sleep
 * asks the kernel, and if the kernel had nothing the last time.  Only while a sock
 * is on a ring. */
static bool sleep_asks(const struct look *l)
{
	return !l->n && l->until && l->ep->on_ring && !l->ep->found;
}

/* What the call has just done. */
enum look_after {
	BEGAN,
	SLEPT,		/* most often with a turn of the loop */
	SLEPT_NOTHING,	/* ... and the kernel said that it has nothing */
};

/*
 * Collects the events that there are, without sleeping.  Takes a turn of the
 * loop only if the call is about to return, because a sleep takes one anyway.
 * 0 or -errno.
 */
static int ewait_look(struct look *l, enum look_after after)
{
	bool fresh = after != BEGAN, turned = fresh, ask, skip;
	bool last = fresh || l->until == 0 || !l->ep->on_ring;
	tux_time now = tux_clock_read();
	int keep, r = 0;

	if (after == SLEPT_NOTHING)
		l->ep->polled_at = now;
	keep = share(l, now);
	/* If the call looks only once, or is about to report an item, a turn
	 * of the loop first takes in what has arrived.  An EPOLLONESHOT item
	 * is reported once, so that report must have all its events. */
	if (!fresh && (l->until == 0 || look_finds(l->ep))) {
		tux_channel_turn(preload_stack(), &l->ep->w);
		turned = true;
	}
	look_rings(l, l->max - keep);
	ask = l->n ? l->half && l->n < l->max : last;
	skip = after == SLEPT_NOTHING || (!fresh && sleep_asks(l));
	if ((keep || ask) && !skip)
		r = look_kernel(l, l->max - l->n, now);
	/* Nobody took the place that was kept. */
	if (keep && !l->n && !r)
		look_rings(l, l->max);
	if (l->n && !turned)
		ready_turn(&l->ep->w, now);
	return r;
}

/* ---- sleeping --------------------------------------------------------- */

static bool lead(struct ep *ep)
{
	bool mine;

	ep_lock(ep);
	mine = !ep->leader;
	ep->leader = true;
	ep_unlock(ep);
	return mine;
}

/* *@nothing: the kernel was asked last, and has nothing. */
static int sleep_leader(struct look *l, bool *nothing)
{
	struct pollfd p = { l->fd, POLLIN, .revents = POLLNVAL };
	int r = tux_channel_wait(preload_stack(), &l->ep->w, &p, 1, l->until,
				 l->mask);

	*nothing = r >= 0 && !p.revents;
	l->ep->plain_waits = l->ep->on_ring ? 0 : l->ep->plain_waits + 1;
	return r;
}

static int sleep_behind(struct look *l)
{
	struct sleeper s = { .t = wait_take() };
	struct ep *ep = l->ep;
	bool behind;
	int r = 1;

	/* No memory or no descriptor for a waiter: look again soon. */
	if (!s.t) {
		libc.poll(NULL, 0, 1);
		return 1;
	}
	ep_lock(ep);
	tux_list_push(&ep->sleepers, &s.node);
	behind = ep->leader;
	atomic_store(&s.t->w.loop, atomic_load(&ep->w.loop));
	ep_unlock(ep);
	if (behind)
		r = tux_channel_wait(preload_stack(), &s.t->w, NULL, 0,
				     l->until, l->mask);
	ep_lock(ep);
	tux_list_remove(&s.node);
	ep_unlock(ep);
	wait_give(s.t);
	return r;
}

static void wake_next(struct ep *ep)
{
	struct sleeper *s = TUX_CONTAINER(ep->sleepers.next, struct sleeper,
					  node);

	if (!atomic_exchange(&s->t->queued, 1))
		tux_waiter_ring(&s->t->w, 0);
}

/* This thread leaves, so another one must serve @ep and its ready list.  As in
 * the kernel, the list may still hold what this thread reports. */
static void ewait_leave(struct ep *ep, bool led)
{
	ep_lock(ep);
	if (led)
		ep->leader = false;
	if (!ep->leader && !tux_list_empty(&ep->sleepers))
		wake_next(ep);
	else if (ep->leader && !tux_list_empty(&ep->ready))
		item_poke(ep, TUX_CONTAINER(ep->ready.next, struct item,
					    ready));
	nest_show(ep);
	ep_unlock(ep);
}

/* Waits for the rings and the kernel, and runs the loop meanwhile.  Returns as
 * wait_plain() does. */
static int wait_tux(struct look *l)
{
	struct ep *ep = l->ep;
	bool led = false, nothing;
	int slept = 1, r;

	if (l->until)
		transfer_found_nothing = false;
	nest_hush(ep);
	r = ewait_look(l, BEGAN);
	while (!r && !l->n && slept > 0 && l->until && !ep_plain(ep)) {
		led = led || lead(ep);
		nothing = false;
		slept = led ? sleep_leader(l, &nothing) : sleep_behind(l);
		r = ewait_look(l, nothing ? SLEPT_NOTHING : SLEPT);
	}
	ewait_leave(ep, led);
	if (r || l->n)
		return r ? r : 1;
	return l->until ? slept : 0;
}

/* ---- the whole wait ----------------------------------------------------- */

static int wait_on(struct look *l)
{
	int r;

	l->until = l->first == TUX_NEVER || l->first == 0 ?
		   l->first : tux_time_add(tux_clock_read(), l->first);
	do
		r = ep_plain(l->ep) || ep_long_plain(l->ep) ? wait_plain(l) :
							 wait_tux(l);
	while (r > 0 && !l->n);
	return l->n ? l->n : r;
}

int ep_wait(int fd, struct epoll_event *evs, int max, tux_time ns,
	    const sigset_t *mask)
{
	struct look l = {
		.ep = ep_get(fd), .fd = fd, .evs = evs, .max = max, .first = ns,
		.mask = mask,
	};
	int r;

	if (!l.ep)
		return (int)libc_ret(allow_sandboxed() ? -EINTR : -EBADF);
	tux_defer_enter();
	r = wait_on(&l);
	ep_put(l.ep);
	tux_defer_leave_masked(mask, r == -EINTR);
	/* Sleeps in the loop are no cancellation points; epoll_wait() is. */
	if (r <= 0)
		pthread_testcancel();
	return (int)libc_ret(r);
}
