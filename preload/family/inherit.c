/* SPDX-License-Identifier: BSD-2-Clause */
#include "family/inherit.h"

#include <errno.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/claim.h"
#include "sock/fd.h"
#include "sock/holders.h"
#include "sock/pass.h"
#include "sock/share.h"
#include "sock/stage.h"
#include "sys/defer.h"
#include "sys/take.h"

static struct tux_latch walk_latch;	/* one walk at a time; sock->fork_n */

/* In a child, of what the parent has claimed: whoever looks at the duplex before the
 * connection is asked for finds that it has nothing. */
static struct tux_duplex inherit_nothing;

/* ---- fork ------------------------------------------------------------- */

/* Counts the child, which gets @s, reached by @fd, among its holders: a candidate is not
 * claimed as long as there are several, and one that is claimed goes back to TCP when
 * this process closes it.  Others need no count, but go on with theirs. */
static void inherit_count(struct sock *s, int fd)
{
	bool candidate = stage_hold(s);

	if (!s->holders && (candidate || stage_of(s) == SOCK_CLAIMED))
		s->holders = holders_new();
	holders_add(s->holders);
	if (candidate && s->holders)
		stage_try(s, SOCK_CLAIMING, SOCK_CANDIDATE);
	else if (candidate)
		claim_refuse_at(s, fd, TUX_REASON_SHARED);
}

/* Once for each sock, however many descriptors it has. */
static void inherit_count_once(struct sock *s, int fd, void *arg)
{
	const uint32_t *n = arg;

	if (s->fork_n == *n)
		return;
	s->fork_n = *n;
	inherit_count(s, fd);
}

uint32_t inherit_prepare(void)
{
	int saved = errno;
	uint32_t n;

	share_fork_begins();
	tux_defer_enter();
	tux_latch_take(&walk_latch);
	n = share_fork_walks();
	fd_each(inherit_count_once, &n);
	tux_latch_drop(&walk_latch);
	tux_defer_leave();
	errno = saved;
	return n;
}

static void inherit_uncount(struct sock *s, int fd, void *arg)
{
	const uint32_t *n = arg;

	(void)fd;
	if (s->fork_n != *n)
		return;
	s->fork_n = 0;
	holders_leave(s->holders);
}

/* A sock that another fork has counted since stays counted: it may have to
 * stay on TCP, and loses no byte. */
void inherit_failed(uint32_t n)
{
	int saved = errno;

	tux_defer_enter();
	tux_latch_take(&walk_latch);
	fd_each(inherit_uncount, &n);
	tux_latch_drop(&walk_latch);
	tux_defer_leave();
	errno = saved;
}

/* The thread that was about to claim one does not exist here. */
void inherit_in_child(void)
{
	share_forked();
	tux_latch_drop(&walk_latch);
	for (int fd = 0; fd < fd_top(); fd++) {
		struct sock *s = fd_peek(fd);

		if (s && s->dx)
			s->dx = &inherit_nothing;
		if (!s || stage_of(s) != SOCK_CLAIMING)
			continue;
		/* It may have been about to go back: its directions are pinned as
		 * those of a claimed one. */
		if (s->end && !s->asleep && !tux_end_over(s->end))
			stage_try(s, SOCK_CLAIMING, SOCK_CLAIMED);
		else
			claim_refuse(s, TUX_REASON_SHARED);
	}
}

/* ---- exec ------------------------------------------------------------- */

static bool inherit_closes(int fd)
{
	return libc.fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

/* Is every descriptor of @s, of which @fd is one, closed by exec? */
static bool inherit_closes_all(const struct sock *s, int fd)
{
	if (atomic_load(&s->fds) == 1)
		return inherit_closes(fd);
	for (int i = 0; i < fd_top(); i++)
		if (fd_peek(i) == s && !inherit_closes(i))
			return false;
	return true;
}

/* The stage LOST keeps calls of this process off candidate @s until exec has failed:
 * another holder may claim @s at once.  False: a thread is in a call with @s. */
static bool inherit_lose(struct sock *s)
{
	if (!stage_try(s, SOCK_CANDIDATE, SOCK_LOST))
		return false;
	sock_moves(s);
	if (atomic_load(&s->refs) < SOCK_PASSING)
		return true;
	stage_try(s, SOCK_LOST, SOCK_CANDIDATE);
	return false;
}

static void inherit_give(struct sock *s, int fd, void *arg)
{
	bool candidate = stage_of(s) == SOCK_CANDIDATE;

	(void)arg;
	if (!s->holders || !inherit_closes_all(s, fd) ||
	    (candidate && !inherit_lose(s)))
		return;
	s->given_candidate = candidate;
	s->given_tcp = stage_try(s, SOCK_TCP, SOCK_LOST);
	s->given = s->holders;
	s->holders = 0;
	holders_leave(s->given);
}

bool inherit_exec(void)
{
	if (!pass_exec())
		return false;
	if (process_is_vfork())
		return true;
	tux_defer_enter();
	fd_each(inherit_give, NULL);
	tux_defer_leave();
	return true;
}

/* If another process has claimed @s meanwhile, @s stays LOST here. */
static void inherit_take_back(struct sock *s, int fd, void *arg)
{
	(void)fd;
	(void)arg;
	if (s->given && holders_return(s->given)) {
		s->holders = s->given;
		if (s->given_candidate)
			stage_try(s, SOCK_LOST, SOCK_CANDIDATE);
		if (s->given_tcp)
			stage_try(s, SOCK_LOST, SOCK_TCP);
	}
	s->given = 0;
}

void inherit_exec_failed(void)
{
	int saved = errno;

	if (process_is_vfork())
		return;
	tux_defer_enter();
	fd_each(inherit_take_back, NULL);
	tux_defer_leave();
	errno = saved;
}
