/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * name - struct tux_addr to the kernel's socket addresses and back
 */
#ifndef TUX_SYS_NAME_H
#define TUX_SYS_NAME_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "wire/addr.h"

union tux_name {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* @a as an address of @family into *@n, and its length; for AF_INET, @a is a
 * mapped one or all zero. */
socklen_t tux_name_put(union tux_name *n, const struct tux_addr *a, int family);

/* @n into *@a.  -EAFNOSUPPORT for other families. */
int tux_name_get(struct tux_addr *a, const union tux_name *n);

#endif
