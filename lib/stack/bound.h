/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bound - how much the rings of an end hold, as the application has set it
 */
#ifndef TUX_STACK_BOUND_H
#define TUX_STACK_BOUND_H

struct tux_end;

/* Asks the kernel for SO_SNDBUF and SO_RCVBUF of @fd, the connection's socket:
 * if the application has set one (SO_BUF_LOCK, Linux 5.14), the ring of that
 * direction holds no more.  To be called again when it sets one later. */
void tux_end_bound(struct tux_end *e, int fd);

#endif
