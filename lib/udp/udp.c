/* SPDX-License-Identifier: BSD-2-Clause */
#include "udp/udp.h"

#include <errno.h>
#include <netinet/in.h>

#include "base/latch.h"
#include "sys/area.h"
#include "sys/fd.h"
#include "sys/sys.h"
#include "sys/take.h"
#include "udp/udp_queue.h"
#include "udp/udp_rx.h"
#include "udp/udp_tx.h"
#include "wire/reason.h"

enum {
	LISTENERS = 256,
	REST_S = 1,	/* after so long, memory is given back */
};

struct listener {
	struct tux_latch latch;	/* so that unlisten() never closes under rx() */
	int fd;			/* -1: free */
};

struct udp {
	struct tux_link link;
	struct tux_udp_queue q;
	bool borrows;		/* q is another's, who closes it */
	bool joins;		/* UDP_GRO was asked for on q, maybe in vain */
	int epfd;
	uint64_t tag;
	tux_time came_at;	/* a datagram, last */
	struct tux_udp_rx in;
	struct tux_udp_tx out;
	struct listener listener[LISTENERS];
};

static struct udp *udp_of(struct tux_link *l)
{
	return (struct udp *)(void *)l;
}

static int udp_watch(struct udp *u, int fd, unsigned source)
{
	struct epoll_event e = {
		.events = EPOLLIN, .data.u64 = u->tag + source
	};

	return tux_sys_epoll_ctl(u->epfd, EPOLL_CTL_ADD, fd, &e);
}

const struct tux_udp_queue *tux_udp_queue(const struct tux_link *l)
{
	return &((const struct udp *)(const void *)l)->q;
}

/* ---- opening and closing ---- */

/* The queue is given, or else a new one. */
static int open_queue(struct udp *u, const struct tux_link_opts *o)
{
	int err = 0;

	if (o->queue)
		u->q = *o->queue;
	else
		err = tux_udp_queue_open(&u->q, o->port_low, o->port_high);
	if (err)
		return err;
	u->borrows = o->queue != NULL;
	tux_udp_queue_ready(&u->q);
	u->link.fd[0] = u->q.fd;
	u->link.fd_n = 1;
	u->link.port = u->q.port;
	return 0;
}

static void udp_forked(struct tux_link *l)
{
	struct udp *u = udp_of(l);
	unsigned i;

	if (!u->borrows)
		tux_fd_close(u->q.fd);
	for (i = 0; i < LISTENERS; i++)
		tux_fd_close(u->listener[i].fd);
}

static void udp_close(struct tux_link *l)
{
	struct udp *u = udp_of(l);

	udp_forked(l);
	tux_udp_rx_fini(&u->in);
	tux_udp_tx_fini(&u->out);
	tux_area_unmap(u, sizeof(*u));
}

static int udp_open(struct tux_link **lp, const struct tux_link_opts *o,
		    int epfd, uint64_t tag)
{
	struct udp *u;
	unsigned i;
	int err;

	/* Private, so that a child still finds what it has to close. */
	err = tux_area_map((void **)&u, sizeof(*u), TUX_AREA_PRIVATE);
	if (err)
		return err;
	u->link.ops = &tux_udp;
	u->link.due_at = TUX_NEVER;
	u->epfd = epfd;
	u->tag = tag;
	u->q.fd = -1;
	for (i = 0; i < LISTENERS; i++)
		u->listener[i].fd = -1;
	err = tux_udp_rx_init(&u->in);
	if (!err)
		err = tux_udp_tx_init(&u->out);
	if (!err)
		err = open_queue(u, o);
	if (err) {
		udp_close(&u->link);
		return err;
	}
	*lp = &u->link;
	return 0;
}

/* ---- receiving ---- */

/* UDP_GRO is switched on at the first bulk batch.  The first time on a host this
 * costs the kernel 200 us, which a loop without bulk never pays. */
static unsigned take_queue(struct udp *u, const struct tux_dgram **d)
{
	unsigned n = tux_udp_rx_take(&u->in, u->q.fd, d);

	if (!u->joins && tux_udp_rx_bulk(&u->in)) {
		tux_udp_rx_join(u->q.fd);
		u->joins = true;
	}
	return n;
}

static unsigned take_listener(struct udp *u, struct listener *from,
			      const struct tux_dgram **d)
{
	unsigned n = 0;

	tux_latch_take(&from->latch);
	if (from->fd >= 0)
		n = tux_udp_rx_take(&u->in, from->fd, d);
	tux_latch_drop(&from->latch);
	return n;
}

static unsigned udp_rx(struct tux_link *l, unsigned source,
		       const struct tux_dgram **d, tux_time now)
{
	struct udp *u = udp_of(l);
	unsigned n;

	if (source > LISTENERS)
		return 0;
	n = source ? take_listener(u, &u->listener[source - 1], d) :
		     take_queue(u, d);
	if (n) {
		u->came_at = now;
		if (l->due_at == TUX_NEVER && (u->in.large || u->out.large))
			l->due_at = tux_time_add(now, TUX_SEC(REST_S));
	}
	return n;
}

/* Gives back the memory of batches once there has been no large batch for a
 * while.  What came in this turn may still be in use. */
static void udp_tick(struct tux_link *l, tux_time now)
{
	struct udp *u = udp_of(l);

	if (u->in.large || u->out.large || u->came_at == now) {
		l->due_at = tux_time_add(now, TUX_SEC(REST_S));
		u->in.large = u->out.large = false;
	} else {
		l->due_at = TUX_NEVER;
		tux_udp_rx_drop(&u->in);
		tux_udp_tx_drop(&u->out);
	}
}

/* ---- sending ---- */

static uint8_t *udp_tx(struct tux_link *l, uint32_t handle, size_t *cap)
{
	(void)handle;
	return tux_udp_tx_buffer(&udp_of(l)->out, cap);
}

static void udp_send(struct tux_link *l, uint32_t handle, size_t len,
		     const struct tux_addr *to, const struct tux_addr *from,
		     uint8_t ecn)
{
	struct udp *u = udp_of(l);

	(void)handle;
	if (u->q.family == AF_INET && !tux_addr_is_v4(to))
		return;
	tux_udp_tx_put(&u->out, u->q.family, len, to, from, ecn);
}

static void udp_flush(struct tux_link *l)
{
	struct udp *u = udp_of(l);

	l->blocked = !tux_udp_tx_flush(&u->out, u->q.fd);
}

/* ---- listeners ---- */

static int udp_reason_of(int err)
{
	switch (err) {
	case -EADDRINUSE:
		return -TUX_REASON_PORT_TAKEN;
	case -EMFILE:
	case -ENFILE:
		return -TUX_REASON_NO_FD;
	case -ENOMEM:
	case -ENOBUFS:
	case -ENOSPC:
		return -TUX_REASON_NO_MEMORY;
	default:
		return -TUX_REASON_NOT_STARTED;
	}
}

static int claim_listener(struct udp *u, int fd)
{
	unsigned i;

	for (i = 0; i < LISTENERS; i++) {
		struct listener *s = &u->listener[i];
		bool mine = false;

		tux_latch_take(&s->latch);
		if (s->fd < 0) {
			s->fd = fd;
			mine = true;
		}
		tux_latch_drop(&s->latch);
		if (mine)
			return (int)i + 1;
	}
	return -ENOSPC;
}

static void udp_unlisten(struct tux_link *l, unsigned source)
{
	struct udp *u = udp_of(l);
	struct listener *s = &u->listener[source - 1];

	tux_latch_take(&s->latch);
	/* A child may hold the socket, too: then close() does not do this. */
	tux_sys_epoll_ctl(u->epfd, EPOLL_CTL_DEL, s->fd, NULL);
	tux_fd_close(s->fd);
	s->fd = -1;
	tux_latch_drop(&s->latch);
}

static int udp_listen(struct tux_link *l, const struct tux_addr *local, bool v4,
		      bool v6only)
{
	struct udp *u = udp_of(l);
	int family = v4 ? AF_INET : AF_INET6, fd, source, err;

	fd = tux_udp_bound(family, local, v6only);
	if (fd < 0)
		return udp_reason_of(fd);
	tux_udp_never_fragment(fd, family);
	source = claim_listener(u, fd);
	if (source < 0) {
		tux_fd_close(fd);
		return udp_reason_of(source);
	}
	err = udp_watch(u, fd, (unsigned)source);
	if (err) {
		udp_unlisten(l, (unsigned)source);
		return udp_reason_of(err);
	}
	return source;
}

const struct tux_link_ops tux_udp = {
	.open = udp_open,
	.close = udp_close,
	.forked = udp_forked,
	.rx = udp_rx,
	.tx = udp_tx,
	.send = udp_send,
	.flush = udp_flush,
	.listen = udp_listen,
	.unlisten = udp_unlisten,
	.tick = udp_tick,
};
