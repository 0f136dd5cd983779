/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * transport - how the bytes of connections travel, as a table of functions
 *
 * A connection is a handle, a small number that the transport gives.  Nothing
 * but wait() waits.
 */
#ifndef BENCH_TRANSPORT_H
#define BENCH_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/time.h"

enum { TRANSPORT_READY = 64 };		/* handles that one wait() names */

struct transport;

struct transport_opts {
	const char *host;
	uint16_t port;
	bool spin;			/* wait() returns at once */
	/* of those that are not sockets */
	const char *interface;		/* NULL: any but lo */
	bool udp;			/* UDP sockets, not AF_XDP */
	uint32_t record;		/* messages: the length of each, */
	bool own_len;			/* or at most, and the first 32 bits of
					 * each say it */
};

struct transport_ops {
	const char *name;
	bool unordered;			/* answers come in any order */

	/* -errno.  close() comes after the last hang_up(). */
	int (*open)(struct transport **tp, const struct transport_opts *o);
	void (*close)(struct transport *t);

	/* A new connection, which wait() calls @user; a handle or -errno. */
	int (*dial)(struct transport *t, void *user);
	void (*hang_up)(struct transport *t, int h);

	/* How many of @len bytes; -EAGAIN: none now, and wait() names the
	 * handle again when there is room, respectively data.  recv() gives 0
	 * at the end. */
	ssize_t (*send)(struct transport *t, int h, const void *p, size_t len);
	ssize_t (*recv)(struct transport *t, int h, void *p, size_t cap);

	/* Until something is ready or @until comes: puts the users that are
	 * ready into @ready, at most TRANSPORT_READY; returns how many. */
	int (*wait)(struct transport *t, tux_time until, void **ready);

	/* How many connections are on Tux, both ways.  NULL: it cannot tell. */
	uint32_t (*moved)(struct transport *t);
};

struct transport {
	const struct transport_ops *ops;
};

/* Sockets of the C library: kernel TCP, and Tux under tuxrun. */
extern const struct transport_ops transport_tcp;

/* The library's own, linked in: messages, each of one record, in any order or in
 * that in which they were sent; or the stream. */
extern const struct transport_ops transport_messages, transport_ordered,
				  transport_stream;

/* NULL: there is none of that name. */
const struct transport_ops *transport_find(const char *name);

#endif
