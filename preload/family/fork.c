/* SPDX-License-Identifier: BSD-2-Clause */
#include "family/fork.h"

#include <errno.h>
#include <pthread.h>

#include "family/inherit.h"
#include "family/spawn.h"
#include "ground/process.h"
#include "sock/allow.h"
#include "sock/close.h"
#include "sock/iface.h"
#include "sock/observer.h"
#include "sock/share.h"
#include "sock/sock.h"
#include "sock/stack.h"
#include "sys/defer.h"
#include "wait/epoll.h"
#include "wait/wait.h"

static __thread uint32_t fork_n;	/* this thread's last */

/* A handler that came in the child before fork_in_child() would find what is not its
 * own: it waits. */
void fork_prepare(void)
{
	tux_defer_enter();
	stack_forks();
	fork_n = inherit_prepare();
}

void fork_in_parent(void)
{
	share_fork_ends();
	tux_defer_leave();
}

/* The parent's loops serve the parent's connections.  This process may start a
 * stack of its own, for sockets that it makes itself and for candidates. */
void fork_in_child(void)
{
	int saved = errno;

	process_forked();
	allow_forked();
	sock_forked();
	observer_forked();
	iface_forked();
	wait_forked();
	stack_forked();
	ep_forked();
	spawn_forked();
	inherit_in_child();
	tux_defer_leave();
	errno = saved;
}

void fork_init(void)
{
	process_init();
	pthread_atfork(fork_prepare, fork_in_parent, fork_in_child);
}

void fork_failed(void)
{
	inherit_failed(fork_n);
}
