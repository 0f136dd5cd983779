/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * epoll_fd - what becomes of the descriptors that epoll instances hold or are
 */
#ifndef TUX_PRELOAD_EPOLL_FD_H
#define TUX_PRELOAD_EPOLL_FD_H

#include <stdbool.h>

/* The kernel has just made instance @fd.  -ENOMEM.  An @fd that cannot be
 * tracked stays unknown, and the sockets in it stay on TCP. */
int epoll_made_fd(int fd);

/* @to is now another descriptor for what @fd names (dup), which may be an epoll
 * instance. */
void epoll_duped_fd(int fd, int to);

/* @fd is about to be closed or replaced: takes it out of every instance.  Also
 * for an @fd that is an instance itself. */
void epoll_forget_fd(int fd);

/* Is there anything that epoll_forget_fd(@fd) would take away? */
bool epoll_kept(int fd);

#endif
