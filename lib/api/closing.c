/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a connection ends: somebody asks for it, or it breaks.  Either way its
 * task tells what has come, closes, and tells gone; the loop sees to the rest.
 */
#include "api/closing.h"

#include <errno.h>

#include "api/connection.h"
#include "api/stream.h"
#include "api/tell.h"
#include "api/wake.h"
#include "stack/post.h"
#include "sys/clock.h"
#include "sys/sys.h"
#include "sys/take.h"

enum {
	SETTLE_MS = 5000,	/* for messages, as tux.h says */
	SHUTDOWN_MS = 800,	/* by tux_close(), which takes a second */
};

/* ---- the end of it ---- */

/* Nobody uses the descriptor any more when both latches have been had. */
static void closing_mark_closed(struct tux_connection *c)
{
	struct tux_latch *rx = tux_api_rx(c), *tx = tux_api_tx(c);

	tux_latch_take(rx);
	tux_latch_take(tx);
	atomic_store(&c->closed, 1);
	tux_latch_drop(tx);
	tux_latch_drop(rx);
}

static void close_tcp(struct tux_connection *c, bool abort, bool keep)
{
	const struct linger now = { .l_onoff = 1, .l_linger = 0 };

	/* The loop's duplicate would keep it in there. */
	tux_sys_epoll_ctl(c->t->epfd, EPOLL_CTL_DEL, c->fd, NULL);
	/* Unread bytes would make a reset of the close. */
	if (!abort)
		tux_api_discard(c);
	closing_mark_closed(c);
	if (abort)
		tux_sys_setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now,
				   sizeof(now));
	if (keep && c->end)
		tux_end_keep_fd(c->end);
	if (c->end)
		tux_end_close(c->end, abort);
	else if (!keep)
		tux_sys_close(c->fd);
	if (!keep)
		c->fd = -1;
}

/* It broke, and the program may not know: as long as it has a reference, the
 * number must not be another file's. */
static bool keeps_fd(const struct tux_connection *c)
{
	return !atomic_load(&c->asked) && atomic_load(&c->refs) > 1;
}

static void closing_stop(struct tux_connection *c)
{
	tux_list_remove(&c->closing);
	atomic_store(&c->stage, TUX_STAGE_CLOSING);
	/* Gone may wait for a thread that waits here. */
	tux_api_wake(c);
}

static void closing_forget(struct tux_connection *c)
{
	if (atomic_exchange(&c->tux, 0))
		atomic_fetch_sub(&c->t->on_tux_now, 1);
	c->t->connections_now--;
	atomic_store(&c->stage, TUX_STAGE_GONE);
	atomic_fetch_sub(&c->refs, 1);
	tux_api_raise_here(c, c->end ? TUX_EVENT_PUT : TUX_EVENT_OVER);
}

static void closing_finish(struct tux_connection *c, bool abort, int err)
{
	closing_stop(c);
	close_tcp(c, abort, keeps_fd(c));
	tux_api_give_up(c, err);
	tux_api_tell_gone(c, err);
	closing_forget(c);
}

int tux_api_hand_out(struct tux_connection *c)
{
	int fd = c->fd;

	/* The callback that asks for it is the last one. */
	atomic_fetch_or(&c->asked, TUX_ASK_DISCONNECT);
	closing_stop(c);
	tux_sys_epoll_ctl(c->t->epfd, EPOLL_CTL_DEL, fd, NULL);
	closing_mark_closed(c);
	tux_sys_fcntl(fd, F_SETFL, tux_sys_fcntl(fd, F_GETFL, 0) | O_NONBLOCK);
	c->fd = -1;
	closing_forget(c);
	return fd;
}

/* ---- the way there ---- */

static void closing_begin(struct tux_connection *c)
{
	bool quick = atomic_load(&c->asked) & TUX_ASK_SHUTDOWN;

	c->closing_at = tux_clock_read() +
			TUX_MSEC(quick ? SHUTDOWN_MS : SETTLE_MS);
	atomic_store(&c->stage, TUX_STAGE_CLOSING);
	tux_list_push(&c->t->closing, &c->closing);
}

/* tux_close() waits no longer than it says. */
static void hurry(struct tux_connection *c)
{
	tux_time by = tux_clock_read() + TUX_MSEC(SHUTDOWN_MS);

	c->closing_at = tux_time_min(c->closing_at, by);
}

static void release_all(struct tux_connection *c)
{
	struct tux_msg m[TUX_GROUP];
	unsigned n;

	while ((n = tux_post_take(c->end, m, TUX_GROUP)))
		tux_post_release(c->end, m, n);
}

/* Messages that wait for a path wait for a peer that reads, and for us to. */
static void closing_go_on(struct tux_connection *c)
{
	uint32_t asked, err;
	bool settled = true;

	if (c->messages) {
		tux_api_settle(c);
		release_all(c);
		tux_api_discard(c);
		settled = tux_post_idle(c->end);
	}
	/* A callback may have asked for more. */
	asked = atomic_load(&c->asked);
	err = atomic_load(&c->err);
	if (asked & TUX_ASK_SHUTDOWN)
		hurry(c);
	if (asked & TUX_ASK_ABORT)
		closing_finish(c, true, err ? (int)err : ECONNABORTED);
	else if (err)
		closing_finish(c, false, (int)err);
	else if (settled)
		closing_finish(c, false,
			       asked & TUX_ASK_DISCONNECT ? 0 : ESHUTDOWN);
	else if (tux_clock_read() >= c->closing_at)
		closing_finish(c, false, ETIMEDOUT);
}

/* It broke: what has come is told before. */
static void go_broken(struct tux_connection *c)
{
	/* A callback that has asked to be called again has not seen all. */
	if (!c->err_read && atomic_load(&c->events) & TUX_EVENT_AGAIN)
		return;
	/* Nor has one that is watched, unless it has looked and read nothing. */
	if (!c->err_read && c->unread && (c->took || !c->looked) &&
	    tux_api_hears(c))
		return;
	if (c->messages && tux_post_any(c->end))
		tux_api_raise_here(c, TUX_EVENT_READY);
	else if (tux_api_hears(c) && !c->err_told)
		tux_api_raise_here(c, TUX_EVENT_AGAIN);
	else
		closing_finish(c, false, (int)atomic_load(&c->err));
}

static void go_unconnected(struct tux_connection *c)
{
	uint32_t asked = atomic_load(&c->asked), err = atomic_load(&c->err);

	if (!asked && !err)
		return;
	closing_finish(c, false, asked & TUX_ASK_ABORT ? ECONNABORTED :
			 asked & TUX_ASK_DISCONNECT ? 0 :
			 asked ? ESHUTDOWN : (int)err);
}

void tux_api_ending(struct tux_connection *c)
{
	switch (atomic_load(&c->stage)) {
	case TUX_STAGE_CONNECTING:
		go_unconnected(c);
		break;
	case TUX_STAGE_OPEN:
		if (atomic_load(&c->asked)) {
			closing_begin(c);
			closing_go_on(c);
		} else if (atomic_load(&c->err)) {
			go_broken(c);
		}
		break;
	case TUX_STAGE_CLOSING:
		closing_go_on(c);
		break;
	}
}

void tux_api_expire(struct tux *t)
{
	struct tux_list *n, *m;

	TUX_LIST_EACH_SAFE(n, m, &t->closing) {
		struct tux_connection *c =
			TUX_CONTAINER(n, struct tux_connection, closing);

		if (c->closing_at > t->now)
			continue;
		/* Its task looks at the clock itself, when it can. */
		tux_list_remove(n);
		tux_api_raise_here(c, TUX_EVENT_END);
	}
}
