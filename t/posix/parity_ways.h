/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_ways - others get the descriptors of this process
 */
#ifndef TUX_T_POSIX_PARITY_WAYS_H
#define TUX_T_POSIX_PARITY_WAYS_H

/* @fd goes through a UNIX socket of this process.  The descriptor that came, or -1
 * and errno. */
int parity_ways_pass(int fd);

/* A child, or a program, that has all descriptors, uses none and ends, with *@status.
 * 0, or -1. */
int parity_ways_fork(int *status);
int parity_ways_spawn(int *status);

#endif
