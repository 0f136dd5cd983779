/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * move - a connection goes to another loop, whose queue its packets come by
 *
 * Over AF_XDP the network chooses the queue of a packet, and each loop of a stack has
 * queues of its own (afxdp/shares.h).  The loop of an accepted connection is chosen
 * before its first packet has come.  If that comes by a queue of another loop, the
 * connection goes there, so that its packets stay on one thread.  It does not if one of
 * its callbacks is under way, if a call waits for room on it, or if that loop has more
 * than twice as many connections.
 */
#ifndef TUX_API_MOVE_H
#define TUX_API_MOVE_H

#include "api/api_in.h"

/* As in struct tux_stack_opts: @user is a connection. */
bool tux_api_moves(void *user, unsigned loop);

#endif
