/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers and notifications of the kernel, by netlink: interfaces, routes, next
 * hops, features of drivers.
 *
 * The input is a list of messages, some of them with lengths that are not
 * theirs.  They come twice, to a buffer with other bytes in it before: what is
 * made of them must be the same, for it may depend on nothing but what came.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "kernel/feature.h"
#include "kernel/neigh.h"

enum { MESSAGES = 4, ATTRS = 6, BODY = 20, MAX = 1024, HOPS = 2 };

struct result {
	int err[4];
	unsigned changed;
	struct tux_iface iface;
	struct tux_route route;
	struct tux_feature feature;
	bool known[HOPS];
	uint8_t mac[HOPS][TUX_ETH_MAC];
};

static _Alignas(8) uint8_t said[MAX];
static size_t said_len;
static _Alignas(8) char buf[2][TUX_NETLINK_BUF];
static struct tux_neigh neigh;
static int kernel[2];			/* its ends of the sockets */

static void open_all(void)
{
	int fd[2];
	struct tux_netlink *n[2] = { &neigh.ask, &neigh.notify };
	unsigned i;

	for (i = 0; i < 2; i++) {
		FUZZ_CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK,
				       0, fd));
		n[i]->fd = fd[0];
		n[i]->buf = buf[i];
		kernel[i] = fd[1];
	}
}

/* ---- what the kernel says ---- */

static const uint16_t types[] = {
	RTM_NEWLINK, RTM_DELLINK, RTM_NEWROUTE, RTM_NEWNEIGH, RTM_DELNEIGH,
	RTM_NEWADDR, NLMSG_ERROR, NLMSG_DONE,
};

static const uint8_t lengths[] = { 0, 1, 2, 4, 6, 8, 16, 18 };

/* One attribute at @p, where there are @left bytes. */
static size_t put_attr(struct fuzz_in *in, uint8_t *p, size_t left)
{
	struct nlattr *a = (void *)p;
	uint8_t how = fuzz_u8(in);
	size_t len = NLA_HDRLEN + lengths[how % 8];

	if (NLA_ALIGN(len) > left)
		return 0;
	memset(p, 0, NLA_ALIGN(len));
	a->nla_type = fuzz_u8(in) % 32;
	a->nla_len = (uint16_t)len;
	fuzz_bytes(in, p + NLA_HDRLEN, len - NLA_HDRLEN);
	if (how >= 0xf0)
		a->nla_len = fuzz_u8(in);
	return NLA_ALIGN(len);
}

static void put_message(struct fuzz_in *in)
{
	uint8_t *p = said + said_len;
	struct nlmsghdr *h = (void *)p;
	uint8_t how = fuzz_u8(in);
	size_t len = NLMSG_HDRLEN, body = how & 8 ? BODY : 4 * (how >> 6);
	unsigned i, n = fuzz_u8(in) % ATTRS;

	h->nlmsg_type = types[how % 8];
	h->nlmsg_flags = 0;
	h->nlmsg_seq = how & 16 ? 7 : 1;
	fuzz_bytes(in, p + len, body);
	len += body;
	for (i = 0; i < n; i++)
		len += put_attr(in, p + len, MAX / MESSAGES - len);
	h->nlmsg_len = (uint32_t)(how & 32 ? fuzz_vary(in, len) : len);
	said_len += len;
}

static void kernel_says(unsigned i)
{
	FUZZ_CHECK(send(kernel[i], said, said_len, 0) == (ssize_t)said_len);
}

/* The kernel reads the questions: seldom, for that takes longer than to ask. */
static void hear(void)
{
	static unsigned n;
	char none[512];

	if (++n % 32)
		return;
	while (recv(kernel[0], none, sizeof(none), MSG_DONTWAIT) > 0)
		;
}

/* ---- what is made of it ---- */

static void fill(uint8_t with)
{
	memset(buf[0], with, 2 * MAX);
	memset(buf[1], with, 2 * MAX);
	neigh.ask.seq = 0;
	memset(neigh.hop, 0, HOPS * sizeof(neigh.hop[0]));
}

static void ask(struct result *r, uint8_t which, uint8_t with)
{
	static const struct tux_addr a = { { [10] = 0xff, 0xff, 10, 0, 0, 1 },
					   0 };
	struct tux_addr peer = a;
	struct tux_route way = { .index = 2, .hop = a };
	unsigned i;

	peer.ip[12] = with;
	switch (which % 4) {
	case 0:
		r->err[0] = tux_neigh_iface(&neigh.ask, 2, NULL, &r->iface);
		break;
	case 1:
		r->err[1] = tux_neigh_route(&neigh, &a, &peer, &r->route);
		/* The peer itself, if no gateway is named. */
		if (tux_addr_same_ip(&r->route.hop, &peer))
			r->route.hop = a;
		break;
	case 2:
		r->err[2] = tux_neigh_get(&neigh, &way);
		break;
	default:
		neigh.hop[0] = (struct tux_hop){
			.addr = a, .index = 2, .refs = 1, .known = which & 4,
		};
		r->iface.index = which & 8 ? 2 : 0;
		r->changed = tux_neigh_read(&neigh, &r->iface, "eth0");
		break;
	}
	for (i = 0; i < HOPS; i++) {
		r->known[i] = neigh.hop[i].known;
		memcpy(r->mac[i], neigh.hop[i].mac, TUX_ETH_MAC);
	}
}

static void once(struct result *r, uint8_t which, uint8_t with)
{
	unsigned notified = which % 4 == 3;

	memset(r, 0, sizeof(*r));
	fill(with);
	kernel_says(notified);
	ask(r, which, with);
	if (!notified && ((struct nlmsghdr *)said)->nlmsg_len >= NLMSG_HDRLEN &&
	    ((struct nlmsghdr *)said)->nlmsg_len <= said_len)
		tux_feature_parse(&r->feature, (void *)said);
	hear();
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct fuzz_in in = { p, len };
	uint8_t which = fuzz_u8(&in);
	struct result a, b;

	if (!neigh.ask.buf)
		open_all();
	said_len = 0;
	do
		put_message(&in);
	while (in.left && said_len <= MAX - MAX / MESSAGES);
	once(&a, which, 0x00);
	once(&b, which, 0xff);
	FUZZ_CHECK(!memcmp(&a, &b, sizeof(a)));
	FUZZ_CHECK(memchr(a.iface.name, 0, sizeof(a.iface.name)));
	return 0;
}
