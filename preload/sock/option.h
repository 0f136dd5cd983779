/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option - socket options that the preload must know to act like the kernel
 */
#ifndef TUX_PRELOAD_OPTION_H
#define TUX_PRELOAD_OPTION_H

#include "sock/sock.h"

/* @s is being claimed as @fd: asks the kernel what was set before. */
void option_load(struct sock *s, int fd);

/* s->nonblock, when it is claimed; later calls of fcntl() and ioctl() set
 * it. */
void option_load_nonblock(struct sock *s, int fd);

/* @s, reached by @fd, goes back to the kernel's calls: the kernel is told what the
 * program has set meanwhile, and only the preload knew. */
void option_give(struct sock *s, int fd);

/* Has @fd an option set that needs plain TCP? */
bool option_pins(int fd);

#endif
