/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * share - candidates that several processes hold since a fork
 *
 * Two processes must not use a connection of which one reads TCP and the other
 * has claimed it: bytes would be lost.  So a fork counts the holders of each
 * candidate (holders.h, family/inherit.h), and a process claims one when it is
 * the only holder.  Until then it stays a candidate, and its bytes go through
 * the kernel.
 */
#ifndef TUX_PRELOAD_SHARE_H
#define TUX_PRELOAD_SHARE_H

#include "sock/sock.h"

/* A fork begins: from here on, share_too_late() is true of a candidate that the
 * walk below does not see.  Then the caller counts the child among the holders
 * of each candidate; share_fork_walks(), before the first, gives the number of
 * this walk.  share_fork_ends(): in the parent. */
void share_fork_begins(void);
uint32_t share_fork_walks(void);
void share_fork_ends(void);

/* A program is about to be started, which gets what has no FD_CLOEXEC; and it has
 * been.  True: no other is being started. */
void share_spawn_begins(void);
bool share_spawn_ends(void);

/* @s has just become a candidate.  Will a child of a fork under way, or a program
 * that is being started, get its descriptor @fd without being counted? */
bool share_too_late(const struct sock *s, int fd);

/* Is this process the only holder of @s, reached by @fd?  The answer stays
 * true, because forks wait while @s is CLAIMING. */
bool share_alone(struct sock *s, int fd);

/* Has no fork given @s to another process since it was claimed?  The caller has
 * it in CLAIMING, so that forks from now on count it. */
bool share_unforked(const struct sock *s);

/* The last descriptor of @s in this process goes.  True: other processes hold
 * it. */
bool share_leave(struct sock *s);

/* A program that is being started gets @s.  From now on the kernel's count decides
 * whether this process is alone.  False: @s is no candidate. */
bool share_spawn(struct sock *s);

/* A program that is being started gets claimed @s, if that goes back to TCP. */
void share_spawned(struct sock *s);

/* Keeps other processes that hold @s from claiming it.  For this process, the
 * stage that the caller sets decides. */
void share_stay(struct sock *s);

/* In a child, right after fork. */
void share_forked(void);

#endif
