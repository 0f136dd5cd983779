/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll - the calls of epoll(7)
 *
 * An instance that holds no sock is the kernel's: the program's own call waits
 * on it, with the program's own arguments.
 */
#include <errno.h>

#include "ground/conf.h"
#include "ground/libc.h"
#include "ground/timeout.h"
#include "sock/allow.h"
#include "sock/close.h"
#include "sys/alone.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "wait/epoll_ctl.h"
#include "wait/epoll_fd.h"
#include "wait/epoll_told.h"
#include "wait/epoll_wait.h"
#include "wait/seat.h"

/* A wait by the program's own call. */
struct direct {
	struct seated seated;
	bool sits;
	tux_time since;		/* by the coarse clock, if it sits */
};

/* May the program's own call do?  So it may for an instance without socks that
 * cannot get one unseen while the thread sleeps. */
static inline bool ewait_direct(struct direct *d, int epfd, tux_time ns)
{
	struct ep *ep = ep_peek(epfd);

	d->sits = false;
	if (!ep)
		return true;
	if (!ep_plain(ep))
		return false;
	if (!ns || tux_alone())
		return true;
	seat_enter(&d->seated, ep);
	d->sits = d->seated.seat && ep_plain(ep) && ep_peek(epfd) == ep;
	if (d->sits)
		d->since = ns == TUX_NEVER ? 0 : tux_clock_coarse();
	else
		seat_leave(&d->seated);
	return d->sits;
}

/* What is left of @ns.  Not too little: the clock may be a tick late. */
static tux_time ewait_left(const struct direct *d, tux_time ns)
{
	tux_time tick = TUX_MSEC(10), now;

	if (ns == TUX_NEVER || !d->sits)
		return ns;
	now = tux_clock_coarse();
	return now > d->since + tick ?
	       tux_time_since(now - d->since - tick, ns) : ns;
}

/* That call has reported @k events, not all of them as they were registered.
 * If none is for the program, it goes on to wait: a sock has come, or what told
 * us of nothing has ended. */
static __attribute__((noinline)) int ewait_translate(const struct direct *d,
						     int epfd,
						     struct epoll_event *evs,
						     int max, int k,
						     tux_time ns,
						     const sigset_t *mask)
{
	k = told_direct(epfd, evs, k);
	return k || !ns ? (int)libc_ret(k) :
	       ep_wait(epfd, evs, max, ewait_left(d, ns), mask);
}

static inline int ewait_directed(const struct direct *d, int epfd,
				 struct epoll_event *evs, int max, int k,
				 tux_time ns, const sigset_t *mask)
{
	if (d->sits)
		seat_leave(&d->seated);
	if (k <= 0 || told_as_own(epfd, evs, k))
		return k;
	return ewait_translate(d, epfd, evs, max, k, ns, mask);
}

/* ---- making and filling one ------------------------------------------- */

static int epoll_made(int fd)
{
	int r;

	/* Where no connection ever moves, the kernel's instance is enough. */
	if (close_fresh(fd) < 0 || conf.path == TUX_PATH_MODE_TCP ||
	    allow_sandboxed())
		return fd;
	tux_defer_enter();
	r = epoll_made_fd(fd);
	tux_defer_leave();
	if (!r)
		return fd;
	libc.close(fd);
	errno = -r;
	return -1;
}

HOOK int epoll_create(int size)
{
	return epoll_made(libc.epoll_create(size));
}

HOOK int epoll_create1(int flags)
{
	return epoll_made(libc.epoll_create1(flags));
}

HOOK int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	return epoll_control(epfd, op, fd, event);
}

/* ---- waiting ---------------------------------------------------------- */

HOOK int epoll_wait(int epfd, struct epoll_event *events, int max, int timeout)
{
	tux_time ns = timeout_ms(timeout);
	struct direct d;

	if (!ewait_direct(&d, max > 0 ? epfd : -1, ns))
		return ep_wait(epfd, events, max, ns, NULL);
	return ewait_directed(&d, epfd, events, max,
			      libc.epoll_wait(epfd, events, max, timeout), ns,
			      NULL);
}

HOOK int epoll_pwait(int epfd, struct epoll_event *events, int max,
		     int timeout, const sigset_t *mask)
{
	tux_time ns = timeout_ms(timeout);
	struct direct d;

	if (!ewait_direct(&d, max > 0 ? epfd : -1, ns))
		return ep_wait(epfd, events, max, ns, mask);
	return ewait_directed(&d, epfd, events, max,
			      libc.epoll_pwait(epfd, events, max, timeout,
					       mask), ns, mask);
}

HOOK int epoll_pwait2(int epfd, struct epoll_event *events, int max,
		      const struct timespec *timeout, const sigset_t *mask)
{
	bool good = max > 0 && timeout_valid(timeout);
	tux_time ns = good ? timeout_ts(timeout) : 0;
	struct direct d;

	if (!ewait_direct(&d, good ? epfd : -1, ns))
		return ep_wait(epfd, events, max, ns, mask);
	return ewait_directed(&d, epfd, events, max,
			      libc.epoll_pwait2(epfd, events, max, timeout,
						mask), ns, mask);
}
