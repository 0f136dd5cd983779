/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/rest.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/candidate.h"
#include "sock/fd.h"
#include "sock/leave.h"
#include "sock/observer.h"
#include "sock/option.h"
#include "sock/share.h"
#include "sock/stage.h"
#include "sys/carried.h"
#include "sys/clock.h"
#include "sys/take.h"

enum {
	REST_S = 10,
	REST_MAX_S = 320,
	LATCH_TRIES = 1000,	/* a thread may be in the middle of a call */
	LEAVE_MS = 100,		/* for the loop to let go of the socket */
	AWAKE_S = 1,		/* for the peer's next attempt to move */
	LATER_MS = 1,		/* between two attempts to sleep */
	DISARM_MS = 200,	/* for the peer's answer */
};

static const struct tux_backoff_rule resting = {
	.min = TUX_SEC(REST_S), .max = TUX_SEC(REST_MAX_S), .calm = TUX_NEVER,
};

static bool rest_take(struct tux_duplex *dx)
{
	if (!tux_latch_take_within(&dx->tx.latch, LATCH_TRIES))
		return false;
	if (tux_latch_take_within(&dx->rx.latch, LATCH_TRIES))
		return true;
	tux_latch_drop(&dx->tx.latch);
	return false;
}

static void rest_drop(struct tux_duplex *dx)
{
	tux_latch_drop(&dx->rx.latch);
	tux_latch_drop(&dx->tx.latch);
}

/* From now on TCP has all bytes that come and go, and no thread is inside: as
 * tux_duplex_pin(). */
static int rest_pin(struct tux_duplex *dx)
{
	int r;

	if (!rest_take(dx))
		return -EBUSY;
	r = tux_duplex_pin(dx);
	rest_drop(dx);
	return r;
}

/* As rest_pin(), until rest_wake(); and the bytes are counted from here on.
 * -EAGAIN: a later attempt may succeed. */
static int rest_sleep(struct sock *s, int fd)
{
	struct tux_duplex *dx = s->dx;
	struct tux_carried c;
	int r;

	if (!rest_take(dx))
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
	rest_drop(dx);
	return r == -EBUSY ? -EAGAIN : r;
}

/* Does the kernel know all that the program has done with @s? */
static bool rest_allowed(struct sock *s)
{
	return !s->rdshut && !s->err && !atomic_load(&s->dx->tx.shut) &&
	       !atomic_load(&s->dx->err) && share_unforked(s);
}

static void rest_as_tcp(struct sock *s, int fd, enum tux_reason why)
{
	s->why = (uint8_t)why;
	s->path = 0;
	sock_unmoves(s);
	if (!stage_try(s, SOCK_CLAIMING, SOCK_TCP))
		return;
	observer_moved(s, fd);
	leave_calls(s);
}

/* Its bytes are counted from here on. */
static void rest_as_candidate(struct sock *s, int fd)
{
	tux_time now = tux_clock_read();

	s->rest_until = now + tux_backoff_again(&s->rest, &resting, now);
	s->path = 0;
	sock_unmoves(s);
	if (stage_try(s, SOCK_CLAIMING, SOCK_CANDIDATE))
		observer_moved(s, fd);
}

/* @s keeps its end. */
static void rest_asleep(struct sock *s, int fd)
{
	s->asleep = true;
	s->path = 0;
	sock_unmoves(s);
	if (stage_try(s, SOCK_CLAIMING, SOCK_CANDIDATE))
		observer_moved(s, fd);
}

/* A thread that looked at the connection meanwhile was told nothing of it: it
 * is told to look again. */
static void rest_not(struct sock *s, int fd)
{
	if (stage_try(s, SOCK_CLAIMING, SOCK_CLAIMED))
		observer_moved(s, fd);
}

/* A later call tries again: what has returned may have bytes on the ring yet,
 * or a thread inside. */
static void rest_later(struct sock *s, int fd)
{
	s->awake_until = tux_clock_read() + TUX_MSEC(LATER_MS);
	rest_told(s);
	rest_not(s, fd);
}

/* Is all of @s on TCP, as the loop has told?  If a direction has moved again,
 * the loop will tell again.  For a while after it woke, @s does not sleep, so
 * that the peer can move its direction. */
static bool rest_due(struct sock *s)
{
	const struct tux_duplex *dx = s->dx;
	bool awake = s->awake_until && tux_clock_read() < s->awake_until;
	uint8_t tx, rx;

	atomic_store(&s->rests, false);
	if (!awake && tux_duplex_is_plain(dx))
		return true;
	tx = atomic_load(&dx->tx.state);
	rx = atomic_load(&dx->rx.state);
	if (tx < TUX_TX_SWITCHED && rx < TUX_RX_SWITCHED)
		rest_told(s);
	return false;
}

/* @s is CLAIMING and keeps its end.  rest_allowed() comes first: it fails after
 * a fork, and rest_sleep() could undo pins that a child has made. */
static void rest_returned(struct sock *s, int fd)
{
	int r = rest_allowed(s) ? rest_sleep(s, fd) : -EPERM;

	if (!r)
		rest_asleep(s, fd);
	else if (r == -EAGAIN)
		rest_later(s, fd);
	else
		rest_not(s, fd);
}

/* @s is CLAIMING, and its end is over. */
static void rest_given_up(struct sock *s, int fd)
{
	enum tux_reason why = (enum tux_reason)atomic_load(&s->decided);

	if (rest_pin(s->dx)) {
		rest_later(s, fd);
		return;
	}
	atomic_store(&s->rests, false);
	if (!rest_allowed(s))
		rest_not(s, fd);
	else if (tux_reason_lasts(why))
		rest_as_tcp(s, fd, why);
	else if (candidate_begin(s, fd))
		rest_as_candidate(s, fd);
	else
		rest_not(s, fd);
}

void rest_begin(struct sock *s, int fd)
{
	bool stays = !tux_end_over(s->end);

	if (process_is_vfork() || (stays && !rest_due(s)) ||
	    !stage_try(s, SOCK_CLAIMED, SOCK_CLAIMING))
		return;
	if (stays)
		rest_returned(s, fd);
	else
		rest_given_up(s, fd);
}

/* The duplex learns what the kernel has moved. */
static bool rest_count(struct sock *s)
{
	struct tux_duplex *dx = s->dx;
	bool ok;

	tux_latch_take(&dx->tx.latch);
	tux_latch_take(&dx->rx.latch);
	ok = tux_duplex_wake(dx, &s->candidate.sent, &s->candidate.received);
	rest_drop(dx);
	return ok;
}

bool rest_wake(struct sock *s)
{
	struct tux_duplex *dx = s->dx;

	if (tux_end_over(s->end) || atomic_load(&dx->tx.shut) ||
	    atomic_load(&dx->err) || !rest_count(s))
		return false;
	s->asleep = false;
	s->awake_until = tux_clock_read() + TUX_SEC(AWAKE_S);
	sock_moves(s);
	tux_end_ring(s->end, TUX_DOORBELL_WOKE, false);
	return true;
}

bool rest_has_end(const struct sock *s)
{
	return s->asleep && s->epoch == process_epoch;
}

void rest_doze(struct sock *s)
{
	if (rest_has_end(s))
		atomic_store(&s->dx->called, 0);
}

/* Waits until the loop has closed its copy of the descriptor, which would keep
 * the kernel's items of epoll alive.  A loop whose thread does not run for
 * LEAVE_MS closes it later. */
static void rest_part(struct sock *s)
{
	tux_time until = tux_clock_read() + TUX_MSEC(LEAVE_MS);

	while (!tux_end_has_left(s->end) && tux_clock_read() < until)
		tux_end_pause(s->end, until);
}

void rest_leave(struct sock *s)
{
	if (rest_has_end(s))
		rest_part(s);
	s->asleep = false;
}

/* connect(AF_UNSPEC) drops what lies in TCP: it may be a marker or frames. */
void rest_reset(struct sock *s, int fd)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	if (s->epoch != process_epoch ||
	    !stage_try(s, SOCK_CLAIMED, SOCK_CLAIMING))
		return;
	rest_part(s);
	tux_end_close(s->end, true);
	libc.connect(fd, &none, sizeof(none));
	rest_as_tcp(s, fd, TUX_REASON_CLOSED);
}

bool rest_close(struct sock *s, int fd, bool goes_on)
{
	if (goes_on || !rest_has_end(s)) {
		rest_leave(s);
		return false;
	}
	option_load(s, fd);
	rest_count(s);
	s->asleep = false;
	return true;
}

static bool pin_shared(struct tux_duplex *dx)
{
	int r = rest_pin(dx);

	for (int i = 0; r == -EAGAIN && i < DISARM_MS; i++) {
		libc.poll(NULL, 0, 1);
		r = rest_pin(dx);
	}
	return !r;
}

void rest_inherited(struct sock *s)
{
	if (!stage_try(s, SOCK_CLAIMED, SOCK_CLAIMING))
		return;
	if (pin_shared(s->dx))
		leave_for(s, TUX_REASON_NOT_OWNER);
	else
		stage_try(s, SOCK_CLAIMING, SOCK_LOST);
}

/* In a child, the end is the parent's. */
bool rest_end(struct sock *s)
{
	if (s->asleep)
		return true;
	if (s->end && s->epoch == process_epoch) {
		if (atomic_load(&s->fds) != 1 || atomic_load(&s->refs) != 2)
			return false;
		tux_end_free(s->end);
	}
	s->end = NULL;
	s->dx = NULL;
	return true;
}
