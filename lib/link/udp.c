/* SPDX-License-Identifier: BSD-2-Clause */
#include "link/udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>

#include "base/latch.h"
#include "sys/area.h"
#include "sys/fd.h"
#include "sys/name.h"
#include "sys/sys.h"
#include "sys/take.h"
#include "wire/reason.h"

enum {
	LISTENERS = 256,
	/* The longest datagram of IPv4, 65507 bytes, fits.  The odd line more
	 * keeps the fronts of buffers from sharing one cache set. */
	BUF = 65536 + 64,
	SOCKET_BUF = 8 << 20,
};

struct listener {
	struct tux_latch latch;	/* so that unlisten() never closes under rx() */
	int fd;			/* -1: free */
};

union control {			/* our own address, for what leaves; ECN */
	struct cmsghdr align;
	char space[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
		   CMSG_SPACE(sizeof(int))];
};

struct queue {			/* one batch */
	struct mmsghdr msg[TUX_LINK_BATCH];
	struct iovec iov[TUX_LINK_BATCH];
	union tux_name name[TUX_LINK_BATCH];
	union control control[TUX_LINK_BATCH];
	uint8_t *mem;
};

struct udp {
	struct tux_link link;
	int fd, family;
	int epfd;
	uint64_t tag;
	struct queue in, out;
	struct tux_dgram dgram[TUX_LINK_BATCH];
	unsigned first, n;	/* of out: not yet with the kernel */
	struct listener listener[LISTENERS];
};

static struct udp *udp_of(struct tux_link *l)
{
	return (struct udp *)(void *)l;
}

/* ---- sockets ---- */

static void udp_set(int fd, int level, int name, int v)
{
	tux_sys_setsockopt(fd, level, name, &v, sizeof(v));
}

/* More than the administrator's limit takes privilege; else that limit. */
static void set_buffers(int fd)
{
	udp_set(fd, SOL_SOCKET, SO_RCVBUF, SOCKET_BUF);
	udp_set(fd, SOL_SOCKET, SO_RCVBUFFORCE, SOCKET_BUF);
	udp_set(fd, SOL_SOCKET, SO_SNDBUF, SOCKET_BUF);
	udp_set(fd, SOL_SOCKET, SO_SNDBUFFORCE, SOCKET_BUF);
}

/* No fragments, whatever length; what the kernel believes of the path, which ICMP
 * may have told it, is no reason to refuse any.  One of IPv6 sends both kinds. */
static void never_fragment(int fd, int family)
{
	udp_set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	if (family == AF_INET6)
		udp_set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
			IPV6_PMTUDISC_PROBE);
}

static int bound_socket(int family, const struct tux_addr *at, bool v6only)
{
	union tux_name name;
	socklen_t len = tux_name_put(&name, at, family);
	int fd, err;

	fd = tux_sys_socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			    0);
	if (fd < 0)
		return fd;
	if (family == AF_INET6)
		udp_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, v6only);
	never_fragment(fd, family);
	err = tux_sys_bind(fd, &name, len);
	if (err < 0) {
		tux_sys_close(fd);
		return err;
	}
	return tux_fd_lift(fd);
}

static int udp_watch(struct udp *u, int fd, unsigned source)
{
	struct epoll_event e = {
		.events = EPOLLIN, .data.u64 = u->tag + source
	};

	return tux_sys_epoll_ctl(u->epfd, EPOLL_CTL_ADD, fd, &e);
}

/* ---- opening and closing ---- */

static int udp_open_queue(struct udp *u)
{
	static const struct tux_addr any;
	union tux_name name;
	socklen_t len = sizeof(name);
	struct tux_addr at;
	int err;

	/* One socket of IPv6 serves IPv4 as well, where there is IPv6. */
	u->family = AF_INET6;
	u->fd = bound_socket(AF_INET6, &any, false);
	if (u->fd < 0) {
		u->family = AF_INET;
		u->fd = bound_socket(AF_INET, &any, false);
	}
	if (u->fd < 0)
		return u->fd;
	set_buffers(u->fd);
	udp_set(u->fd, IPPROTO_IP, IP_RECVTOS, 1);
	if (u->family == AF_INET6)
		udp_set(u->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
	err = tux_sys_getsockname(u->fd, &name, &len);
	if (!err)
		err = tux_name_get(&at, &name);
	u->link.fd[0] = u->fd;
	u->link.fd_n = 1;
	u->link.port = err ? 0 : at.port;
	return err;
}

static int init_queue(struct queue *q)
{
	unsigned i;
	int err;

	err = tux_area_map((void **)&q->mem, (size_t)TUX_LINK_BATCH * BUF,
			   TUX_AREA_OWN);
	if (err)
		return err;
	for (i = 0; i < TUX_LINK_BATCH; i++) {
		struct msghdr *h = &q->msg[i].msg_hdr;

		q->iov[i].iov_base = q->mem + (size_t)i * BUF;
		q->iov[i].iov_len = BUF;
		h->msg_iov = &q->iov[i];
		h->msg_iovlen = 1;
		h->msg_name = &q->name[i];
		h->msg_namelen = sizeof(q->name[i]);
		h->msg_control = &q->control[i];
		h->msg_controllen = sizeof(q->control[i]);
	}
	return 0;
}

static void udp_forked(struct tux_link *l)
{
	struct udp *u = udp_of(l);
	unsigned i;

	tux_fd_close(u->fd);
	for (i = 0; i < LISTENERS; i++)
		tux_fd_close(u->listener[i].fd);
}

static void udp_close(struct tux_link *l)
{
	struct udp *u = udp_of(l);

	udp_forked(l);
	tux_area_unmap(u->in.mem, (size_t)TUX_LINK_BATCH * BUF);
	tux_area_unmap(u->out.mem, (size_t)TUX_LINK_BATCH * BUF);
	tux_area_unmap(u, sizeof(*u));
}

static int udp_open(struct tux_link **lp, const struct tux_link_opts *o,
		    int epfd, uint64_t tag)
{
	struct udp *u;
	unsigned i;
	int err;

	(void)o;
	/* Private, so that a child still finds what it has to close. */
	err = tux_area_map((void **)&u, sizeof(*u), TUX_AREA_PRIVATE);
	if (err)
		return err;
	u->link.ops = &tux_udp;
	u->link.due_at = TUX_NEVER;
	u->epfd = epfd;
	u->tag = tag;
	u->fd = -1;
	for (i = 0; i < LISTENERS; i++)
		u->listener[i].fd = -1;
	err = init_queue(&u->in);
	if (!err)
		err = init_queue(&u->out);
	if (!err)
		err = udp_open_queue(u);
	if (err) {
		udp_close(&u->link);
		return err;
	}
	*lp = &u->link;
	return 0;
}

/* ---- receiving ---- */

/* What the kernel says of the datagram beside its bytes; IPv4's is one byte. */
static uint8_t ecn_of(struct msghdr *h)
{
	const struct cmsghdr *m = CMSG_FIRSTHDR(h);
	int class = 0;

	if (!m)
		return TUX_ECN_NONE;
	if (m->cmsg_level == IPPROTO_IP && m->cmsg_type == IP_TOS)
		class = *CMSG_DATA(m);
	else if (m->cmsg_level == IPPROTO_IPV6 && m->cmsg_type == IPV6_TCLASS)
		memcpy(&class, CMSG_DATA(m), sizeof(class));
	return class & TUX_ECN_MASK;
}

static unsigned udp_receive(struct udp *u, int fd)
{
	struct queue *q = &u->in;
	int i, n;

	n = tux_sys_recvmmsg(fd, q->msg, TUX_LINK_BATCH, MSG_DONTWAIT);
	if (n < 0)
		return 0;
	for (i = 0; i < n; i++) {
		struct msghdr *h = &q->msg[i].msg_hdr;
		struct tux_dgram *d = &u->dgram[i];

		d->p = q->iov[i].iov_base;
		d->len = q->msg[i].msg_len;
		d->ecn = ecn_of(h);
		h->msg_namelen = sizeof(q->name[i]);
		h->msg_controllen = sizeof(q->control[i]);
		if (tux_name_get(&d->from, &q->name[i]))
			d->len = 0;
	}
	return (unsigned)n;
}

static unsigned udp_rx(struct tux_link *l, unsigned source,
		       const struct tux_dgram **d, tux_time now)
{
	struct udp *u = udp_of(l);
	struct listener *from;
	unsigned n = 0;

	(void)now;
	*d = u->dgram;
	if (!source)
		return udp_receive(u, u->fd);
	if (source > LISTENERS)
		return 0;
	from = &u->listener[source - 1];
	tux_latch_take(&from->latch);
	if (from->fd >= 0)
		n = udp_receive(u, from->fd);
	tux_latch_drop(&from->latch);
	return n;
}

/* ---- sending ---- */

static uint8_t *udp_tx(struct tux_link *l, size_t *cap)
{
	struct udp *u = udp_of(l);

	if (u->n == TUX_LINK_BATCH)
		return NULL;
	*cap = BUF;
	return u->out.iov[u->n].iov_base;
}

/* Which of our addresses it leaves from: the connection's, whatever routing
 * would choose. */
static struct cmsghdr *put_source(struct cmsghdr *m, int family,
				  const struct tux_addr *from)
{
	if (family == AF_INET6) {
		struct in6_pktinfo *info = (void *)CMSG_DATA(m);

		memcpy(&info->ipi6_addr, from->ip, 16);
		m->cmsg_level = IPPROTO_IPV6;
		m->cmsg_type = IPV6_PKTINFO;
		m->cmsg_len = CMSG_LEN(sizeof(*info));
	} else {
		struct in_pktinfo *info = (void *)CMSG_DATA(m);

		memcpy(&info->ipi_spec_dst, from->ip + 12, 4);
		m->cmsg_level = IPPROTO_IP;
		m->cmsg_type = IP_PKTINFO;
		m->cmsg_len = CMSG_LEN(sizeof(*info));
	}
	return (void *)((char *)m + CMSG_ALIGN(m->cmsg_len));
}

/* With the datagram, for a socket's option would take a system call each time
 * that it changes.  A socket of IPv6 takes IPv4's for IPv4. */
static struct cmsghdr *put_ecn(struct cmsghdr *m, bool v4, int ecn)
{
	memcpy(CMSG_DATA(m), &ecn, sizeof(ecn));
	m->cmsg_level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
	m->cmsg_type = v4 ? IP_TOS : IPV6_TCLASS;
	m->cmsg_len = CMSG_LEN(sizeof(ecn));
	return (void *)((char *)m + CMSG_ALIGN(m->cmsg_len));
}

static void udp_send(struct tux_link *l, size_t len, const struct tux_addr *to,
		     const struct tux_addr *from, uint8_t ecn)
{
	struct udp *u = udp_of(l);
	struct msghdr *h = &u->out.msg[u->n].msg_hdr;
	union control *c = &u->out.control[u->n];
	struct cmsghdr *m = &c->align;
	bool v4 = tux_addr_is_v4(to);

	if (u->family == AF_INET && !v4)
		return;
	h->msg_namelen = tux_name_put(&u->out.name[u->n], to, u->family);
	u->out.iov[u->n].iov_len = len;
	memset(c, 0, sizeof(*c));
	m = put_source(m, u->family, from);
	if (ecn)
		m = put_ecn(m, v4, ecn);
	h->msg_controllen = (size_t)((char *)m - c->space);
	u->n++;
}

static void udp_flush(struct tux_link *l)
{
	struct udp *u = udp_of(l);

	l->blocked = false;
	while (u->first < u->n) {
		int k = tux_sys_sendmmsg(u->fd, u->out.msg + u->first,
					 u->n - u->first, MSG_DONTWAIT);

		if (k == -EAGAIN) {
			l->blocked = true;
			return;
		}
		/* An error is the first datagram's; the others may go. */
		if (k != -EINTR)
			u->first += k > 0 ? (unsigned)k : 1;
	}
	u->first = u->n = 0;
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
	int fd, source, err;

	fd = bound_socket(v4 ? AF_INET : AF_INET6, local, v6only);
	if (fd < 0)
		return udp_reason_of(fd);
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
};
