/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark - sockets that say in TCP's handshake that there is Tux at this end
 */
#ifndef TUX_PRELOAD_MARK_H
#define TUX_PRELOAD_MARK_H

#include <stdbool.h>

#include "wire/addr.h"

/* @fd is about to connect to @peer, or to listen.  Marks it, if it is a TCP
 * socket whose connections may move; the first one starts the stack.  False: it
 * is to be left alone, because of what is known of connections to the peer.
 * Leaves errno alone. */
bool mark_connecting(int fd, const struct tux_addr *peer);
void mark_listening(int fd);

/* @fd, which is to be left alone, connects to @peer: the kernel has it, and none
 * of its calls are looked at.  Leaves errno alone. */
void mark_left(int fd, const struct tux_addr *peer);

#endif
