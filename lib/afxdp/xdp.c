/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/xdp.h"

#include <string.h>

#include "afxdp/paths.h"
#include "handshake/announce.h"
#include "sys/area.h"
#include "sys/sys.h"
#include "udp/udp.h"
#include "wire/eth.h"
#include "wire/wire.h"

enum {
	BUF = TUX_UMEM_CHUNK - TUX_ETH_ROOM,
	BARE = TUX_PKT_HDR + TUX_REC_HDR,	/* a datagram that only asks, or
						 * acknowledges */
};

struct xdp {
	struct tux_link link;
	struct tux_link *udp;		/* the socket */
	bool asked;			/* epoll tells of the socket */
	unsigned sent;			/* over it, since the last rx() */
	struct tux_paths paths;
	uint32_t first;			/* queue to look at first */
	uint32_t queue;			/* of `frame` */
	uint16_t frame;			/* being built in, or TUX_UMEM_NONE */
	const struct tux_flow *flow;	/* of the datagram that is being built;
					 * NULL: it goes by the socket */
	bool lost;			/* ... or nowhere */
	bool queues;			/* the interface's are the way */
	uint8_t scrap[BUF];
	struct tux_dgram dgram[TUX_LINK_BATCH];
};

static struct xdp *xdp_of(struct tux_link *l)
{
	return (struct xdp *)(void *)l;
}

/* Those beyond TUX_LINK_FDS are in the epoll instance: see paths.c. */
static void sleep_on_queues(struct xdp *x)
{
	unsigned i, n = x->paths.nic.n;

	x->sent = 0;
	if (n > TUX_LINK_FDS)
		n = TUX_LINK_FDS;
	for (i = 0; i < n; i++)
		x->link.fd[i] = x->paths.nic.xsk[i].fd;
	x->link.fd_n = n;
}

static void sleep_on_socket(struct xdp *x)
{
	x->link.fd[0] = x->udp->fd[0];
	x->link.fd_n = 1;
	x->frame = TUX_UMEM_NONE;
}

/* While the queues bring the datagrams, no turn asks the socket by itself. */
static void ask_epoll(struct xdp *x, bool yes)
{
	struct epoll_event e = {
		.events = EPOLLIN, .data.u64 = x->paths.tag + TUX_PATHS_SOCKET,
	};

	if (yes != x->asked)
		tux_sys_epoll_ctl(x->paths.epfd, yes ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
				  x->udp->fd[0], &e);
	x->asked = yes;
}

/* Copies to the link what the loop reads there. */
static void xdp_follow(struct xdp *x)
{
	bool on = tux_paths_on(&x->paths);
	bool settled = x->paths.nic.state != TUX_NIC_BUSY;

	x->link.due_at = tux_time_min(x->paths.due_at, x->udp->due_at);
	x->link.changed |= x->paths.changed;
	x->paths.changed = false;
	/* Until the program is off the interface, it still takes what comes. */
	if (settled && on != x->queues) {
		x->queues = on;
		x->link.way++;
		x->link.changed = true;
	}
	ask_epoll(x, on);
	if (on)
		sleep_on_queues(x);
	else
		sleep_on_socket(x);
}

/* ---- opening and closing ---- */

static void xdp_close(struct tux_link *l)
{
	struct xdp *x = xdp_of(l);

	tux_paths_fini(&x->paths);
	x->udp->ops->close(x->udp);
	tux_area_unmap(x, sizeof(*x));
}

static int xdp_open_both(struct xdp *x, const struct tux_link_opts *o, int epfd,
			 uint64_t tag)
{
	int err = tux_udp.open(&x->udp, o, epfd, tag);

	if (err)
		return err;
	err = tux_paths_init(&x->paths, epfd, tag, o, x->udp->port);
	if (err)
		x->udp->ops->close(x->udp);
	return err;
}

static int xdp_open(struct tux_link **lp, const struct tux_link_opts *o,
		    int epfd, uint64_t tag)
{
	struct xdp *x;
	int err;

	/* Private, so that a child still finds what it has to close. */
	err = tux_area_map((void **)&x, sizeof(*x), TUX_AREA_PRIVATE);
	if (err)
		return err;
	x->link.ops = &tux_xdp;
	x->link.bypass = true;
	x->link.pkt_max = TUX_NIC_MTU - TUX_ETH_V4_HDRS;
	x->frame = TUX_UMEM_NONE;
	err = xdp_open_both(x, o, epfd, tag);
	if (err) {
		tux_area_unmap(x, sizeof(*x));
		return err;
	}
	x->link.port = x->udp->port;
	xdp_follow(x);
	*lp = &x->link;
	return 0;
}

static void xdp_forked(struct tux_link *l)
{
	struct xdp *x = xdp_of(l);

	tux_paths_forked(&x->paths);
	x->udp->ops->forked(x->udp);
}

/* ---- receiving ---- */

static unsigned xdp_receive(struct xdp *x, uint32_t queue, unsigned n)
{
	struct tux_xsk_frame f[TUX_XSK_BATCH];
	unsigned i, got;

	got = tux_xsk_rx(&x->paths.nic.xsk[queue], f, TUX_LINK_BATCH - n);
	for (i = 0; i < got; i++) {
		struct tux_dgram *d = &x->dgram[n];
		struct tux_eth_view v;

		if (tux_eth_parse(&v, f[i].p, f[i].len))
			continue;
		*d = (struct tux_dgram){
			.from = v.from, .p = v.p, .len = v.len, .ecn = v.ecn,
			.queue = (int)queue,
		};
		n++;
	}
	return n;
}

static unsigned receive_all(struct xdp *x)
{
	uint32_t i, queues = x->paths.nic.n;
	unsigned n = 0;

	for (i = 0; i < queues && n < TUX_LINK_BATCH; i++)
		n = xdp_receive(x, (x->first + i) % queues, n);
	if (n == TUX_LINK_BATCH)
		x->first = (x->first + i) % queues;
	return n;
}

/* How many of the @n datagrams at @d bring more than a question or an
 * acknowledgment?  The others ask for no interface: when it is given back, each pair
 * of loops sends some. */
static unsigned carrying(const struct tux_dgram *d, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += d[i].len > BARE;
	return sum;
}

static unsigned xdp_rx(struct tux_link *l, unsigned source,
		       const struct tux_dgram **d, tux_time now)
{
	struct xdp *x = xdp_of(l);
	unsigned n = 0;

	*d = x->dgram;
	if (source == TUX_PATHS_PACKETS && tux_paths_on(&x->paths))
		return receive_all(x);
	if (source == TUX_PATHS_PACKETS || source == TUX_PATHS_SOCKET) {
		n = x->udp->ops->rx(x->udp, 0, d, now);
		tux_paths_udp_used(&x->paths, carrying(*d, n) + x->sent, now);
		x->sent = 0;
	} else {
		tux_paths_event(&x->paths, source, now);
	}
	xdp_follow(x);
	return n;
}

/* ---- sending ---- */

static uint8_t *payload(struct xdp *x, uint32_t queue, uint16_t frame)
{
	return tux_umem_at(&x->paths.nic.xsk[queue].umem, frame) + TUX_ETH_ROOM;
}

/* The flow of @handle, if its packets leave by the interface now; else NULL. */
static struct tux_flow *xdp_flow(struct xdp *x, uint32_t handle)
{
	struct tux_flow *f;

	if (handle == TUX_LINK_NO_FLOW || !tux_paths_on(&x->paths))
		return NULL;
	f = &x->paths.flows.at[handle];
	return tux_paths_closed(&x->paths, f) ? NULL : f;
}

/* A frame of @queue to build in.  One that was taken and not sent is built in
 * again, or goes back. */
static uint16_t frame_of(struct xdp *x, uint32_t queue)
{
	if (x->frame != TUX_UMEM_NONE && x->queue == queue)
		return x->frame;
	if (x->frame != TUX_UMEM_NONE)
		tux_umem_pass(&x->paths.nic.xsk[x->queue].umem, x->frame,
			      TUX_UMEM_BUILT, TUX_UMEM_FREE);
	x->queue = queue;
	x->frame = tux_xsk_build(&x->paths.nic.xsk[queue]);
	return x->frame;
}

/* While the socket has no room, what goes by it is lost, as networks do: it must
 * not hold up what goes by the interface. */
static uint8_t *socket_buffer(struct xdp *x, size_t *cap)
{
	const struct tux_link_ops *udp = x->udp->ops;
	uint8_t *p = udp->tx(x->udp, TUX_LINK_NO_FLOW, cap);

	if (p || !tux_paths_on(&x->paths))
		return p;
	udp->flush(x->udp);
	p = udp->tx(x->udp, TUX_LINK_NO_FLOW, cap);
	if (p)
		return p;
	x->lost = true;
	*cap = sizeof(x->scrap);
	return x->scrap;
}

static uint8_t *xdp_tx(struct tux_link *l, uint32_t handle, size_t *cap)
{
	struct xdp *x = xdp_of(l);

	x->flow = xdp_flow(x, handle);
	/* What has a flow, and cannot leave by it, goes by the socket only if
	 * UDP sockets carry what AF_XDP does not. */
	x->lost = !x->flow && handle != TUX_LINK_NO_FLOW && !x->paths.mixed;
	if (!x->flow)
		return socket_buffer(x, cap);
	*cap = BUF;
	if (frame_of(x, x->flow->queue) == TUX_UMEM_NONE)
		return NULL;
	return payload(x, x->queue, x->frame);
}

static void xdp_send(struct tux_link *l, uint32_t handle, size_t len,
		     const struct tux_addr *to, const struct tux_addr *from,
		     uint8_t ecn)
{
	struct xdp *x = xdp_of(l);
	struct tux_eth_macs m;
	size_t head;

	if (x->lost)
		return;
	if (!x->flow) {
		x->udp->ops->send(x->udp, handle, len, to, from, ecn);
		x->sent += len > BARE;
		return;
	}
	memcpy(m.to, x->paths.neigh.hop[x->flow->hop].mac, sizeof(m.to));
	memcpy(m.from, x->paths.iface.mac, sizeof(m.from));
	head = tux_eth_build(payload(x, x->queue, x->frame), len, &m, from, to,
			     ecn);
	tux_xsk_send(&x->paths.nic.xsk[x->queue], x->frame, TUX_ETH_ROOM - head,
		     head + len);
	x->frame = TUX_UMEM_NONE;
}

static void xdp_flush(struct tux_link *l)
{
	struct xdp *x = xdp_of(l);
	uint32_t i;

	x->udp->ops->flush(x->udp);
	l->blocked = x->udp->blocked;
	if (!tux_paths_on(&x->paths) || !x->paths.iface.up)
		return;
	for (i = 0; i < x->paths.nic.tx_n; i++)
		if (tux_xsk_kick(&x->paths.nic.xsk[i]))
			l->blocked = true;
}

/* ---- connections ---- */

/* Can the kernel carry to the peer what the interface cannot, for @why? */
static bool socket_helps(const struct xdp *x, enum tux_reason why)
{
	switch (why) {
	case TUX_REASON_LINK_DOWN:
	case TUX_REASON_ENCAPSULATED:
		return false;
	case TUX_REASON_OTHER_INTERFACE:
		return x->paths.mixed && !*x->paths.ifname;
	default:
		return x->paths.mixed;
	}
}

static int xdp_admit(struct tux_link *l, const struct tux_addr *local,
		     const struct tux_addr *peer, uint32_t *handle,
		     tux_time now)
{
	struct xdp *x = xdp_of(l);
	struct tux_flow *f;
	int r;

	r = tux_paths_admit(&x->paths, local, peer, &f, now);
	xdp_follow(x);
	*handle = TUX_LINK_NO_FLOW;
	if (r < 0 && socket_helps(x, (enum tux_reason)-r))
		return 0;
	if (r)
		return r;
	*handle = (uint32_t)(f - x->paths.flows.at);
	return 0;
}

static void xdp_leave(struct tux_link *l, uint32_t handle, tux_time now)
{
	struct xdp *x = xdp_of(l);

	if (handle == TUX_LINK_NO_FLOW)
		return;
	tux_paths_leave(&x->paths, &x->paths.flows.at[handle], now);
	xdp_follow(x);
}

/* The connection's packets leave where they come from, if that can send. */
static void xdp_heard(struct tux_link *l, uint32_t handle, int queue)
{
	struct xdp *x = xdp_of(l);

	if (handle == TUX_LINK_NO_FLOW || queue < 0)
		return;
	if ((uint32_t)queue >= x->paths.nic.tx_n)
		queue = 0;
	x->paths.flows.at[handle].queue = (uint16_t)queue;
}

static enum tux_reason xdp_closed(const struct tux_link *l, uint32_t handle)
{
	const struct xdp *x = (const struct xdp *)(const void *)l;
	enum tux_reason why;

	if (handle == TUX_LINK_NO_FLOW)
		return TUX_REASON_NONE;
	why = tux_paths_closed(&x->paths, &x->paths.flows.at[handle]);
	return socket_helps(x, why) ? TUX_REASON_NONE : why;
}

static uint32_t xdp_mtu(const struct tux_link *l, uint32_t handle)
{
	const struct xdp *x = (const struct xdp *)(const void *)l;

	if (handle == TUX_LINK_NO_FLOW)
		return x->link.pkt_max;
	return tux_paths_mtu(&x->paths, &x->paths.flows.at[handle]);
}

static void xdp_tick(struct tux_link *l, tux_time now)
{
	struct xdp *x = xdp_of(l);

	if (now >= x->udp->due_at)
		x->udp->ops->tick(x->udp, now);
	if (now >= x->paths.due_at)
		tux_paths_tick(&x->paths, now);
	xdp_follow(x);
}

static void xdp_count(struct tux_link *l)
{
	tux_paths_count(&xdp_of(l)->paths);
}

const struct tux_link_ops tux_xdp = {
	.announce = tux_announce_open,
	.open = xdp_open,
	.close = xdp_close,
	.forked = xdp_forked,
	.rx = xdp_rx,
	.tx = xdp_tx,
	.send = xdp_send,
	.flush = xdp_flush,
	.admit = xdp_admit,
	.leave = xdp_leave,
	.heard = xdp_heard,
	.closed = xdp_closed,
	.mtu = xdp_mtu,
	.tick = xdp_tick,
	.count = xdp_count,
};
