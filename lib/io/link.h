/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link - what a loop sends and receives datagrams through
 *
 * A small table of functions; behind it is `udp` or `xdp`.  A link belongs to
 * one loop and is called by whoever drives that; listen() and unlisten() may
 * come from any thread.
 *
 * A link has sources to receive from.  Source 0 is its queue, which the loop
 * reads in every turn; the others are listeners, which only openings of new
 * connections come through, or the link's own affairs.
 *
 * The last four functions are for links on which the ways of connections open
 * and close; others have NULL there.
 */
#ifndef TUX_IO_LINK_H
#define TUX_IO_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reason.h"
#include "base/time.h"
#include "wire/addr.h"

enum { TUX_LINK_BATCH = 64 };	/* datagrams in one rx(), or before a flush() */

struct tux_dgram {
	struct tux_addr from;
	const uint8_t *p;
	size_t len;
};

struct tux_link_opts {
	const char *ifname;	/* NULL: any interface */
	bool attach_start;	/* make it ready at once */
};

struct tux_link {
	const struct tux_link_ops *ops;
	uint16_t port;		/* our HELLO names it; 0: TCP's own */
	bool blocked;		/* flush() left something: try it again soon */
	bool news;		/* admit() and closed() may answer otherwise;
				 * the loop takes it back */
	tux_time due_at;	/* tick() then; TUX_NEVER */
};

struct tux_link_way {		/* of one connection */
	uint32_t handle;
	uint32_t mtu;		/* the longest datagram */
};

struct tux_link_ops {
	/* Opens a link into *@lp.  What can be slept on is added to the epoll
	 * instance @epfd, with @tag + source as its data.  -errno. */
	int (*open)(struct tux_link **lp, const struct tux_link_opts *o,
		    int epfd, uint64_t tag);
	void (*close)(struct tux_link *l);

	/* In a forked child: closes the descriptors, touches nothing else. */
	void (*forked)(struct tux_link *l);

	/* Takes what has arrived at @source, without waiting: how many, in
	 * *@d, borrowed until the next rx(). */
	unsigned (*rx)(struct tux_link *l, unsigned source,
		       const struct tux_dgram **d);

	/* A buffer of *@cap bytes for one datagram, NULL: flush() first.
	 * Nothing happens to it before send(). */
	uint8_t *(*tx)(struct tux_link *l, size_t *cap);

	/* The buffer that tx() gave holds @len bytes from our address @from to
	 * @to. */
	void (*send)(struct tux_link *l, size_t len, const struct tux_addr *to,
		     const struct tux_addr *from);

	/* Hands what was sent to the kernel.  What that has no room for stays;
	 * what it refuses is dropped, as networks do. */
	void (*flush)(struct tux_link *l);

	/* Also receives what comes to @local, where a TCP listener is; @v6only
	 * as that socket has it, @v4 for one of family AF_INET.  The source's
	 * number, or a reason, negated. */
	int (*listen)(struct tux_link *l, const struct tux_addr *local, bool v4,
		      bool v6only);
	void (*unlisten)(struct tux_link *l, unsigned source);

	/* A connection between @local and @peer wants to travel.  0 with *@w
	 * filled; 1: that is still to be seen, news will come; a reason,
	 * negated, that news may change. */
	int (*admit)(struct tux_link *l, const struct tux_addr *local,
		     const struct tux_addr *peer, struct tux_link_way *w,
		     tux_time now);
	void (*leave)(struct tux_link *l, uint32_t handle, tux_time now);

	/* Why nothing can go there now; TUX_REASON_NONE. */
	enum tux_reason (*closed)(const struct tux_link *l, uint32_t handle);

	void (*tick)(struct tux_link *l, tux_time now);
};

#endif
