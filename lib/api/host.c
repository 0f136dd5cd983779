/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses as text, and TCP sockets.
 */
#include "api/host.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/tcp.h>

#include "stack/stack_in.h"
#include "sys/name.h"
#include "sys/sys.h"

enum { FRESH_MS = 1000 };	/* the kernel's answer is believed for so long */

int tux_api_host(const char *host, uint16_t port, struct tux_addr *a,
		 int *family)
{
	memset(a, 0, sizeof(*a));
	a->port = port;
	*family = AF_INET6;
	if (!host || !strcmp(host, "*") || inet_pton(AF_INET6, host, a->ip) == 1)
		return 0;
	*family = AF_INET;
	a->ip[10] = a->ip[11] = 0xff;
	return inet_pton(AF_INET, host, a->ip + 12) == 1 ? 0 : -EINVAL;
}

int tux_api_socket(int family)
{
	int one = 1;
	int fd = tux_sys_socket(family,
				SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
				IPPROTO_TCP);

	/* What is accepted inherits it. */
	if (fd >= 0)
		tux_sys_setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one,
				   sizeof(one));
	return fd;
}

int tux_api_option(int fd, int level, int name)
{
	int v = 0;
	socklen_t len = sizeof(v);
	int err = tux_sys_getsockopt(fd, level, name, &v, &len);

	return err < 0 ? err : v;
}

int tux_api_local(int fd, struct tux_addr *a)
{
	union tux_name n;
	socklen_t len = sizeof(n);
	int err = tux_sys_getsockname(fd, &n, &len);

	return err < 0 ? err : tux_name_get(a, &n);
}

int tux_api_peer(int fd, struct tux_addr *a)
{
	union tux_name n;
	socklen_t len = sizeof(n);
	int err = tux_sys_getpeername(fd, &n, &len);

	return err < 0 ? err : tux_name_get(a, &n);
}

/* ---- the interface's addresses ---- */

static void host_learn(struct tux *t, const struct ifaddrs *i)
{
	union tux_name n = { .v6 = { 0 } };
	struct tux_addr a;

	if (!i->ifa_addr || strcmp(i->ifa_name, t->ifname) ||
	    t->addr_n == TUX_IFACE_ADDRS)
		return;
	if (i->ifa_addr->sa_family == AF_INET)
		memcpy(&n.v4, i->ifa_addr, sizeof(n.v4));
	else if (i->ifa_addr->sa_family == AF_INET6)
		memcpy(&n.v6, i->ifa_addr, sizeof(n.v6));
	if (!tux_name_get(&a, &n))
		t->addr[t->addr_n++] = a;
}

static void host_ask(struct tux *t)
{
	struct ifaddrs *all, *i;

	t->addr_n = 0;
	t->addr_at = t->now;
	if (getifaddrs(&all))
		return;
	for (i = all; i; i = i->ifa_next)
		host_learn(t, i);
	freeifaddrs(all);
}

static bool host_knows(const struct tux *t, const struct tux_addr *a)
{
	unsigned i;

	for (i = 0; i < t->addr_n; i++)
		if (tux_addr_same_ip(&t->addr[i], a))
			return true;
	return false;
}

bool tux_api_covers(struct tux *t, const struct tux_addr *local)
{
	if (t->stack->o.io != TUX_IO_UDP || !t->o.ifname ||
	    !strcmp(t->ifname, "lo") || host_knows(t, local))
		return true;
	if (t->addr_at && tux_time_since(t->addr_at, t->now) < TUX_MSEC(FRESH_MS))
		return false;
	host_ask(t);
	return host_knows(t, local);
}
