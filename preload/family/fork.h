/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fork - what happens before and after a fork, on all floors
 */
#ifndef TUX_PRELOAD_FORK_H
#define TUX_PRELOAD_FORK_H

/* At the start of the process: from then on, libc's fork() calls the three
 * below. */
void fork_init(void);

/* Before a fork, in the thread that forks; and after it, in the parent and in
 * the child. */
void fork_prepare(void);
void fork_in_parent(void);
void fork_in_child(void);

/* The fork of this thread has made no child, after fork_in_parent(). */
void fork_failed(void);

#endif
