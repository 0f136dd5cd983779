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

#include "api/serve.h"
#include "api/turn.h"
#include "api/wait.h"
#include "stack/driver.h"
#include "stack/poll.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"

static int embed_watch(struct tux *t, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	return tux_sys_epoll_ctl(t->fd, EPOLL_CTL_ADD, fd, &e);
}

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
	err = embed_watch(t, t->epfd);
	if (!err)
		err = embed_watch(t, t->w.fd);
	if (!err)
		err = embed_watch(t, t->timer_fd);
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

static void set_timer(struct tux *t, tux_time at)
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

/* The link opens and closes sockets as interfaces come and go. */
static void watch_loop(struct tux *t)
{
	struct pollfd p[TUX_LOOP_FDS];
	unsigned i, n = tux_loop_fds(t->l, p);

	for (i = 0; i < n && i < t->watched_n; i++)
		if (p[i].fd != t->watched[i])
			break;
	if (i == n && n == t->watched_n)
		return;
	while (t->watched_n > i)
		tux_sys_epoll_ctl(t->fd, EPOLL_CTL_DEL,
				  t->watched[--t->watched_n], NULL);
	for (; i < n; i++)
		if (!embed_watch(t, p[i].fd))
			t->watched[t->watched_n++] = p[i].fd;
}

/* From here to wake_up() a ring makes t->fd readable. */
static void lie_down(struct tux *t)
{
	tux_time at;
	bool quiet;

	if (t->l && !t->acquired)
		t->acquired = tux_driver_acquire(t->d);
	if (t->acquired)
		watch_loop(t);
	at = tux_api_deadline(t);
	quiet = tux_api_prepare_sleep(t);
	if (!quiet || at <= t->now)
		tux_wake_kick(t->w.fd);
	else
		set_timer(t, at);
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
		set_timer(t, TUX_NEVER);
}

static void stay_awake(struct tux *t)
{
	if (!t->awake)
		tux_wake_kick(t->w.fd);
	t->awake = true;
}

int tux_turn(struct tux *t)
{
	int err = tux_api_begin(t);
	unsigned n;

	if (err)
		return err;
	tux_api_run_others(t);
	if (atomic_load(&t->halted))
		tux_api_wait_halt(t, false);
	wake_up(t);
	n = tux_api_turn(t);
	if (tux_api_goes_on(t, n > 0)) {
		stay_awake(t);
	} else {
		tux_api_awake(t);
		lie_down(t);
	}
	tux_api_end(t);
	return (int)n;
}
