/* SPDX-License-Identifier: BSD-2-Clause */
#include "udp/udp_queue.h"

#include <errno.h>
#include <netinet/in.h>

#include "sys/fd.h"
#include "sys/name.h"
#include "sys/sys.h"

enum {
	SOCKET_BUF = 8 << 20,
	TRIES = 256,		/* of ports: about a millisecond */
};

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
void tux_udp_never_fragment(int fd, int family)
{
	udp_set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	if (family == AF_INET6)
		udp_set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
}

int tux_udp_bound(int family, const struct tux_addr *at, bool v6only)
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
	err = tux_sys_bind(fd, &name, len);
	if (err < 0) {
		tux_sys_close(fd);
		return err;
	}
	return tux_fd_lift(fd);
}

/* Ports from a random one on are tried, in turn; of a long range some random ones,
 * since the thread's signals wait meanwhile. */
static int bound_within(int family, uint16_t low, uint16_t high)
{
	uint32_t n = (uint32_t)high - low + 1, i, from = 0;
	struct tux_addr at = { .port = 0 };
	int fd = -EADDRINUSE;

	if (!low)
		return tux_udp_bound(family, &at, false);
	for (i = 0; i < n && i < TRIES && fd == -EADDRINUSE; i++) {
		if (!i || n > TRIES)
			tux_sys_getrandom(&from, sizeof(from));
		at.port = (uint16_t)(low + (from + i) % n);
		fd = tux_udp_bound(family, &at, false);
	}
	return fd;
}

static int queue_port(int fd, uint16_t *port)
{
	union tux_name name;
	socklen_t len = sizeof(name);
	struct tux_addr at;
	int err = tux_sys_getsockname(fd, &name, &len);

	if (!err)
		err = tux_name_get(&at, &name);
	if (!err)
		*port = at.port;
	return err;
}

int tux_udp_queue_open(struct tux_udp_queue *q, uint16_t low, uint16_t high)
{
	int err;

	*q = (struct tux_udp_queue){ .family = AF_INET6 };
	q->fd = bound_within(AF_INET6, low, high);
	if (q->fd < 0) {
		q->family = AF_INET;
		q->fd = bound_within(AF_INET, low, high);
	}
	err = q->fd < 0 ? q->fd : queue_port(q->fd, &q->port);
	if (err) {
		tux_fd_close(q->fd);
		q->fd = -1;
	}
	return err;
}

void tux_udp_queue_ready(const struct tux_udp_queue *q)
{
	tux_udp_never_fragment(q->fd, q->family);
	set_buffers(q->fd);
	udp_set(q->fd, IPPROTO_IP, IP_RECVTOS, 1);
	if (q->family == AF_INET6)
		udp_set(q->fd, IPPROTO_IPV6, IPV6_RECVTCLASS, 1);
}
