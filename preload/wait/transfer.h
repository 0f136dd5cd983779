/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transfer - the bytes of one call, in or out of a claimed socket
 *
 * A transfer may end before its bytes have moved, because the connection went
 * back to the kernel: then `left` is set, and rw.c goes on with the rest.
 */
#ifndef TUX_PRELOAD_TRANSFER_H
#define TUX_PRELOAD_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/time.h"
#include "sock/path.h"

enum { TRANSFER_PIECES = 8 };	/* of a vector that is moved in part */

struct transfer {
	struct sock *s;		/* with a reference of the caller's */
	struct path_tcp tcp;
	int flags;		/* MSG_DONTWAIT also for O_NONBLOCK */
	const struct iovec *iov;
	int n;
	size_t done, want;
	bool left;		/* the socket is not claimed any more */
	tux_time until;		/* 0: not settled, see transfer_until() */
	int futile;		/* wake-ups that brought nothing */
	bool turned;		/* this call does not wait, and has run the
				 * loop */
};

/* As recv() and send() with vectors, without SIGPIPE: bytes, 0 or -errno. */
ssize_t transfer_in(struct transfer *t);
ssize_t transfer_out(struct transfer *t);

/* Settles until when a call that waits may wait, if it has not waited yet. */
void transfer_until(struct transfer *t, bool out);

/* What is still to be moved: at first all, later up to TRANSFER_PIECES pieces of
 * it, in @v. */
const struct iovec *transfer_rest(const struct transfer *t, struct iovec *v,
				  int *n);

/* The thread's last receiving call did not wait and found nothing, and since then the
 * thread has not waited for sockets on Tux in poll() or epoll_wait(). */
extern __thread bool transfer_found_nothing
	__attribute__((visibility("hidden")));

static inline bool transfer_nonblocking(const struct transfer *t)
{
	return t->flags & MSG_DONTWAIT;
}

#endif
