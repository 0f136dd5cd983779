/* SPDX-License-Identifier: BSD-2-Clause */
#include "fork.h"

#include <errno.h>
#include <pthread.h>

#include "close.h"
#include "fd.h"
#include "hooks.h"
#include "iface.h"
#include "libc.h"
#include "share.h"
#include "stack.h"
#include "wait.h"

uint32_t fork_epoch = 1;

static pid_t owner;
static __thread uint32_t fork_n;	/* this thread's last: see share.h */

bool fork_is_vfork(void)
{
	return getpid() != owner;
}

static void fork_prepare(void)
{
	fork_n = share_fork();
}

/* The parent's loops serve the parent's connections.  This process may start a
 * stack of its own, for sockets that it makes itself and for candidates. */
static void fork_in_child(void)
{
	int saved = errno;

	owner = getpid();
	fork_epoch++;
	fd_forked();
	iface_forked();
	wait_forked();
	stack_forked();
	epoll_forked();
	share_in_child();
	errno = saved;
}

void fork_init(void)
{
	owner = getpid();
	pthread_atfork(fork_prepare, share_forked, fork_in_child);
}

/* The handlers run alike if fork() fails: uncounts the child here. */
static pid_t fork_done(pid_t pid)
{
	if (pid < 0)
		share_failed(fork_n);
	return pid;
}

HOOK pid_t fork(void)
{
	return fork_done(libc.fork());
}

/* libc's _Fork() runs no handlers, and its fork() does not call this. */
HOOK pid_t _Fork(void)
{
	pid_t pid;

	fork_prepare();
	pid = libc._Fork();
	if (pid == 0)
		fork_in_child();
	else
		share_forked();
	return fork_done(pid);
}

/* ---- the end ---------------------------------------------------------- */

static void drain(void)
{
	if (!fork_is_vfork())
		close_all();
}

/* exit(), after the program's own handlers. */
static __attribute__((destructor(101))) void fork_fini(void)
{
	drain();
}

HOOK void _exit(int status)
{
	drain();
	libc._exit(status);
	__builtin_unreachable();
}

HOOK void _Exit(int status)
{
	drain();
	libc._Exit(status);
	__builtin_unreachable();
}

HOOK void quick_exit(int status)
{
	drain();
	libc.quick_exit(status);
	__builtin_unreachable();
}
