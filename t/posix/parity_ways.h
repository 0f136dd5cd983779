/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_ways - a descriptor goes through a UNIX socket of this process
 */
#ifndef TUX_T_POSIX_PARITY_WAYS_H
#define TUX_T_POSIX_PARITY_WAYS_H

/* The descriptor that came of @fd, or -1 and errno. */
int parity_ways_pass(int fd);

#endif
