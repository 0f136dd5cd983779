/* SPDX-License-Identifier: BSD-2-Clause */
#include "rest.h"

#include "candidate.h"
#include "claim.h"
#include "fd.h"
#include "fork.h"
#include "hooks.h"
#include "share.h"
#include "sys/take.h"
#include "wait.h"

enum {
	REST_S = 10,
	REST_MAX_S = 320,
	LATCH_TRIES = 1000,	/* a thread may be in the middle of a call */
};

static const struct tux_backoff_rule resting = {
	.min = TUX_SEC(REST_S), .max = TUX_SEC(REST_MAX_S), .calm = TUX_NEVER,
};

/* From now on TCP has all bytes that come and go, and no thread is inside. */
static bool rest_pin(struct tux_duplex *dx)
{
	bool ok = false;

	if (!tux_latch_take_within(&dx->tx.latch, LATCH_TRIES))
		return false;
	if (tux_latch_take_within(&dx->rx.latch, LATCH_TRIES)) {
		ok = !tux_duplex_pin(dx);
		tux_latch_drop(&dx->rx.latch);
	}
	tux_latch_drop(&dx->tx.latch);
	return ok;
}

/* Does the kernel know all that the program has done with @s? */
static bool rest_allowed(struct sock *s)
{
	return !s->rdshut && !s->err && !atomic_load(&s->dx->tx.shut) &&
	       !atomic_load(&s->dx->err) && share_unforked(s);
}

/* @s is CLAIMING, by this thread.  False: it has been closed. */
static bool rest_as(struct sock *s, enum sock_stage to)
{
	uint8_t from = SOCK_CLAIMING;

	return atomic_compare_exchange_strong(&s->stage, &from, (uint8_t)to);
}

static void rest_as_tcp(struct sock *s, int fd, enum tux_reason why)
{
	s->why = (uint8_t)why;
	s->path = 0;
	fd_unmoves(s);
	if (!rest_as(s, SOCK_TCP))
		return;
	epoll_rested_fd(fd, s);
	claim_left(s);
}

/* Its bytes are counted from here on. */
static void rest_as_candidate(struct sock *s, int fd)
{
	tux_time now = wait_now();

	s->rest_until = now + tux_backoff_again(&s->rest, &resting, now);
	tux_candidate_wait(&s->candidate);
	s->path = 0;
	fd_unmoves(s);
	if (rest_as(s, SOCK_CANDIDATE))
		epoll_rested_fd(fd, s);
}

/* A thread that looked at the connection meanwhile was told nothing of it: it is
 * told to look again. */
static void rest_not(struct sock *s, int fd)
{
	if (rest_as(s, SOCK_CLAIMED))
		epoll_claimed_fd(fd, s);
}

void rest_begin(struct sock *s, int fd)
{
	enum tux_reason why = (enum tux_reason)atomic_load(&s->decided);
	uint8_t from = SOCK_CLAIMED;

	if (fork_is_vfork() ||
	    !atomic_compare_exchange_strong(&s->stage, &from, SOCK_CLAIMING))
		return;
	if (!rest_pin(s->dx)) {		/* a later call may */
		rest_not(s, fd);
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

/* The end of the last claim may go once no other thread holds @s, which could be in
 * a call with it.  In a child, it is the parent's. */
static bool rest_clear(struct sock *s)
{
	if (s->end && s->epoch == fork_epoch) {
		if (atomic_load(&s->fds) != 1 || atomic_load(&s->refs) != 2)
			return false;
		tux_end_free(s->end);
	}
	s->end = NULL;
	s->dx = NULL;
	return true;
}

bool rest_end(struct sock *s)
{
	if (!s->rest_until ||
	    (wait_now() >= s->rest_until && rest_clear(s)))
		return true;
	tux_candidate_wait(&s->candidate);
	return false;
}
