/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listener - a TCP socket that listens, so that its peers reach us over Tux
 */
#ifndef TUX_PRELOAD_LISTENER_H
#define TUX_PRELOAD_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#include "sock/sock.h"

/* Tells the peers of listener @fd, or of what is to be one, that its
 * connections will not move, and @why. */
void listener_refuse(int fd, enum tux_reason why);

/* @fd listens.  @told: its peers were told a moment ago how it is with it. */
void listener_add(int fd, bool told);

/* @l, a listener of this process, has accepted a connection by @fd.  Tells its
 * peers once more how it is with @l, if they were told a second ago or more:
 * tuxd's programs may be others than before, or be there now. */
void listener_refresh(struct sock *l, int fd);

/* A socket of the program could not bind() to @port of any address: gives up
 * listeners of ours that hold the UDP port.  True if there were some. */
bool listener_yield_port(uint16_t port);

/* A child accepts from @l, its parent's listener, by @fd.  If the parent is
 * gone, or was no more than a launcher, the port is free and the child takes it
 * over. */
void listener_inherit(struct sock *l, int fd);

#endif
