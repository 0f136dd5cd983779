/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uring - rings of io_uring(7) that the program makes by syscall(2)
 *
 * Each ring is mapped a second time, so that entries can be read before the
 * kernel takes them.  What an entry asks for is then done as the hook of the
 * matching call does it (uring_entry.c).  A ring that cannot be read puts all
 * connections on TCP.
 */
#ifndef TUX_PRELOAD_URING_H
#define TUX_PRELOAD_URING_H

struct io_uring_params;

/* The calls; they return what syscall(2) does. */
long uring_setup(unsigned entries, struct io_uring_params *p);
long uring_enter(int fd, unsigned n, unsigned min, unsigned flags,
		 const void *arg, unsigned long len);
long uring_register(int fd, unsigned op, void *arg, unsigned n);

#endif
