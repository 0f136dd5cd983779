/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp_only - options of a TCP socket that only the kernel's own stream follows
 *
 *   SO_MARK, SO_BINDTODEVICE, SO_BINDTOIFINDEX
 *		choose the route of the socket's packets, for example through a
 *		VPN.  Packets of Tux take the route that the main table has for
 *		the peer, so they would pass by the VPN, in clear.
 *   SO_PEEK_OFF
 *		each MSG_PEEK begins where the last one ended.  The kernel counts
 *		the bytes that it has peeked at.
 *   SO_RCVLOWAT above 1
 *		poll() says nothing before that many bytes are there.  The kernel
 *		counts those in its own buffer, and the first part of a message
 *		may be on a ring already.
 */
#ifndef TUX_SYS_TCP_ONLY_H
#define TUX_SYS_TCP_ONLY_H

#include <stdbool.h>

/* Is option @name of @level one of them, whatever its value? */
bool tux_tcp_only(int level, int name);

/* Has one of them been set on socket @fd, by its program or on the listener that
 * it comes from? */
bool tux_tcp_only_set(int fd);

#endif
