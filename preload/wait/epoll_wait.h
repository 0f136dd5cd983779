/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll_wait - waits on an instance
 *
 * Without socks, ep_wait() is the kernel's call and a translation.  So it is
 * once all socks have been on TCP for a while; then the kernel watches the bell
 * as well, and the helper runs the loop.  Otherwise one thread, the leader,
 * sleeps on the instance's waiter and on the kernel's instance; more threads
 * stand in line behind it and are woken one by one as the leader leaves with
 * events.
 */
#ifndef TUX_PRELOAD_EPOLL_WAIT_H
#define TUX_PRELOAD_EPOLL_WAIT_H

#include <signal.h>
#include <sys/epoll.h>

#include "base/time.h"

/* epoll_wait() on instance @fd, which another thread may have closed meanwhile:
 * waits for @ns (TUX_NEVER: without end), with @mask in force (NULL: the
 * thread's own).  As the call of libc, with errno. */
int ep_wait(int fd, struct epoll_event *evs, int max, tux_time ns,
	    const sigset_t *mask);

#endif
