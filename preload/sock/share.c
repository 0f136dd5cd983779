/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/share.h"

#include <fcntl.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/holders.h"
#include "sock/sole.h"
#include "sock/stage.h"

static _Atomic uint32_t under_way;	/* forks */
static _Atomic uint32_t spawns;		/* programs that are being started */
static _Atomic uint32_t walks;		/* forks, ever */

/* ---- forks ------------------------------------------------------------ */

void share_fork_begins(void)
{
	atomic_fetch_add(&under_way, 1);
}

uint32_t share_fork_walks(void)
{
	return atomic_fetch_add(&walks, 1) + 1;
}

void share_fork_ends(void)
{
	atomic_fetch_sub(&under_way, 1);
}

void share_spawn_begins(void)
{
	atomic_fetch_add(&spawns, 1);
}

bool share_spawn_ends(void)
{
	return atomic_fetch_sub(&spawns, 1) == 1;
}

void share_forked(void)
{
	atomic_store(&under_way, 0);
	atomic_store(&spawns, 0);
	sole_forked();
}

/* The caller has entered @s into the table before it asks here.  So the fork's
 * walk has seen it, or it sees the fork. */
bool share_too_late(const struct sock *s, int fd)
{
	if (s->holders)
		return false;
	return atomic_load(&under_way) ||
	       (atomic_load(&spawns) &&
		!(libc.fcntl(fd, F_GETFD) & FD_CLOEXEC));
}

/* ---- holders ---------------------------------------------------------- */

/* s->holders is too high if a holder was killed, and too low if a message carried @s,
 * or a program got it.  Then sole_is() decides. */
static bool share_is_alone(struct sock *s, int fd)
{
	/* What only the kernel counts: a child that no hook has seen, say. */
	if (s->shared && sole_is_not(s, fd))
		return false;
	if (!s->passed && !s->spawned &&
	    (!s->holders || holders_end(s->holders)))
		return true;
	if (atomic_load(&under_way) || atomic_load(&spawns) ||
	    !sole_is(s, fd))
		return false;
	s->spawned = false;
	holders_leave(s->holders);
	return true;
}

bool share_alone(struct sock *s, int fd)
{
	if (process_is_vfork())
		return false;
	if (!share_is_alone(s, fd))
		return false;
	s->holders = 0;
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
	return holders_leave(s->holders) || s->passed || s->spawned;
}

/* The parent of this process, which counts no spawned program, has one more holder. */
void share_spawned(struct sock *s)
{
	s->spawned = true;
	holders_add(s->holders);
}

bool share_spawn(struct sock *s)
{
	if (!stage_hold(s))
		return false;
	share_spawned(s);
	stage_try(s, SOCK_CLAIMING, SOCK_CANDIDATE);
	return true;
}

/* Adds a holder that never leaves: no other one is ever alone. */
void share_stay(struct sock *s)
{
	if (holders_end(s->holders))
		s->holders = 0;
	holders_add(s->holders);
}
