/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kind - which descriptors are TCP sockets, remembered from socket()
 *
 * Connections are made all the time, and each question to the kernel costs as
 * much as a good part of the rest.  A descriptor that came from elsewhere is
 * asked about.  What is remembered may be wrong, if a descriptor was closed and
 * made anew past all hooks.  So a connection is asked about before it is
 * claimed.
 */
#ifndef TUX_PRELOAD_KIND_H
#define TUX_PRELOAD_KIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { FD_MAX = 1 << 20 };	/* descriptors above it stay on TCP */

enum { KIND_UNKNOWN, KIND_TCP4, KIND_TCP6, KIND_OTHER, KIND_LEFT };

extern _Atomic uint8_t kind_table[FD_MAX];

/* What is remembered of @fd. */
static inline uint8_t kind_get(int fd)
{
	return (unsigned)fd < FD_MAX ?
	       atomic_load_explicit(&kind_table[fd], memory_order_relaxed) :
	       KIND_UNKNOWN;
}

/* socket() has made @fd, or failed. */
void kind_made(int fd, int domain, int type, int protocol);

/* @fd is about to be closed, or is new and of unknown kind. */
void kind_forget(int fd);

/* @fd is left to the kernel until it is closed: from now on kind_domain() says
 * that it is no TCP socket. */
void kind_leave(int fd);

/* Was it kind_leave() that said so?  Each epoll_ctl() asks. */
static inline bool kind_left(int fd)
{
	return kind_get(fd) == KIND_LEFT;
}

/* AF_INET or AF_INET6 if @fd is a TCP socket, else -1.  Leaves errno alone. */
int kind_domain(int fd);

/* The same, from the kernel. */
int kind_ask(int fd);

#endif
