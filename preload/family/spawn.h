/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spawn - another program gets connections of this process, which goes on
 *
 * So it is with posix_spawn(3), popen(3), system(3), and with exec(3) in a child.
 * The new program uses the kernel's socket, so what is on Tux of it goes back to
 * TCP first.  All connections are asked for at once, since each takes as long as its
 * peer needs to follow.  One whose peer does not follow is kept from the program:
 * FD_CLOEXEC is set.  What is not on Tux stays on TCP, unless the kernel counts the
 * holders (sock/sole.h).
 */
#ifndef TUX_PRELOAD_SPAWN_H
#define TUX_PRELOAD_SPAWN_H

#include <stdbool.h>

/* This process is about to start a program, which gets all descriptors but those
 * with FD_CLOEXEC; and it has been started, or not. */
void spawn_begin(void);
void spawn_end(void);

/* In a child, right after fork: the child starts none yet. */
void spawn_forked(void);

/* A program that is to be started later will get @fd, which stays on TCP.  False:
 * it must not, since its connection cannot be had back. */
bool spawn_give(int fd);

/* This process is a child, by fork() or vfork(), and calls exec.  Does nothing in
 * another.  What is kept from the program stays so if exec fails: such a child has
 * no other use for it. */
void spawn_exec(void);

#endif
