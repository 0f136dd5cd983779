/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks - what the parts of the preload tell each other
 */
#ifndef TUX_PRELOAD_HOOKS_H
#define TUX_PRELOAD_HOOKS_H

#include "sock.h"

/* ---- epoll.c ---------------------------------------------------------- */

/* @fd is about to be closed or replaced: takes it out of every epoll instance
 * of ours.  Also for an @fd that is an epoll instance itself. */
void epoll_forget_fd(int fd);

/* Is there anything that epoll_forget_fd(@fd) would take away? */
bool epoll_kept(int fd);

/* The loop that threads run while they wait for an epoll instance that holds @fd,
 * as in struct tux_waiter; 0: there is none yet.  No lock of ours is held. */
unsigned epoll_loop(int fd);

/* @fd has just been claimed as @s, maybe by another thread's read(): epoll
 * instances that hold @fd watch @s from now on.  No lock of ours is held. */
void epoll_claimed_fd(int fd, struct sock *s);

/* @s, of which @fd is a descriptor, is claimed no longer: the instances watch it no
 * more.  No lock of ours is held. */
void epoll_rested_fd(int fd, struct sock *s);

/* @fd is left to the kernel (kind_leave), which has the program's own data for it
 * in most instances: their items go. */
void epoll_left_fd(int fd);

/* @to is now another descriptor for what @fd names (dup), which may be an epoll
 * instance. */
void epoll_duped_fd(int fd, int to);

/* In a child, right after fork. */
void epoll_forked(void);

/* ---- fd.c ------------------------------------------------------------- */

/* The kernel has just handed out @fd: what we knew of that number is stale.
 * Returns @fd, which may be -1. */
int fd_fresh(int fd);

/* Descriptors below it can be tracked. */
int fd_limit(void);

/* @fd is tracked by somebody: close_range() will look that far. */
void fd_seen(int fd);

#endif
