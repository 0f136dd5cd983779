/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark - sockets that say in TCP's handshake that there is Tux at this end
 */
#ifndef TUX_PRELOAD_MARK_H
#define TUX_PRELOAD_MARK_H

#include "wire/addr.h"
#include "wire/reason.h"

/* @fd is about to connect to @peer, or to listen.  Marks it, if it is a TCP
 * socket whose connections may move; the first one starts the stack.  Returns why
 * the connection will never move, if that is known by now: it is to be left to
 * the kernel.  Leaves errno alone. */
enum tux_reason mark_connecting(int fd, const struct tux_addr *peer);
void mark_listening(int fd);

#endif
