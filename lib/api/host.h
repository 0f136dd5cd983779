/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host - addresses as text, and TCP sockets
 */
#ifndef TUX_API_HOST_H
#define TUX_API_HOST_H

#include "api/api_in.h"

/* The numeric address @host, NULL or "*" for any, and @port into *@a and *@family
 * (AF_INET; AF_INET6, also for any).  -EINVAL. */
int tux_api_host(const char *host, uint16_t port, struct tux_addr *a,
		 int *family);

/* A nonblocking TCP socket.  -errno. */
int tux_api_socket(int family);

/* An option of socket @fd that is a number of 0 or more.  -errno. */
int tux_api_option(int fd, int level, int name);

/* Where socket @fd is bound to, and its peer.  -errno. */
int tux_api_local(int fd, struct tux_addr *a);
int tux_api_peer(int fd, struct tux_addr *a);

/* Is @local an address of the interface, if there is one to keep to?  Over xdp,
 * the link sees to that, and to "lo" the claim. */
bool tux_api_covers(struct tux *t, const struct tux_addr *local);

#endif
