/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/netlink.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "sys/area.h"
#include "sys/fd.h"
#include "sys/sys.h"

int tux_netlink_open(struct tux_netlink *n, int protocol, uint32_t groups)
{
	struct sockaddr_nl at = {
		.nl_family = AF_NETLINK, .nl_groups = groups,
	};
	int err;

	memset(n, 0, sizeof(*n));
	n->fd = tux_fd_lift(tux_sys_socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC |
					   SOCK_NONBLOCK, protocol));
	if (n->fd < 0)
		return n->fd;
	err = tux_sys_bind(n->fd, &at, sizeof(at));
	if (!err)
		err = tux_area_map((void **)&n->buf, TUX_NETLINK_BUF,
				   TUX_AREA_OWN);
	if (err)
		tux_netlink_close(n);
	return err;
}

void tux_netlink_close(struct tux_netlink *n)
{
	tux_fd_close(n->fd);
	tux_area_unmap(n->buf, TUX_NETLINK_BUF);
	memset(n, 0, sizeof(*n));
	n->fd = -1;
}

struct nlmsghdr *tux_netlink_request(struct tux_netlink *n, uint16_t type,
				     uint16_t flags, size_t len)
{
	struct nlmsghdr *h = mnl_nlmsg_put_header(n->buf);

	h->nlmsg_type = type;
	h->nlmsg_flags = NLM_F_REQUEST | flags;
	h->nlmsg_seq = ++n->seq;
	mnl_nlmsg_put_extra_header(h, len);	/* zeroed */
	return h;
}

/* Is a whole message at @h?  libmnl takes a length beyond INT_MAX for a
 * negative one, which fits everywhere. */
static bool whole(const struct nlmsghdr *h, int left)
{
	return mnl_nlmsg_ok(h, left) && h->nlmsg_len <= (unsigned)left;
}

/* One datagram of messages.  1: there is more to come; 0: that was the end;
 * -errno as the kernel says. */
static int netlink_take(struct tux_netlink *n, size_t len, bool dump,
			tux_netlink_fn *fn, void *arg)
{
	const struct nlmsghdr *h = (const void *)n->buf;
	int left = (int)len;

	for (; whole(h, left); h = mnl_nlmsg_next(h, &left)) {
		const struct nlmsgerr *e = mnl_nlmsg_get_payload(h);

		if (h->nlmsg_seq != n->seq)
			continue;
		if (h->nlmsg_type == NLMSG_DONE)
			return 0;
		if (h->nlmsg_type == NLMSG_ERROR)
			return mnl_nlmsg_get_payload_len(h) >= sizeof(*e) ?
			       e->error : -EPROTO;
		fn(arg, h);
		if (!dump)
			return 0;
	}
	return 1;
}

int tux_netlink_ask(struct tux_netlink *n, struct nlmsghdr *h,
		    tux_netlink_fn *fn, void *arg)
{
	bool dump = (h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	long len = tux_sys_send(n->fd, h, h->nlmsg_len, 0);
	int r = 1;

	if (len < 0)
		return (int)len;
	while (r > 0) {
		len = tux_sys_recv(n->fd, n->buf, TUX_NETLINK_BUF, 0);
		if (len == -EINTR)
			continue;
		if (len <= 0)
			return len ? (int)len : -EPROTO;
		r = netlink_take(n, (size_t)len, dump, fn, arg);
	}
	return r;
}

int tux_netlink_read(struct tux_netlink *n, tux_netlink_fn *fn, void *arg)
{
	int lost = 0;

	for (;;) {
		const struct nlmsghdr *h = (const void *)n->buf;
		long len = tux_sys_recv(n->fd, n->buf, TUX_NETLINK_BUF,
					MSG_DONTWAIT);
		int left = (int)len;

		if (len == -ENOBUFS)
			lost = -ENOBUFS;
		else if (len <= 0)
			return lost;
		else
			for (; whole(h, left); h = mnl_nlmsg_next(h, &left))
				fn(arg, h);
	}
}

static int on_attr(const struct nlattr *a, void *arg)
{
	struct tux_attrs *t = arg;
	uint16_t type = mnl_attr_get_type(a);

	if (type < TUX_NETLINK_ATTRS)
		t->at[type] = a;
	return MNL_CB_OK;
}

bool tux_attrs_parse(struct tux_attrs *t, const struct nlmsghdr *h, size_t skip)
{
	memset(t, 0, sizeof(*t));
	if (mnl_nlmsg_get_payload_len(h) < skip)
		return false;
	mnl_attr_parse(h, (unsigned)skip, on_attr, t);
	return true;
}

bool tux_attr_get(const struct tux_attrs *t, unsigned type, void *p, size_t len)
{
	const struct nlattr *a = t->at[type];

	if (!a || mnl_attr_get_payload_len(a) != len)
		return false;
	memcpy(p, mnl_attr_get_payload(a), len);
	return true;
}

void tux_attrs_nested(struct tux_attrs *t, const struct nlattr *in)
{
	memset(t, 0, sizeof(*t));
	mnl_attr_parse_nested(in, on_attr, t);
}

bool tux_attr_is(const struct tux_attrs *t, unsigned type, const char *s)
{
	const struct nlattr *a = t->at[type];
	size_t len = strlen(s) + 1;

	return a && mnl_attr_get_payload_len(a) == len &&
	       !memcmp(mnl_attr_get_payload(a), s, len);
}
