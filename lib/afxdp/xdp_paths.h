/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp_paths - a loop's link over AF_XDP, and what it knows of the stack's paths
 *
 * The loops of a stack share one path manager, the slow side, under its latch.  Each
 * link has a copy of what it needs for a datagram: whether the interface is ours and
 * up, and of each of its flows whether packets can go, and where.  A copy is renewed
 * when the path manager has news, in the loop's next turn.
 */
#ifndef TUX_AFXDP_XDP_PATHS_H
#define TUX_AFXDP_XDP_PATHS_H

#include "afxdp/paths.h"
#include "afxdp/queues.h"
#include "link/link.h"

/* What a link knows of a flow that its loop sends by. */
struct tux_xdp_flow {
	uint32_t news;			/* paths->news when the rest was copied; 0: it
					 * was not */
	uint16_t queue;			/* of the last authentic packet that the loop
					 * received */
	uint8_t closed;			/* enum tux_reason: nothing can go there */
	uint8_t mac[TUX_ETH_MAC];	/* of the next hop */
};

struct tux_xdp {
	struct tux_link link;
	struct tux_link *udp;		/* the first loop's socket */
	bool asked;			/* epoll tells of the socket */
	unsigned used;			/* datagrams that it has carried, and that the
					 * path manager has not been told of */
	struct tux_paths *paths;	/* the stack's */
	struct tux_paths own;		/* the same, in the first loop's link only */
	int epfd;
	uint64_t tag;
	int fd;				/* an eventfd, which wakes the loop; -1 in the
					 * first loop's link, which nic.fd wakes */
	struct tux_queues queues;
	uint32_t news;			/* paths->news when these were copied: */
	bool on;			/* the interface is taken */
	bool up;			/* it can send */
	uint8_t mac[TUX_ETH_MAC];	/* its own address */
	const struct tux_xdp_flow *flow;	/* of the datagram that is being built;
					 * NULL: it goes by the socket, */
	bool lost;			/* or nowhere */
	uint8_t scrap[TUX_QUEUES_BUF];
	struct tux_dgram dgram[TUX_LINK_BATCH];
	struct tux_xdp_flow at[TUX_FLOWS];	/* by the handles of flows */
};

static inline struct tux_xdp *tux_xdp_of(struct tux_link *l)
{
	return (struct tux_xdp *)(void *)l;
}

static inline const struct tux_xdp *tux_xdp_const(const struct tux_link *l)
{
	return (const struct tux_xdp *)(const void *)l;
}

/* Is it the first loop's? */
static inline bool tux_xdp_is_first(const struct tux_xdp *x)
{
	return x->paths == &x->own;
}

/* Opens the path manager, or uses that of @o->first.  @x has its epfd, tag and socket,
 * and its fd is -1.  -errno. */
int tux_xdp_paths_open(struct tux_xdp *x, const struct tux_link_opts *o);

/* Puts the loop's queues back, and closes the path manager if that is its own. */
void tux_xdp_paths_close(struct tux_xdp *x);

/* Follows what the other loops have changed, and how the queues are assigned. */
void tux_xdp_look(struct tux_xdp *x);

/* epoll has named @what: TUX_PATHS_NEIGH, or TUX_PATHS_NIC, which in the links of other
 * loops is their own fd. */
void tux_xdp_event(struct tux_xdp *x, unsigned what, tux_time now);

/* The socket has carried @n datagrams, both ways.  False: another loop has the latch; tell
 * it later. */
bool tux_xdp_udp_used(struct tux_xdp *x, unsigned n, tux_time now);

/* The flow of @handle, if its packets leave by the interface now; else NULL. */
const struct tux_xdp_flow *tux_xdp_flow(struct tux_xdp *x, uint32_t handle);

/* As in struct tux_link_ops. */
unsigned tux_xdp_loops_max(const struct tux_link *l);
void tux_xdp_join(struct tux_link *l);
int tux_xdp_admit(struct tux_link *l, const struct tux_addr *local,
		  const struct tux_addr *peer, uint32_t *handle, tux_time now);
void tux_xdp_leave(struct tux_link *l, uint32_t handle, tux_time now);
void tux_xdp_heard(struct tux_link *l, uint32_t handle, int queue);
enum tux_reason tux_xdp_closed(const struct tux_link *l, uint32_t handle);
uint32_t tux_xdp_mtu(const struct tux_link *l, uint32_t handle);
void tux_xdp_tick(struct tux_link *l, tux_time now);

#endif
