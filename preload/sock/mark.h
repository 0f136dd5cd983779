/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark - sockets that say in TCP's handshake that there is Tux at this end
 */
#ifndef TUX_PRELOAD_MARK_H
#define TUX_PRELOAD_MARK_H

#include "wire/addr.h"
#include "wire/reason.h"

/* @fd is about to connect to @peer, or to listen.  Marks it, if it is a TCP
 * socket whose connections may move; the first one starts the stack.
 * mark_connecting() returns the reason for which the connection will never
 * move, if it is known by now: then the connection is to be left to the kernel.
 * Leave errno alone. */
enum tux_reason mark_connecting(int fd, const struct tux_addr *peer);
void mark_listening(int fd);

#endif
