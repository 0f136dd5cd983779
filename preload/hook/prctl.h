/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prctl - seccomp(2), which libc has no function for
 */
#ifndef TUX_PRELOAD_PRCTL_H
#define TUX_PRELOAD_PRCTL_H

/* As syscall(2) returns it. */
long prctl_seccomp(unsigned op, unsigned flags, void *arg);

#endif
