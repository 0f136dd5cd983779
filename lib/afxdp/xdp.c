/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/xdp.h"

#include <string.h>

#include "afxdp/xdp_paths.h"
#include "handshake/announce.h"
#include "sys/area.h"
#include "sys/fd.h"
#include "udp/udp.h"
#include "wire/eth.h"
#include "wire/wire.h"

enum {
	BARE = TUX_PKT_HDR + TUX_REC_HDR,	/* a datagram that only asks, or
						 * acknowledges */
	REST_S = 1,		/* the socket's link is asked after so long */
};

/* ---- opening and closing ---- */

static void xdp_close(struct tux_link *l)
{
	struct tux_xdp *x = tux_xdp_of(l);

	tux_xdp_paths_close(x);
	x->udp->ops->close(x->udp);
	tux_area_unmap(x, sizeof(*x));
}

/* All loops of a stack send by one socket, so they have one port. */
static int open_socket(struct tux_xdp *x, const struct tux_link_opts *o)
{
	struct tux_link_opts shared = *o;

	if (o->first)
		shared.queue = tux_udp_queue(tux_xdp_of(o->first)->udp);
	return tux_udp.open(&x->udp, &shared, x->epfd, x->tag);
}

static int xdp_open_both(struct tux_xdp *x, const struct tux_link_opts *o)
{
	int err = open_socket(x, o);

	if (err)
		return err;
	err = tux_xdp_paths_open(x, o);
	if (err)
		x->udp->ops->close(x->udp);
	return err;
}

static int xdp_open(struct tux_link **lp, const struct tux_link_opts *o,
		    int epfd, uint64_t tag)
{
	struct tux_xdp *x;
	int err;

	/* Private, so that a child still finds what it has to close. */
	err = tux_area_map((void **)&x, sizeof(*x), TUX_AREA_PRIVATE);
	if (err)
		return err;
	x->link.ops = &tux_xdp;
	x->link.bypass = true;
	x->link.pkt_max = TUX_NIC_MTU - TUX_ETH_V4_HDRS;
	x->epfd = epfd;
	x->tag = tag;
	x->fd = -1;
	err = xdp_open_both(x, o);
	if (err) {
		tux_area_unmap(x, sizeof(*x));
		return err;
	}
	x->link.port = x->udp->port;
	*lp = &x->link;
	return 0;
}

static void xdp_forked(struct tux_link *l)
{
	struct tux_xdp *x = tux_xdp_of(l);

	if (tux_xdp_is_first(x))
		tux_paths_forked(&x->own);
	tux_fd_close(x->fd);
	x->udp->ops->forked(x->udp);
}

static void xdp_count(struct tux_link *l)
{
	struct tux_xdp *x = tux_xdp_of(l);

	if (tux_xdp_is_first(x))
		tux_paths_count(&x->own);
}

/* ---- receiving ---- */

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

/* The first loop receives for all. */
static unsigned receive_by_socket(struct tux_xdp *x, const struct tux_dgram **d,
				  tux_time now)
{
	unsigned n = 0;

	if (tux_xdp_is_first(x))
		n = x->udp->ops->rx(x->udp, 0, d, now);
	/* What only sends gives memory back, too. */
	else if (x->used && x->udp->due_at == TUX_NEVER)
		x->udp->due_at = tux_time_add(now, TUX_SEC(REST_S));
	x->used += carrying(*d, n);
	if ((n || x->used) && tux_xdp_udp_used(x, x->used, now))
		x->used = 0;
	return n;
}

static unsigned receive_by_queues(struct tux_xdp *x, const struct tux_dgram **d,
				  tux_time now)
{
	tux_xdp_look(x);
	if (x->queues.n)
		return tux_queues_rx(&x->queues, x->dgram);
	return receive_by_socket(x, d, now);
}

static unsigned xdp_rx(struct tux_link *l, unsigned source,
		       const struct tux_dgram **d, tux_time now)
{
	struct tux_xdp *x = tux_xdp_of(l);

	*d = x->dgram;
	if (source == TUX_PATHS_PACKETS)
		return receive_by_queues(x, d, now);
	if (source == TUX_PATHS_SOCKET)
		return receive_by_socket(x, d, now);
	tux_xdp_event(x, source, now);
	return 0;
}

/* ---- sending ---- */

/* While the socket has no room, what goes by it is lost, as networks do: it must
 * not hold up what goes by the interface. */
static uint8_t *socket_buffer(struct tux_xdp *x, size_t *cap)
{
	const struct tux_link_ops *udp = x->udp->ops;
	uint8_t *p = udp->tx(x->udp, TUX_LINK_NO_FLOW, cap);

	if (p || !x->queues.n)
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
	struct tux_xdp *x = tux_xdp_of(l);

	x->flow = tux_xdp_flow(x, handle);
	/* What has a flow, and cannot leave by it, goes by the socket only if
	 * UDP sockets carry what AF_XDP does not. */
	x->lost = !x->flow && handle != TUX_LINK_NO_FLOW && !x->paths->mixed;
	if (!x->flow)
		return socket_buffer(x, cap);
	*cap = TUX_QUEUES_BUF;
	return tux_queues_tx(&x->queues,
			     tux_queues_near(&x->queues, x->flow->queue));
}

static void xdp_send(struct tux_link *l, uint32_t handle, size_t len,
		     const struct tux_addr *to, const struct tux_addr *from,
		     uint8_t ecn)
{
	struct tux_xdp *x = tux_xdp_of(l);
	struct tux_eth_macs m;

	if (x->lost)
		return;
	if (!x->flow) {
		x->udp->ops->send(x->udp, handle, len, to, from, ecn);
		x->used += !x->queues.n && len > BARE;
		return;
	}
	memcpy(m.to, x->flow->mac, sizeof(m.to));
	memcpy(m.from, x->mac, sizeof(m.from));
	tux_queues_send(&x->queues, len, &m, from, to, ecn);
}

static void xdp_flush(struct tux_link *l)
{
	struct tux_xdp *x = tux_xdp_of(l);

	x->udp->ops->flush(x->udp);
	l->blocked = x->udp->blocked;
	if (x->up && !tux_queues_flush(&x->queues))
		l->blocked = true;
}

const struct tux_link_ops tux_xdp = {
	.announce = tux_announce_open,
	.open = xdp_open,
	.close = xdp_close,
	.one_port = true,
	.loops_max = tux_xdp_loops_max,
	.join = tux_xdp_join,
	.forked = xdp_forked,
	.rx = xdp_rx,
	.tx = xdp_tx,
	.send = xdp_send,
	.flush = xdp_flush,
	.admit = tux_xdp_admit,
	.leave = tux_xdp_leave,
	.heard = tux_xdp_heard,
	.closed = tux_xdp_closed,
	.mtu = tux_xdp_mtu,
	.tick = tux_xdp_tick,
	.count = xdp_count,
};
