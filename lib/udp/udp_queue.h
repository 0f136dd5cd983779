/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * udp_queue - the socket that datagrams of connections come to and leave from
 *
 * A process announces the port of its queue before its loop is there, so the
 * queue opens by itself.  What arrives meanwhile waits in the socket.
 */
#ifndef TUX_UDP_UDP_QUEUE_H
#define TUX_UDP_UDP_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/addr.h"

struct tux_udp_queue {
	int fd;			/* -1: not open */
	int family;		/* AF_INET6 serves IPv4 as well */
	uint16_t port;
};

/* A socket for datagrams, bound to @at, or -errno. */
int tux_udp_bound(int family, const struct tux_addr *at, bool v6only);

/* Makes @fd, of @family, send no fragments. */
void tux_udp_never_fragment(int fd, int family);

/* Opens *@q at a port from @low to @high, or at any if @low is 0.  -errno; then
 * q->fd is -1. */
int tux_udp_queue_open(struct tux_udp_queue *q, uint16_t low, uint16_t high);

/* Sets what a loop needs before it sends and receives there: the length of the
 * kernel's buffers, no fragments, and what routers said of congestion. */
void tux_udp_queue_ready(const struct tux_udp_queue *q);

#endif
