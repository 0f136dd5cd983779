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
 * has no mark because of what is known of connections to the peer.  Leaves errno
 * alone. */
bool mark_connecting(int fd, const struct tux_addr *peer);
void mark_listening(int fd);

#endif
