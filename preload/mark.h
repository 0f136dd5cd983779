/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark - sockets that say in TCP's handshake that there is Tux at this end
 */
#ifndef TUX_PRELOAD_MARK_H
#define TUX_PRELOAD_MARK_H

#include <sys/socket.h>

/* @fd is about to connect to @addr, or to listen.  Marks it, if it is a TCP
 * socket whose connections may move; the first one starts the stack.  Leaves
 * errno alone. */
void mark_connecting(int fd, const struct sockaddr *addr, socklen_t len);
void mark_listening(int fd);

#endif
