/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path - the two directions of a claimed socket
 *
 * Every byte goes through the duplex, one thread at a time in each direction.
 * What is done under a latch never blocks and is no point of cancellation.
 */
#ifndef TUX_PRELOAD_PATH_H
#define TUX_PRELOAD_PATH_H

#include "sock/sock.h"

struct path_tcp {		/* TCP as the duplex uses it */
	int fd;
	int flags;		/* of send(): MSG_MORE */
};

struct tux_tcp path_tcp(struct path_tcp *t);

/* Take and drop a direction's latch.  False: the handler of a fault has come
 * upon its own thread inside. */
bool path_lock_rx(struct sock *s);
bool path_lock_tx(struct sock *s);
void path_unlock_rx(struct sock *s);
void path_unlock_tx(struct sock *s);

/* After a call to the duplex: tells who watches if a direction has moved. */
void path_notice(struct sock *s);

/* Looks for a switch at the end of what TCP carries (tux_duplex_advance), for
 * @fd of claimed @s, when TCP says readable.  True if a read would give
 * something, be it the end. */
bool path_advance(struct sock *s, int fd);

/* shutdown(@how) of @s, reached by @fd.  0 or -errno. */
int path_shutdown(struct sock *s, int fd, int how);

/* Bytes that a read would give now (FIONREAD), and bytes written that the peer
 * does not have yet (SIOCOUTQ); -errno. */
int path_readable(struct sock *s, int fd);
int path_unsent(struct sock *s, int fd);

#endif
