/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * netlink - requests to the kernel by netlink, and its notifications
 *
 * libmnl writes and reads the messages; they travel by our own system calls,
 * since its sockets would go through the hooks of the process.  The kernel
 * answers a question before send() returns, so asking does not block.
 */
#ifndef TUX_KERNEL_NETLINK_H
#define TUX_KERNEL_NETLINK_H

#include <libmnl/libmnl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TUX_NETLINK_BUF = 32768,
	TUX_NETLINK_ATTRS = 64,		/* of any message, more than we know */
};

struct tux_netlink {
	int fd;
	uint32_t seq;
	char *buf;
};

/* Told each message. */
typedef void tux_netlink_fn(void *arg, const struct nlmsghdr *h);

/* The attributes of a message by their numbers; NULL: it has none. */
struct tux_attrs {
	const struct nlattr *at[TUX_NETLINK_ATTRS];
};

/* A socket for @protocol (NETLINK_ROUTE, ...) that hears @groups (a mask of
 * 1 << (RTNLGRP_* - 1)).  -errno. */
int tux_netlink_open(struct tux_netlink *n, int protocol, uint32_t groups);
void tux_netlink_close(struct tux_netlink *n);

/* An empty request of @type with a family header of @len bytes, which is at
 * mnl_nlmsg_get_payload(); attributes are put behind it.  It lies in n->buf. */
struct nlmsghdr *tux_netlink_request(struct tux_netlink *n, uint16_t type,
				     uint16_t flags, size_t len);

/* Sends it, and hands @fn what comes back.  0, or the kernel's -errno. */
int tux_netlink_ask(struct tux_netlink *n, struct nlmsghdr *h,
		    tux_netlink_fn *fn, void *arg);

/* Hands @fn the notifications that have come, without waiting.  0; -ENOBUFS: some were
 * lost, so that everything may be different. */
int tux_netlink_read(struct tux_netlink *n, tux_netlink_fn *fn, void *arg);

/* Finds the attributes of @h behind a family header of @skip bytes.  False: it is
 * too short to have that. */
bool tux_attrs_parse(struct tux_attrs *t, const struct nlmsghdr *h, size_t skip);

/* Finds the attributes that lie in @in. */
void tux_attrs_nested(struct tux_attrs *t, const struct nlattr *in);

/* Copies attribute @type to @p.  False, and nothing is copied: it is not there,
 * or has not just @len bytes. */
bool tux_attr_get(const struct tux_attrs *t, unsigned type, void *p, size_t len);

/* Is attribute @type there, and the string @s? */
bool tux_attr_is(const struct tux_attrs *t, unsigned type, const char *s);

#endif
