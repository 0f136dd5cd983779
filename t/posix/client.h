/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client - what the test clients share: connecting, and giving up with a word
 *
 * Plain BSD sockets and nothing of libtux, so that the same client runs with
 * and without the preload.
 */
#ifndef TUX_T_POSIX_CLIENT_H
#define TUX_T_POSIX_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <sys/socket.h>

/* Milliseconds on the monotonic clock. */
uint64_t client_now(void);

/* Prints "PROGRAM: message" on stderr and exits with 1. */
void client_fail(const char *fmt, ...)
	__attribute__((noreturn, format(printf, 1, 2)));

/* The socket address of @host, which is an address of IPv4 or of IPv6, and @port;
 * its length. */
socklen_t client_name(struct sockaddr_storage *a, const char *host,
		      uint16_t port);

/* A TCP connection to the address @host and @port.  With @nonblock it may
 * still be under way: when it is writable, client_connected() has the verdict.
 * Fails when the kernel says no; where there is no way it asks for some time. */
int client_dial(const char *host, uint16_t port, bool nonblock);

/* Is that what connecting fails with while a link is down, and not later? */
bool client_no_way(int err);
void client_connected(int fd);

/* Blocking calls on @fd give up after @seconds. */
void client_patience(int fd, unsigned seconds);

/* The number in @s, between @min and @max, or a failure that names @what. */
uint64_t client_number(const char *what, const char *s, uint64_t min,
		       uint64_t max);

#endif
