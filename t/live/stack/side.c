/* SPDX-License-Identifier: BSD-2-Clause */
#include "side.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/clock.h"
#include "sys/name.h"
#include "sys/take.h"

static void on_ready(void *user, struct tux_wakes *wakes)
{
	struct side *x = user;

	if (!atomic_exchange(&x->queued, 1))
		tux_waiter_ring_later(x->w, x->index, wakes);
}

static void on_decided(void *user, bool tux, enum tux_reason why)
{
	struct side *x = user;

	atomic_store(&x->tux, tux);
	atomic_store(&x->why, why);
	atomic_fetch_add(&x->decided, 1);
}

static void on_gone(void *user)
{
	struct side *x = user;

	on_ready(x, NULL);
	atomic_store(&x->gone, 1);
}

struct tux_stack *side_stack_as(const struct tux_stack_opts *o)
{
	struct tux_stack_opts own = *o;
	struct tux_stack *s = NULL;
	int err;

	own.ready = on_ready;
	own.decided = on_decided;
	own.gone = on_gone;
	err = tux_stack_new(&s, &own);
	assert(!err && "a stack can start without privilege");
	return err ? NULL : s;
}

struct tux_stack *side_stack(unsigned threads)
{
	struct tux_stack_opts o = {
		.ifname = "lo", .io = TUX_IO_UDP, .threads = threads,
	};

	return side_stack_as(&o);
}

static struct tux_addr name_of(int fd, int (*get)(int, struct sockaddr *,
						  socklen_t *))
{
	union tux_name n;
	socklen_t len = sizeof(n);
	struct tux_addr a = { .port = 0 };

	if (!get(fd, &n.sa, &len))
		tux_name_get(&a, &n);
	return a;
}

/* Not with the C library's prototypes, whose argument is a union. */
static int get_local(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getsockname(fd, sa, len);
}

static int get_peer(int fd, struct sockaddr *sa, socklen_t *len)
{
	return getpeername(fd, sa, len);
}

static const char loopback[] = "127.0.0.1";

/* The address of @ip, of either family, and @port in *@n; its length. */
static socklen_t name_at(union tux_name *n, const char *ip, uint16_t port)
{
	struct tux_addr a = { .ip = { [10] = 0xff, 0xff }, .port = port };
	bool v6 = strchr(ip, ':');
	int r = v6 ? inet_pton(AF_INET6, ip, a.ip) :
		     inet_pton(AF_INET, ip, a.ip + 12);

	assert(r == 1);
	(void)r;
	return tux_name_put(n, &a, v6 ? AF_INET6 : AF_INET);
}

static int listen_somewhere(struct tux_stack *s, const char *ip,
			    struct tux_addr *a)
{
	union tux_name at;
	socklen_t len = name_at(&at, ip, 0);
	int fd = socket(at.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r;

	r = bind(fd, &at.sa, len);
	assert(!r);
	tux_stack_mark(s, fd);
	r = listen(fd, 128);
	assert(!r);
	*a = name_of(fd, get_local);
	return r ? -1 : fd;
}

int side_listen_at(struct tux_stack *s, const char *ip, uint16_t *port)
{
	struct tux_addr a;
	int fd = -1, r;

	/* What is free for TCP may be somebody's for UDP. */
	do {
		if (fd >= 0)
			close(fd);
		fd = listen_somewhere(s, ip, &a);
		r = tux_stack_listen(s, fd, &a, tux_addr_is_v4(&a), false);
	} while (r == -TUX_REASON_PORT_TAKEN);
	assert(!r);
	*port = a.port;
	return r ? -1 : fd;
}

int side_listen(struct tux_stack *s, uint16_t *port)
{
	return side_listen_at(s, loopback, port);
}

int side_connect_to(struct tux_stack *s, const char *ip, uint16_t port)
{
	union tux_name to;
	socklen_t len = name_at(&to, ip, port);
	int fd = socket(to.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r;

	if (s)
		tux_stack_mark(s, fd);
	r = connect(fd, &to.sa, len);
	assert(!r);
	return r ? -1 : fd;
}

int side_connect(uint16_t port)
{
	return side_connect_to(NULL, loopback, port);
}

void side_open(struct side *x, struct tux_stack *s, int fd, bool active,
	       struct tux_waiter *w, uint32_t index)
{
	struct tux_end_opts o = {
		.fd = fd, .active = active, .user = x, .messages = true,
	};
	struct tux_addr local = name_of(fd, get_local);
	struct tux_addr peer = name_of(fd, get_peer);
	int one = 1, r;

	memset(x, 0, sizeof(*x));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	x->stack = s;
	x->fd = fd;
	x->active = active;
	x->index = index;
	x->w = w ? w : &x->own;
	if (!w && (r = tux_waiter_init(&x->own, 1)))
		assert(!r);
	o.tuple.active = active ? local : peer;
	o.tuple.passive = active ? peer : local;
	r = tux_end_claim(s, &o, &x->end);
	assert(!r);
	x->dx = tux_end_duplex(x->end);
}

static ssize_t tcp_send(void *arg, const struct iovec *iov, int n)
{
	struct msghdr m = {
		.msg_iov = (struct iovec *)(uintptr_t)iov,
		.msg_iovlen = (size_t)n,
	};
	ssize_t k = sendmsg(*(int *)arg, &m, MSG_DONTWAIT | MSG_NOSIGNAL);

	return k < 0 ? -errno : k;
}

static ssize_t tcp_recv(void *arg, const struct iovec *iov, int n, bool peek)
{
	struct msghdr m = {
		.msg_iov = (struct iovec *)(uintptr_t)iov,
		.msg_iovlen = (size_t)n,
	};
	ssize_t k = recvmsg(*(int *)arg, &m,
			    MSG_DONTWAIT | (peek ? MSG_PEEK : 0));

	return k < 0 ? -errno : k;
}

ssize_t side_try_read(struct side *x, void *p, size_t len)
{
	struct tux_tcp tcp = { tcp_send, tcp_recv, &x->fd };
	struct iovec v = { p, len };
	ssize_t k;

	tux_latch_take(&x->dx->rx.latch);
	k = tux_duplex_read(x->dx, &v, 1, false, &tcp);
	tux_latch_drop(&x->dx->rx.latch);
	tux_end_flush(x->end, false);
	return k;
}

ssize_t side_try_write(struct side *x, const void *p, size_t len)
{
	struct tux_tcp tcp = { tcp_send, tcp_recv, &x->fd };
	struct iovec v = { (void *)(uintptr_t)p, len };
	ssize_t k;

	tux_latch_take(&x->dx->tx.latch);
	k = tux_duplex_write(x->dx, &v, 1, &tcp);
	tux_latch_drop(&x->dx->tx.latch);
	tux_end_flush(x->end, false);
	return k;
}

int side_raw(struct side *x, tux_time for_ns)
{
	struct tux_tcp tcp = { tcp_send, tcp_recv, &x->fd };

	return tux_end_raw(x->end, &tcp, TUX_REASON_PINNED, for_ns);
}

void side_hear(struct side *x)
{
	uint32_t i;

	if (x->w != &x->own)
		return;
	while (tux_bell_take(x->w->bell, &i))
		atomic_store(&x->queued, 0);
}

int side_wait(struct side *x, short events, tux_time until)
{
	unsigned can = tux_duplex_poll(x->dx);
	struct pollfd p = { .fd = x->fd, .events = events };

	if (can & TUX_RX_ON_RING)
		p.events &= ~POLLIN;
	if (can & TUX_TX_ON_RING)
		p.events &= ~POLLOUT;
	if (!p.events)
		p.fd = -1;
	return tux_channel_wait(x->stack, x->w, &p, 1, until, NULL);
}

ssize_t side_read(struct side *x, void *p, size_t len)
{
	for (;;) {
		ssize_t k;

		side_hear(x);
		k = side_try_read(x, p, len);
		if (k != -EAGAIN)
			return k;
		side_wait(x, POLLIN, TUX_NEVER);
	}
}

ssize_t side_write(struct side *x, const void *p, size_t len)
{
	size_t at = 0;

	while (at < len) {
		ssize_t k;

		side_hear(x);
		k = side_try_write(x, (const char *)p + at, len - at);
		if (k > 0)
			at += (size_t)k;
		else if (k == -EAGAIN)
			side_wait(x, POLLOUT, TUX_NEVER);
		else
			return k;
	}
	return (ssize_t)len;
}

void side_shut(struct side *x)
{
	bool ring;

	tux_latch_take(&x->dx->tx.latch);
	ring = tux_duplex_shut(x->dx);
	if (!ring)
		shutdown(x->fd, SHUT_WR);
	tux_latch_drop(&x->dx->tx.latch);
	tux_end_flush(x->end, false);
}

void side_close(struct side *x, bool abort)
{
	struct linger now = { 1, 0 };

	if (abort)
		setsockopt(x->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	tux_end_close(x->end, abort);
	close(x->fd);
}

void side_free(struct side *x)
{
	while (!atomic_load(&x->gone))
		tux_channel_wait(x->stack, NULL, NULL, 0,
				 tux_clock_read() + TUX_MSEC(1), NULL);
	tux_end_free(x->end);
	if (x->w == &x->own)
		tux_waiter_fini(&x->own);
}

bool side_on_rings(const struct side *x)
{
	unsigned both = TUX_RX_ON_RING | TUX_TX_ON_RING;

	return (tux_duplex_poll(x->dx) & both) == both;
}
