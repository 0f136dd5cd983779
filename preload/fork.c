/* SPDX-License-Identifier: BSD-2-Clause */
#include "fork.h"

#include <errno.h>
#include <pthread.h>

#include "claim.h"
#include "close.h"
#include "fd.h"
#include "hooks.h"
#include "iface.h"
#include "libc.h"
#include "stack.h"
#include "wait.h"

uint32_t fork_epoch = 1;

static pid_t owner;

bool fork_is_vfork(void)
{
	return getpid() != owner;
}

/* The parent's loops serve the parent's connections.  This process may start a
 * stack of its own, for sockets that it makes itself. */
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
	errno = saved;
}

void fork_init(void)
{
	owner = getpid();
	pthread_atfork(claim_fork, NULL, fork_in_child);
}

/* It runs no handlers; fork() itself calls libc's own. */
HOOK pid_t _Fork(void)
{
	pid_t pid;

	claim_fork();
	pid = libc._Fork();
	if (pid == 0)
		fork_in_child();
	return pid;
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
