/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses as text, and TCP sockets.
 */
#include "api/flat_in.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>

#include "io/name.h"
#include "io/sys.h"

int tux_flat_host(const char *host, uint16_t port, struct tux_addr *a,
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

int tux_flat_socket(int family)
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

int tux_flat_local(int fd, struct tux_addr *a)
{
	union tux_name n;
	socklen_t len = sizeof(n);
	int err = tux_sys_getsockname(fd, &n, &len);

	return err < 0 ? err : tux_name_get(a, &n);
}

int tux_flat_peer(int fd, struct tux_addr *a)
{
	union tux_name n;
	socklen_t len = sizeof(n);
	int err = tux_sys_getpeername(fd, &n, &len);

	return err < 0 ? err : tux_name_get(a, &n);
}
