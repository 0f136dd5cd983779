/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/kind.h"

#include <errno.h>
#include <netinet/in.h>

#include "ground/libc.h"

/* Untouched pages of it cost nothing. */
_Atomic uint8_t kind_table[FD_MAX];

static void kind_set(int fd, uint8_t kind)
{
	if ((unsigned)fd < FD_MAX)
		atomic_store_explicit(&kind_table[fd], kind,
				      memory_order_relaxed);
}

static uint8_t kind_of(int domain, int type, int protocol)
{
	if ((type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC)) != SOCK_STREAM ||
	    (protocol && protocol != IPPROTO_TCP))
		return KIND_OTHER;
	return domain == AF_INET ? KIND_TCP4 :
	       domain == AF_INET6 ? KIND_TCP6 : KIND_OTHER;
}

void kind_made(int fd, int domain, int type, int protocol)
{
	kind_set(fd, kind_of(domain, type, protocol));
}

void kind_forget(int fd)
{
	if (kind_get(fd) != KIND_UNKNOWN)
		kind_set(fd, KIND_UNKNOWN);
}

void kind_leave(int fd)
{
	kind_set(fd, KIND_LEFT);
}

static int kind_get_int(int fd, int name)
{
	int v = -1;
	socklen_t len = sizeof(v);

	return libc.getsockopt(fd, SOL_SOCKET, name, &v, &len) ? -1 : v;
}

int kind_ask(int fd)
{
	int saved = errno, d = -1;

	if (kind_get_int(fd, SO_PROTOCOL) == IPPROTO_TCP)
		d = kind_get_int(fd, SO_DOMAIN);
	errno = saved;
	return d == AF_INET || d == AF_INET6 ? d : -1;
}

int kind_domain(int fd)
{
	switch (kind_get(fd)) {
	case KIND_TCP4:
		return AF_INET;
	case KIND_TCP6:
		return AF_INET6;
	case KIND_OTHER:
	case KIND_LEFT:
		return -1;
	default:
		return kind_ask(fd);
	}
}
