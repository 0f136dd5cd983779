/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/unclaim.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "loop/recall.h"
#include "sock/candidate.h"
#include "sock/fd.h"
#include "sock/holders.h"
#include "sock/leave.h"
#include "sock/observer.h"
#include "sock/option.h"
#include "sock/share.h"
#include "sock/stage.h"
#include "sys/carried.h"
#include "sys/clock.h"
#include "sys/sys.h"
#include "sys/take.h"

enum {
	PAUSE_S = 10,
	PAUSE_MAX_S = 320,
	LATCH_MS = 1,		/* a thread may be in the middle of a call */
	LEAVE_MS = 100,		/* for the loop to let go of the socket */
	AWAKE_S = 1,		/* for the peer's next attempt to move */
	LATER_MS = 1,		/* between two attempts to sleep */
};

static const struct tux_backoff_rule pausing = {
	.min = TUX_SEC(PAUSE_S), .max = TUX_SEC(PAUSE_MAX_S), .calm = TUX_NEVER,
};

static bool unclaim_take(struct tux_duplex *dx)
{
	if (!tux_latch_take_within(&dx->tx.latch, TUX_MSEC(LATCH_MS)))
		return false;
	if (tux_latch_take_within(&dx->rx.latch, TUX_MSEC(LATCH_MS)))
		return true;
	tux_latch_drop(&dx->tx.latch);
	return false;
}

static void unclaim_drop(struct tux_duplex *dx)
{
	tux_latch_drop(&dx->rx.latch);
	tux_latch_drop(&dx->tx.latch);
}

/* From now on TCP has all bytes that come and go, and no thread is inside: as
 * tux_duplex_pin(). */
static int unclaim_pin(struct tux_duplex *dx)
{
	int r;

	if (!unclaim_take(dx))
		return -EBUSY;
	r = tux_duplex_pin(dx);
	unclaim_drop(dx);
	return r;
}

/* As unclaim_pin(), until unclaim_wake(); and the bytes are counted from here
 * on.  -EAGAIN: a later attempt may succeed. */
static int unclaim_sleep(struct sock *s, int fd)
{
	struct tux_duplex *dx = s->dx;
	struct tux_carried c;
	int r;

	if (!unclaim_take(dx))
		return -EAGAIN;
	r = tux_duplex_sleep(dx);
	if (!r) {
		r = tux_carried_look(fd, s->active, &c);
		if (r)
			tux_duplex_wake(dx, NULL, NULL);
		else
			tux_candidate_again(&s->candidate, &dx->tx.bursts,
					    &dx->rx.bursts, c.sent, c.received);
	}
	unclaim_drop(dx);
	return r == -EBUSY ? -EAGAIN : r;
}

bool unclaim_slept(struct sock *s, const struct tux_carried *c)
{
	if (!s->spawned && !holders_several(s->holders))
		return false;
	tux_candidate_again(&s->candidate, &s->dx->tx.bursts,
			    &s->dx->rx.bursts, c->sent, c->received);
	atomic_store(&s->shared, true);
	atomic_store(&s->slept, true);
	unclaim_ask(s);
	return true;
}

/* The loop has done it, and other processes may have moved bytes since.  This one's are
 * counted in the duplex until now. */
static int unclaim_sleep_on(struct sock *s)
{
	struct tux_duplex *dx = s->dx;

	if (!unclaim_take(dx))
		return -EAGAIN;
	if (!tux_duplex_sleeps(dx)) {
		unclaim_drop(dx);
		return -EPERM;
	}
	tux_burst_copy(&s->candidate.sent, &dx->tx.bursts);
	tux_burst_copy(&s->candidate.received, &dx->rx.bursts);
	atomic_store(&s->slept, false);
	unclaim_drop(dx);
	return 0;
}

/* Does the kernel know all that the program has done with @s? */
static bool unclaim_allowed(struct sock *s)
{
	return !s->rdshut && !s->err && !atomic_load(&s->dx->tx.shut) &&
	       !atomic_load(&s->dx->err) && (s->slept || share_unforked(s));
}

static void unclaim_as_tcp(struct sock *s, int fd, enum tux_reason why)
{
	s->why = (uint8_t)why;
	s->path = 0;
	option_give(s, fd);
	sock_unmoves(s);
	if (!stage_try(s, SOCK_CLAIMING, SOCK_TCP))
		return;
	observer_moved(s, fd);
	leave_calls(s);
}

/* Its bytes are counted from here on. */
static void unclaim_as_candidate(struct sock *s, int fd)
{
	tux_time now = tux_clock_read();

	s->pause_until = now + tux_backoff_again(&s->pause, &pausing, now);
	s->why = s->decided;
	s->path = 0;
	option_give(s, fd);
	sock_unmoves(s);
	if (stage_try(s, SOCK_CLAIMING, SOCK_CANDIDATE))
		observer_moved(s, fd);
}

/* @s keeps its end. */
static void unclaim_asleep(struct sock *s, int fd)
{
	s->asleep = true;
	s->path = 0;
	sock_unmoves(s);
	if (stage_try(s, SOCK_CLAIMING, SOCK_CANDIDATE))
		observer_moved(s, fd);
}

/* A thread that looked at the connection meanwhile was told nothing of it: it
 * is told to look again. */
static void unclaim_not(struct sock *s, int fd)
{
	if (stage_try(s, SOCK_CLAIMING, SOCK_CLAIMED))
		observer_moved(s, fd);
}

/* A later call tries again: what has returned may have bytes on the ring yet,
 * or a thread inside. */
static void unclaim_later(struct sock *s, int fd)
{
	s->awake_until = tux_clock_read() + TUX_MSEC(LATER_MS);
	unclaim_ask(s);
	unclaim_not(s, fd);
}

/* Is all of @s on TCP, as the loop has told?  If a direction has moved again,
 * the loop will tell again.  For a while after it woke, @s does not sleep, so
 * that the peer can move its direction. */
static bool unclaim_due(struct sock *s)
{
	const struct tux_duplex *dx = s->dx;
	bool awake = s->awake_until && tux_clock_read() < s->awake_until;
	uint8_t tx, rx;

	atomic_store(&s->given_up, false);
	if (!awake && tux_duplex_is_plain(dx))
		return true;
	tx = atomic_load(&dx->tx.state);
	rx = atomic_load(&dx->rx.state);
	if (tx < TUX_TX_SWITCHED && rx < TUX_RX_SWITCHED)
		unclaim_ask(s);
	return false;
}

/* @s is CLAIMING and keeps its end.  unclaim_allowed() fails after a fork, unless the
 * loop has pinned it: other processes may move bytes that nobody counts. */
static void unclaim_returned(struct sock *s, int fd)
{
	int r = !unclaim_allowed(s) ? -EPERM :
		s->slept ? unclaim_sleep_on(s) : unclaim_sleep(s, fd);

	if (!r)
		unclaim_asleep(s, fd);
	else if (r == -EAGAIN)
		unclaim_later(s, fd);
	else
		unclaim_not(s, fd);
}

/* @s is CLAIMING, and its end is over. */
static void unclaim_given_up(struct sock *s, int fd)
{
	enum tux_reason why = (enum tux_reason)atomic_load(&s->decided);

	if (unclaim_pin(s->dx)) {
		unclaim_later(s, fd);
		return;
	}
	atomic_store(&s->given_up, false);
	holders_set_plain(s->holders);
	if (!unclaim_allowed(s))
		unclaim_not(s, fd);
	else if (tux_reason_lasts(why))
		unclaim_as_tcp(s, fd, why);
	else if (candidate_begin(s, fd))
		unclaim_as_candidate(s, fd);
	else
		unclaim_not(s, fd);
}

void unclaim_try(struct sock *s, int fd)
{
	bool stays = !tux_end_over(s->end);

	if (process_is_vfork() || (stays && !unclaim_due(s)) ||
	    !stage_try(s, SOCK_CLAIMED, SOCK_CLAIMING))
		return;
	if (stays)
		unclaim_returned(s, fd);
	else
		unclaim_given_up(s, fd);
}

/* The duplex learns what the kernel has moved. */
static bool unclaim_count(struct sock *s)
{
	struct tux_duplex *dx = s->dx;
	bool ok;

	tux_latch_take(&dx->tx.latch);
	tux_latch_take(&dx->rx.latch);
	tux_recall_anew(s->end);
	ok = tux_duplex_wake(dx, &s->candidate.sent, &s->candidate.received);
	unclaim_drop(dx);
	return ok;
}

bool unclaim_wake(struct sock *s)
{
	struct tux_duplex *dx = s->dx;

	if (tux_end_over(s->end) || atomic_load(&dx->tx.shut) ||
	    atomic_load(&dx->err) || !unclaim_count(s))
		return false;
	s->asleep = false;
	s->awake_until = tux_clock_read() + TUX_SEC(AWAKE_S);
	sock_moves(s);
	tux_end_ring(s->end, TUX_DOORBELL_WOKE, false);
	return true;
}

bool unclaim_sleeps(const struct sock *s)
{
	return s->asleep && s->epoch == process_here.epoch;
}

void unclaim_doze(struct sock *s)
{
	if (unclaim_sleeps(s))
		atomic_store(&s->dx->called, 0);
}

/* Waits until the loop has closed its copy of the descriptor, which would keep
 * the kernel's items of epoll alive.  A loop whose thread does not run for
 * LEAVE_MS closes it later. */
static void unclaim_part(struct sock *s)
{
	tux_time until = tux_clock_read() + TUX_MSEC(LEAVE_MS);

	while (!tux_end_has_left(s->end) && tux_clock_read() < until)
		tux_end_pause(s->end, until);
}

void unclaim_leave(struct sock *s)
{
	if (unclaim_sleeps(s))
		unclaim_part(s);
	s->asleep = false;
}

/* connect(AF_UNSPEC) drops what lies in TCP: it may be a marker or frames. */
void unclaim_reset(struct sock *s, int fd)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	if (s->epoch != process_here.epoch ||
	    !stage_try(s, SOCK_CLAIMED, SOCK_CLAIMING))
		return;
	unclaim_part(s);
	tux_end_close(s->end, true);
	libc.connect(fd, &none, sizeof(none));
	unclaim_as_tcp(s, fd, TUX_REASON_CLOSED);
}

bool unclaim_close(struct sock *s, int fd, bool goes_on)
{
	/* The peer need not try to move its direction any more. */
	if (goes_on && unclaim_sleeps(s))
		tux_end_ask_raw(s->end, TUX_REASON_SHARED, false);
	/* What other processes have moved was not adopted: the end does not wake. */
	if (goes_on || s->shared || !unclaim_sleeps(s)) {
		unclaim_leave(s);
		return false;
	}
	option_load(s, fd);
	unclaim_count(s);
	s->asleep = false;
	return true;
}

/* A parent that has been killed, or is stopped, will not tell the peer that the
 * connection has ended: a reset does.  Another thread may have closed @fd. */
static void unclaim_lost(struct sock *s, int fd, int err)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	if (stage_try(s, SOCK_CLAIMING, SOCK_LOST) && err != -EBUSY &&
	    fd_peek(fd) == s)
		TUX_SYS(SYS_connect, fd, &none, sizeof(none), 0, 0, 0);
}

/* The place of the end in the table may be another's by now, and is then refused. */
int unclaim_recall(struct sock *s)
{
	bool counted = process_here.epoch;
	int err = 0;

	if (!counted)
		tux_recall_uncounted(s->end);
	if (!counted || !holders_are_plain(s->holders))
		err = tux_recall(s->end);
	return err && holders_are_plain(s->holders) ? 0 : err;
}

void unclaim_inherited(struct sock *s, int fd)
{
	int err;

	if (!stage_try(s, SOCK_CLAIMED, SOCK_CLAIMING))
		return;
	err = unclaim_recall(s);
	if (!err)
		leave_for(s, TUX_REASON_SHARED);
	else
		unclaim_lost(s, fd, err);
}

/* In a child, the end is the parent's. */
bool unclaim_free_end(struct sock *s)
{
	if (s->asleep)
		return true;
	if (s->end && s->epoch == process_here.epoch) {
		if (atomic_load(&s->fds) != 1 || atomic_load(&s->refs) != 2)
			return false;
		tux_end_free(s->end);
	}
	s->end = NULL;
	s->dx = NULL;
	return true;
}
