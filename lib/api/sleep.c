/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/sleep.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "stack/driver.h"
#include "stack/poll.h"
#include "sys/sys.h"

_Static_assert(TUX_API_WOKEN == (TUX_POLL_FDS | TUX_POLL_BELL | TUX_POLL_LOOP),
	       "what may have woken it");

tux_time tux_api_deadline(struct tux *t)
{
	tux_time at = tux_sched_deadline(t->sched);
	struct tux_list *n;

	if (t->acquired)
		at = tux_time_min(at, tux_loop_deadline(t->l));
	if (!tux_list_empty(&t->paused))
		at = tux_time_min(at, t->paused_until);
	TUX_LIST_EACH(n, &t->closing)
		at = tux_time_min(at, TUX_CONTAINER(n, struct tux_connection,
						    closing)->closing_at);
	return t->ready_n ? t->now : at;
}

bool tux_api_prepare_sleep(struct tux *t)
{
	struct tux_poll x = { .w = &t->w };
	bool quiet = tux_poll_prepare_sleep(&x);

	if (t->acquired)
		quiet &= tux_loop_prepare_sleep(t->l);
	return quiet && !t->ready_n;
}

void tux_api_finish_sleep(struct tux *t, int got)
{
	struct tux_poll x = { .w = &t->w };

	tux_poll_finish_sleep(&x, got);
	if (t->acquired)
		tux_loop_finish_sleep(t->l, got > 0 && got & TUX_POLL_LOOP ?
					    TUX_LOOP_READABLE :
					    TUX_LOOP_UNTOLD);
	if (got > 0 && got & TUX_POLL_FDS)
		t->look = true;
}

/* ---- on t->fd ---- */

int tux_api_watch_fd(const struct tux *t, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return tux_sys_epoll_ctl(t->fd, EPOLL_CTL_ADD, fd, &e);
}

static void watch_only(struct tux *t, unsigned n)
{
	while (t->watched_n > n)
		tux_sys_epoll_ctl(t->fd, EPOLL_CTL_DEL,
				  t->watched[--t->watched_n], NULL);
}

void tux_api_watch_none(struct tux *t)
{
	watch_only(t, 0);
}

/* The link opens and closes sockets as interfaces come and go.  Those of a loop that
 * the helper drives are for the helper. */
static void watch_loop(struct tux *t)
{
	struct pollfd p[TUX_LOOP_FDS];
	unsigned i, n = t->acquired ? tux_loop_fds(t->l, p) : 0;

	for (i = 0; i < n && i < t->watched_n; i++)
		if (p[i].fd != t->watched[i])
			break;
	if (i == n && n == t->watched_n)
		return;
	watch_only(t, i);
	for (; i < n; i++)
		if (!tux_api_watch_fd(t, p[i].fd))
			t->watched[t->watched_n++] = p[i].fd;
}

bool tux_api_lie_down(struct tux *t, tux_time *at)
{
	if (t->l && !t->acquired)
		t->acquired = tux_driver_acquire(t->d);
	watch_loop(t);
	*at = tux_time_min(*at, tux_api_deadline(t));
	return tux_api_prepare_sleep(t) && *at > t->now;
}

void tux_api_set_timer(struct tux *t, tux_time at)
{
	struct itimerspec v = { .it_value = { 0 } };

	if (at == t->timer_at)
		return;
	t->timer_at = at;
	if (at != TUX_NEVER) {
		v.it_value.tv_sec = (time_t)(at / TUX_SEC(1));
		v.it_value.tv_nsec = (long)(at % TUX_SEC(1)) + !at;
	}
	TUX_SYS(SYS_timerfd_settime, t->timer_fd, TFD_TIMER_ABSTIME, &v, NULL,
		0, 0);
}

void tux_api_beckon(struct tux *t)
{
	struct tux_poll x = { .w = &t->w };

	tux_poll_prepare_sleep(&x);
	tux_wake_kick(t->w.fd);
	t->asleep = true;
}

void tux_api_awake(struct tux *t)
{
	if (t->asleep)
		tux_api_finish_sleep(t, TUX_API_WOKEN);
	else if (t->awake)
		tux_wake_clear(t->w.fd);
	t->asleep = t->awake = false;
}
