/* SPDX-License-Identifier: BSD-2-Clause */
#include "sys/name.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>

socklen_t tux_name_put(union tux_name *n, const struct tux_addr *a, int family)
{
	memset(n, 0, sizeof(*n));
	if (family == AF_INET) {
		n->v4.sin_family = AF_INET;
		n->v4.sin_port = htons(a->port);
		memcpy(&n->v4.sin_addr, a->ip + 12, 4);
		return sizeof(n->v4);
	}
	n->v6.sin6_family = AF_INET6;
	n->v6.sin6_port = htons(a->port);
	memcpy(&n->v6.sin6_addr, a->ip, 16);
	return sizeof(n->v6);
}

int tux_name_get(struct tux_addr *a, const union tux_name *n)
{
	memset(a, 0, sizeof(*a));
	switch (n->sa.sa_family) {
	case AF_INET:
		a->ip[10] = a->ip[11] = 0xff;
		memcpy(a->ip + 12, &n->v4.sin_addr, 4);
		a->port = ntohs(n->v4.sin_port);
		return 0;
	case AF_INET6:
		memcpy(a->ip, &n->v6.sin6_addr, 16);
		a->port = ntohs(n->v6.sin6_port);
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}
