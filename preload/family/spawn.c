/* SPDX-License-Identifier: BSD-2-Clause */
#include "family/spawn.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "loop/recall.h"
#include "sock/claim.h"
#include "sock/fd.h"
#include "sock/kind.h"
#include "sock/observer.h"
#include "sock/pass.h"
#include "sock/share.h"
#include "sock/stage.h"
#include "sock/unclaim.h"
#include "stack/channel.h"
#include "sys/defer.h"
#include "sys/take.h"

/* Descriptors that are kept from programs which are being started: FD_CLOEXEC was not
 * set before.  Untouched pages cost nothing. */
static _Atomic uint8_t spawn_kept[FD_MAX];

static struct tux_latch spawn_latch;	/* what is kept, and how many keep it */

static bool spawn_gives(int fd)
{
	int flags = libc.fcntl(fd, F_GETFD);

	return flags >= 0 && !(flags & FD_CLOEXEC);
}

/* A number that is closed is another descriptor's next. */
static void spawn_gone(int fd)
{
	if ((unsigned)fd < FD_MAX)
		atomic_store(&spawn_kept[fd], 0);
}

static struct observer spawn_observer = { .gone = spawn_gone };

static void spawn_keep(int fd)
{
	libc.fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* ---- one connection --------------------------------------------------- */

/* A candidate stays on TCP as long as others hold it.  One that is on Tux is asked for.
 * @more: the program is one more that holds it, and not the caller by another name. */
static void spawn_ask(struct sock *s, bool more)
{
	if (share_spawn(s))
		return;
	if (more)
		share_spawned(s);
	if (stage_of(s) != SOCK_CLAIMED)
		return;
	if (!process_here.epoch)
		tux_recall_uncounted(s->end);
	tux_recall_call(s->end);
}

/* The answer is given once: what kept @s then may be over. */
static bool spawn_await_own(struct sock *s, int fd)
{
	return !tux_end_recalled(s->end) ||
	       pass_raw(s, fd, TUX_REASON_SHARED, 0);
}

/* Waits for the answer.  False: @s is on Tux yet. */
static bool spawn_await(struct sock *s, int fd)
{
	if (stage_of(s) == SOCK_CLAIMED && process_is_vfork())
		return !unclaim_recall(s);
	if (stage_of(s) == SOCK_CLAIMED && s->epoch == process_here.epoch)
		return spawn_await_own(s, fd);
	if (stage_of(s) == SOCK_CLAIMED)
		unclaim_inherited(s, fd);
	return stage_of(s) != SOCK_LOST;
}

/* ---- this process ----------------------------------------------------- */

static void spawn_ask_given(struct sock *s, int fd, void *arg)
{
	(void)arg;
	if (spawn_gives(fd))
		spawn_ask(s, true);
}

static void spawn_await_given(struct sock *s, int fd, void *arg)
{
	(void)arg;
	if (!spawn_gives(fd) || spawn_await(s, fd))
		return;
	observer_add(&spawn_observer);
	spawn_keep(fd);
	atomic_store(&spawn_kept[fd], 1);
}

static bool spawn_concerns(void)
{
	return !process_is_sandboxed() && !process_is_vfork();
}

void spawn_begin(void)
{
	int saved = errno;

	if (!spawn_concerns())
		return;
	tux_defer_enter();
	tux_latch_take(&spawn_latch);
	share_spawn_begins();
	tux_latch_drop(&spawn_latch);
	fd_each(spawn_ask_given, NULL);
	fd_each(spawn_await_given, NULL);
	tux_defer_leave();
	errno = saved;
}

/* Another program may be kept from the same. */
void spawn_end(void)
{
	int saved = errno;
	bool last;

	if (!spawn_concerns())
		return;
	tux_defer_enter();
	tux_latch_take(&spawn_latch);
	last = share_spawn_ends();
	for (int fd = 0; last && fd < fd_top(); fd++)
		if (atomic_exchange(&spawn_kept[fd], 0))
			libc.fcntl(fd, F_SETFD, 0);
	tux_latch_drop(&spawn_latch);
	tux_defer_leave();
	errno = saved;
}

void spawn_forked(void)
{
	tux_latch_drop(&spawn_latch);
}

bool spawn_give(int fd)
{
	struct sock *s = spawn_concerns() ? sock_get(fd) : NULL;
	bool ok;

	if (!s)
		return true;
	tux_defer_enter();
	claim_stay(fd, TUX_REASON_SHARED);
	spawn_ask(s, true);
	ok = spawn_await(s, fd);
	tux_defer_leave();
	sock_put(s);
	return ok;
}

/* ---- a child that calls exec ------------------------------------------- */

enum { NAME_LEN = 64 };

/* "socket:[inode]", of descriptor @fd of process @pid; 0: of this one. */
static bool spawn_name(char name[NAME_LEN], int pid, int fd)
{
	char path[NAME_LEN];
	ssize_t n;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	else
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, name, NAME_LEN - 1);
	name[n < 0 ? 0 : n] = 0;
	return n > 0;
}

static bool spawn_is(int parents, const char *name)
{
	char other[NAME_LEN];

	return fd_peek(parents) &&
	       spawn_name(other, process_owner(), parents) &&
	       !strcmp(name, other);
}

/* A vfork child has its parent's table, but descriptors of its own: @fd may be
 * another of the parent's, by dup2().  Without /proc, it is not. */
static struct sock *spawn_sock(int fd)
{
	char name[NAME_LEN];

	if (!process_is_vfork())
		return sock_get(fd);
	if (kind_ask(fd) < 0)
		return NULL;
	if (!spawn_name(name, 0, fd) || spawn_is(fd, name))
		return sock_get(fd);
	for (int i = 0; i < fd_top(); i++)
		if (spawn_is(i, name))
			return sock_get(i);
	return NULL;
}

/* Of this process itself, exec takes care (inherit.h).  A candidate of a forked
 * child has been counted by the fork. */
static bool spawn_is_parents(const struct sock *s)
{
	return process_is_vfork() || stage_of(s) == SOCK_LOST ||
	       (s->epoch != process_here.epoch && stage_of(s) == SOCK_CLAIMED);
}

static void spawn_each_given(void (*fn)(struct sock *s, int fd))
{
	for (int fd = 0; fd < fd_top(); fd++) {
		struct sock *s = spawn_gives(fd) ? spawn_sock(fd) : NULL;

		if (!s)
			continue;
		if (spawn_is_parents(s))
			fn(s, fd);
		sock_put(s);
	}
}

static void spawn_ask_parents(struct sock *s, int fd)
{
	(void)fd;
	spawn_ask(s, process_is_vfork());
}

static void spawn_await_parents(struct sock *s, int fd)
{
	if (!spawn_await(s, fd))
		spawn_keep(fd);
}

void spawn_exec(void)
{
	int saved = errno;

	if (process_is_sandboxed() || !atomic_load(&fd_live))
		return;
	tux_defer_enter();
	spawn_each_given(spawn_ask_parents);
	spawn_each_given(spawn_await_parents);
	tux_defer_leave();
	errno = saved;
}
