/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll_ctl - what the program registers
 *
 * What concerns the kernel alone is checked by the kernel.  A sock's item may
 * be unknown to it, so that for those we say EEXIST, ENOENT and EINVAL.
 */
#ifndef TUX_PRELOAD_EPOLL_CTL_H
#define TUX_PRELOAD_EPOLL_CTL_H

#include "wait/epoll.h"

/* The call epoll_ctl(2), as libc's, with errno. */
int epoll_control(int epfd, int op, int fd, struct epoll_event *e);

/* epoll_ctl() on @ep.  0 or -errno.  The caller holds the latch of @ep; it is
 * dropped here. */
int ep_ctl(struct ep *ep, int op, int fd, struct epoll_event *e);

#endif
