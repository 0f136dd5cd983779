/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * link - what a loop sends and receives datagrams through
 *
 * A small table of functions; behind it is `udp` or `xdp`. A link belongs to
 * one loop and is called by the thread that runs the loop; listen() and
 * unlisten() may come from any thread.
 *
 * A link has sources to receive from.  Source 0 is its queue, which the loop
 * reads in every turn; the others are listeners, which only openings of new
 * connections come through, or the link's own affairs.
 *
 * The last seven functions are for links over which connections can travel only
 * at times; others have NULL there, or tick() alone. A link that is only for peers that have
 * announced themselves has `announce`.
 *
 * The links of a stack's loops are separate, or they have `one_port`: over AF_XDP they
 * divide the queues of one interface.
 */
#ifndef TUX_LINK_LINK_H
#define TUX_LINK_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/time.h"
#include "kernel/feature.h"
#include "link/tally.h"
#include "policy/give_way.h"
#include "wire/addr.h"
#include "wire/reason.h"
#include "wire/wire.h"

enum {
	TUX_LINK_BATCH = 64,	/* datagrams before a flush() */
	TUX_LINK_FDS = 8,
	TUX_LINK_LOOPS = 16,	/* of a stack, at most */
};

/* The handle of what has no flow: a connection that only a UDP socket carries, or
 * an answer to a peer that has no connection here. */
#define TUX_LINK_NO_FLOW UINT32_MAX

struct tux_dgram {
	struct tux_addr from;
	const uint8_t *p;
	size_t len;
	uint8_t ecn;		/* TUX_ECN_* */
	int queue;		/* of an interface, that it came from; or -1 */
	unsigned via;		/* number of the loop to which it came by a queue, and
				 * which has passed it on, from 1; 0: none */
};

/* What a link says about the interface that it uses. */
struct tux_link_note {
	enum tux_link_what {
		TUX_LINK_TAKEN,		/* it is ours */
		TUX_LINK_LEFT,		/* it was */
		TUX_LINK_COUNTED,	/* it still is, at the end */
		TUX_LINK_REFUSED,	/* zero copy: copied instead */
		TUX_LINK_STUCK,		/* ... nothing leaves: given back */
		TUX_LINK_DEAF,		/* ... nothing arrives: given back */
		TUX_LINK_DENIED,	/* the privilege for new flows is gone */
		TUX_LINK_GIVES_WAY,	/* given back for other programs */
		TUX_LINK_RETURNS,	/* may be taken again after that */
	} what;
	const char *ifname;
	const struct tux_tally *tally;
	const struct tux_feature *feature;
	const struct tux_give_way *give_way;
};

typedef void tux_link_said_fn(const struct tux_link_note *n);

enum tux_zerocopy {
	TUX_ZEROCOPY_OFF,
	TUX_ZEROCOPY_AUTO,		/* if the driver says that it can */
	TUX_ZEROCOPY_ON,		/* whatever it says */
};

struct tux_announce;
struct tux_udp_queue;

struct tux_link_opts {
	const char *ifname;	/* NULL: any interface */
	bool attach_start;	/* make it ready at once */
	bool yields;		/* leave it to other programs' bulk */
	bool mixed;		/* UDP sockets carry what AF_XDP does not */
	const struct tux_udp_queue *queue;	/* udp: open already, stays the
						 * caller's; NULL */
	struct tux_link *first;	/* the link of the stack's first loop, which is
				 * closed last; NULL: this one is that */
	unsigned number;	/* of its loop in the stack, from 0 */
	uint16_t port_low, port_high;	/* of UDP sockets; 0, 0: any */
	enum tux_zerocopy zerocopy;	/* what to try first */
	tux_link_said_fn *said;	/* called in a turn; NULL */
};

struct tux_link {
	const struct tux_link_ops *ops;
	/* Readable: the queue has something.  To be slept on beside the epoll
	 * instance: inside it, each datagram that arrives while no thread sleeps
	 * would cost the kernel an event. */
	int fd[TUX_LINK_FDS];
	unsigned fd_n;
	uint16_t port;		/* our HELLO names it; 0: TCP's own */
	bool blocked;		/* flush() left something: try it again soon */
	bool bypass;		/* its packets pass by the kernel's IPsec */
	bool changed;		/* admit(), closed() and mtu() may answer
				 * otherwise; the loop takes it back */
	uint32_t way;		/* counts how often the datagrams of connections
				 * began to leave in another way, by a socket or
				 * by the interface's queues; `changed` is set */
	uint32_t pkt_max;	/* the longest packet that fits; 0: any */
	tux_time due_at;	/* tick() then; TUX_NEVER */
};

struct tux_link_ops {
	/* tux_announce_open(), or NULL. */
	void (*announce)(struct tux_announce *a);

	/* Opens a link into *@lp.  What can be slept on is in fd, or is added
	 * to the epoll instance @epfd, with @tag + source as its data.
	 * -errno. */
	int (*open)(struct tux_link **lp, const struct tux_link_opts *o,
		    int epfd, uint64_t tag);
	void (*close)(struct tux_link *l);

	/* The loops of a stack have one port: what comes there may come to another
	 * loop than its connection's.  Their links use what is the first one's. */
	bool one_port;

	/* With one_port.  How many loops can send and receive; @l is the first
	 * one's.  Any thread. */
	unsigned (*loops_max)(const struct tux_link *l);

	/* With one_port.  A thread runs the loop from now on: it may receive.  Any
	 * thread. */
	void (*join)(struct tux_link *l);

	/* In a forked child: closes the descriptors, touches nothing else. */
	void (*forked)(struct tux_link *l);

	/* Takes what has arrived at @source, without waiting: how many, in
	 * *@d, borrowed until the next rx(). */
	unsigned (*rx)(struct tux_link *l, unsigned source,
		       const struct tux_dgram **d, tux_time now);

	/* A buffer of *@cap bytes for one datagram of flow @handle; NULL:
	 * flush() first.  Nothing happens to it before send() or the next
	 * tx(). */
	uint8_t *(*tx)(struct tux_link *l, uint32_t handle, size_t *cap);

	/* The buffer that the last tx() gave, for the same @handle, holds @len
	 * bytes from our address @from to @to, to leave with @ecn
	 * (TUX_ECN_*). */
	void (*send)(struct tux_link *l, uint32_t handle, size_t len,
		     const struct tux_addr *to, const struct tux_addr *from,
		     uint8_t ecn);

	/* Hands what was sent to the kernel.  What that has no room for stays;
	 * what it refuses is dropped, as networks do. */
	void (*flush)(struct tux_link *l);

	/* Also receives what comes to @local, where a TCP listener is; @v6only
	 * as that socket has it, @v4 for one of family AF_INET.  The source's
	 * number, or a reason, negated. */
	int (*listen)(struct tux_link *l, const struct tux_addr *local, bool v4,
		      bool v6only);
	void (*unlisten)(struct tux_link *l, unsigned source);

	/* A connection between @local and @peer wants to travel; both have the
	 * number of the active end's TCP port, as in send().  0 with
	 * *@handle set; 1: not yet known, `changed` will be set; a reason,
	 * negated, which may be another one once `changed` is set. */
	int (*admit)(struct tux_link *l, const struct tux_addr *local,
		     const struct tux_addr *peer, uint32_t *handle,
		     tux_time now);
	void (*leave)(struct tux_link *l, uint32_t handle, tux_time now);

	/* An authentic datagram of its connection has come from @queue, as in
	 * struct tux_dgram. */
	void (*heard)(struct tux_link *l, uint32_t handle, int queue);

	/* Why nothing can go there now; TUX_REASON_NONE. */
	enum tux_reason (*closed)(const struct tux_link *l, uint32_t handle);

	/* The longest datagram there. */
	uint32_t (*mtu)(const struct tux_link *l, uint32_t handle);

	void (*tick)(struct tux_link *l, tux_time now);

	/* At the end, when nobody drives any more: says how things stand. */
	void (*count)(struct tux_link *l);
};

#endif
