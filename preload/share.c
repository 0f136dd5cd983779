/* SPDX-License-Identifier: BSD-2-Clause */
#include "share.h"

#include <errno.h>

#include "claim.h"
#include "fd.h"
#include "fork.h"
#include "holders.h"
#include "libc.h"
#include "sole.h"
#include "sys/defer.h"
#include "sys/take.h"

static _Atomic uint32_t under_way;	/* forks */
static struct tux_latch walk_latch;	/* protects walks, and sock->fork_n */
static _Atomic uint32_t walks;		/* forks, ever; set under the latch */

/* ---- fork ------------------------------------------------------------- */

/* Counts the child as a holder of @s, reached by @fd.  Only candidates can be
 * claimed later: others need no count, but go on with theirs. */
static void share_count(struct sock *s, int fd)
{
	if (!claim_hold(s)) {
		holders_add(s->holders);
		return;
	}
	if (!s->holders)
		s->holders = holders_new();
	holders_add(s->holders);
	if (s->holders)
		atomic_store(&s->stage, SOCK_CANDIDATE);
	else
		claim_refuse_at(s, fd, TUX_REASON_NOT_OWNER);
}

/* Once for each sock, however many descriptors it has. */
static void share_count_once(struct sock *s, int fd, void *arg)
{
	const uint32_t *n = arg;

	if (s->fork_n == *n)
		return;
	s->fork_n = *n;
	share_count(s, fd);
}

uint32_t share_fork(void)
{
	int saved = errno;
	uint32_t n;

	/* First of all: see share_too_late(). */
	atomic_fetch_add(&under_way, 1);
	tux_defer_enter();
	tux_latch_take(&walk_latch);
	n = ++walks;
	fd_each(share_count_once, &n);
	tux_latch_drop(&walk_latch);
	tux_defer_leave();
	errno = saved;
	return n;
}

void share_forked(void)
{
	atomic_fetch_sub(&under_way, 1);
}

static void share_uncount(struct sock *s, int fd, void *arg)
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
void share_failed(uint32_t n)
{
	int saved = errno;

	tux_defer_enter();
	tux_latch_take(&walk_latch);
	fd_each(share_uncount, &n);
	tux_latch_drop(&walk_latch);
	tux_defer_leave();
	errno = saved;
}

/* The thread that was about to claim one does not exist here. */
void share_in_child(void)
{
	atomic_store(&under_way, 0);
	sole_forked();
	tux_latch_drop(&walk_latch);
	for (int fd = 0; fd < fd_top(); fd++) {
		struct sock *s = fd_peek(fd);

		if (!s || s->stage != SOCK_CLAIMING)
			continue;
		/* It may have been about to rest: its directions are pinned as
		 * those of a claimed one. */
		if (s->end && !s->asleep && !tux_end_over(s->end))
			atomic_store(&s->stage, SOCK_CLAIMED);
		else
			claim_refuse(s, TUX_REASON_NOT_OWNER);
	}
}

/* The caller has entered @s into the table before it asks here.  So the fork's
 * walk has seen it, or it sees the fork. */
bool share_too_late(const struct sock *s)
{
	return atomic_load(&under_way) && !s->holders;
}

/* ---- holders ---------------------------------------------------------- */

/* s->holders is too high if a holder was killed, and too low if a message
 * carried @s.  Then sole_is() decides. */
static bool share_is_alone(struct sock *s, int fd)
{
	if (!s->passed && (!s->holders || holders_end(s->holders)))
		return true;
	if (atomic_load(&under_way) || !sole_is(s, fd))
		return false;
	holders_leave(s->holders);
	return true;
}

bool share_alone(struct sock *s, int fd)
{
	if (fork_is_vfork())
		return false;
	if (!share_is_alone(s, fd)) {
		s->why = TUX_REASON_NOT_OWNER;
		return false;
	}
	s->holders = 0;
	s->why = TUX_REASON_NONE;
	/* A fork under way may not have counted @s: fail share_unforked(). */
	s->forks = atomic_load(&walks);
	s->forks -= atomic_load(&under_way) != 0;
	return true;
}

/* A fork whose walk has come by before the caller was in CLAIMING has counted
 * itself before that. */
bool share_unforked(const struct sock *s)
{
	return s->forks == atomic_load(&walks) && !atomic_load(&under_way) &&
	       !s->holders;
}

bool share_leave(struct sock *s)
{
	return holders_leave(s->holders) || s->passed;
}

/* Adds a holder that never leaves: no other one is ever alone. */
void share_stay(struct sock *s)
{
	if (holders_end(s->holders))
		s->holders = 0;
	holders_add(s->holders);
}

/* ---- exec ------------------------------------------------------------- */

static bool share_closes(int fd)
{
	return libc.fcntl(fd, F_GETFD) & FD_CLOEXEC;
}

/* Is every descriptor of @s, of which @fd is one, closed by exec? */
static bool share_closes_all(const struct sock *s, int fd)
{
	if (atomic_load(&s->fds) == 1)
		return share_closes(fd);
	for (int i = 0; i < fd_top(); i++)
		if (fd_peek(i) == s && !share_closes(i))
			return false;
	return true;
}

/* The stage LOST keeps calls of this process off @s until exec has failed:
 * another holder may claim @s at once. */
static void share_give(struct sock *s, int fd, void *arg)
{
	uint8_t from = SOCK_CANDIDATE;

	(void)arg;
	if (!s->holders || s->stage != SOCK_CANDIDATE || !share_closes_all(s, fd))
		return;
	if (!atomic_compare_exchange_strong(&s->stage, &from, SOCK_LOST))
		return;
	fd_moves(s);
	if (atomic_load(&s->refs) >= SOCK_PASSING) {
		atomic_store(&s->stage, SOCK_CANDIDATE);
		return;
	}
	s->given = s->holders;
	s->holders = 0;
	holders_leave(s->given);
}

void share_exec(void)
{
	if (fork_is_vfork())
		return;
	tux_defer_enter();
	fd_each(share_give, NULL);
	tux_defer_leave();
}

/* If another process has claimed @s meanwhile, @s stays LOST here. */
static void share_take_back(struct sock *s, int fd, void *arg)
{
	(void)fd;
	(void)arg;
	if (s->given && holders_return(s->given)) {
		s->holders = s->given;
		atomic_store(&s->stage, SOCK_CANDIDATE);
	}
	s->given = 0;
}

void share_returned(void)
{
	int saved = errno;

	if (fork_is_vfork())
		return;
	tux_defer_enter();
	fd_each(share_take_back, NULL);
	tux_defer_leave();
	errno = saved;
}
