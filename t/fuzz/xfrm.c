/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel says of IPsec policies, by netlink.
 *
 * The input is a list of messages about a few policies, some of them with
 * lengths that are not theirs.  They come twice, to a buffer with other bytes in
 * it before: what is made of them must be the same.
 */
#include <linux/netlink.h>
#include <linux/xfrm.h>
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "kernel/xfrm.h"

enum { MESSAGES = 6, MESSAGE = 640, MAX = MESSAGES * MESSAGE, INDEXES = 4 };

/* Two connections of IPv4 and IPv6. */
static const struct tux_addr ends[2][2] = {
	{ { { [10] = 0xff, 0xff, 10, 77, 0, 1 }, 0x1234 },
	  { { [10] = 0xff, 0xff, 10, 77, 0, 2 }, 0x1538 } },
	{ { { 0xfd, 0x77, [15] = 1 }, 0x1234 },
	  { { 0xfd, 0x77, [15] = 2 }, 0x1538 } },
};

struct result {
	bool changed;
	uint32_t n;
	enum tux_reason why[2][2];
};

static _Alignas(8) uint8_t said[MAX];
static size_t said_len;
static _Alignas(8) char buf[TUX_NETLINK_BUF];
static struct tux_xfrm x;
static int kernel;			/* its end of the socket */

static void open_all(void)
{
	int fd[2];

	FUZZ_CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fd));
	FUZZ_CHECK(!tux_spd_init(&x.spd));
	x.notify.fd = fd[0];
	x.notify.buf = buf;
	kernel = fd[1];
}

/* ---- what the kernel says ---- */

static void put_address(struct fuzz_in *in, xfrm_address_t *a, bool v6)
{
	uint8_t which = fuzz_u8(in);

	if (which < 0x80)
		memcpy(a, ends[v6][which % 2].ip + (v6 ? 0 : 12), v6 ? 16 : 4);
	else if (which < 0xf0)
		fuzz_bytes(in, a, 4);
}

static void put_selector(struct fuzz_in *in, struct xfrm_selector *s)
{
	static const uint8_t protos[] = { 0, 6, 17, 0 };
	uint8_t how = fuzz_u8(in);
	bool v6 = how & 1;

	memset(s, 0, sizeof(*s));
	s->family = how & 0x40 ? fuzz_u8(in) : v6 ? AF_INET6 : AF_INET;
	s->proto = protos[how >> 1 & 3];
	put_address(in, &s->saddr, v6);
	put_address(in, &s->daddr, v6);
	s->prefixlen_s = fuzz_u8(in);
	s->prefixlen_d = fuzz_u8(in);
	if (how & 8)
		fuzz_bytes(in, &s->dport, 4);
	if (how & 16)
		fuzz_bytes(in, &s->sport, 4);
	s->ifindex = how & 32;
}

static void put_policy(struct fuzz_in *in, uint8_t *p)
{
	struct xfrm_userpolicy_info i = { 0 };
	uint8_t how = fuzz_u8(in);

	put_selector(in, &i.sel);
	i.index = 1 + how % INDEXES;
	i.dir = how & 0x40 ? fuzz_u8(in) : how >> 2 & 1;
	i.action = how >> 3 & 1;
	i.priority = how >> 4 & 3;
	memcpy(p, &i, sizeof(i));
}

static size_t put_attr(struct fuzz_in *in, uint8_t *p)
{
	static const struct {
		uint8_t type, len;
	} kinds[] = {
		{ XFRMA_TMPL, sizeof(struct xfrm_user_tmpl) },
		{ XFRMA_MARK, sizeof(struct xfrm_mark) },
		{ XFRMA_IF_ID, 4 }, { XFRMA_POLICY_TYPE, 6 },
		{ XFRMA_SEC_CTX, 8 }, { XFRMA_LASTUSED, 8 },
		{ XFRMA_POLICY, sizeof(struct xfrm_userpolicy_info) },
		{ XFRMA_UNSPEC, 0 },
	};
	uint8_t how = fuzz_u8(in);
	struct nlattr *a = (void *)p;
	size_t len = NLA_HDRLEN + kinds[how % 8].len;

	memset(p, 0, NLA_ALIGN(len));
	a->nla_type = kinds[how % 8].type;
	a->nla_len = (uint16_t)(how & 8 ? fuzz_vary(in, len) : len);
	if (a->nla_type == XFRMA_POLICY)
		put_policy(in, p + NLA_HDRLEN);
	else
		fuzz_bytes(in, p + NLA_HDRLEN, kinds[how % 8].len % 8);
	return NLA_ALIGN(len);
}

/* The header behind that of netlink, which @type has: its length. */
static size_t put_header(struct fuzz_in *in, uint16_t type, uint8_t *p)
{
	struct xfrm_user_polexpire e = { 0 };
	struct xfrm_userpolicy_default d = { 0 };

	switch (type) {
	case XFRM_MSG_NEWPOLICY:
	case XFRM_MSG_UPDPOLICY:
		put_policy(in, p);
		return sizeof(struct xfrm_userpolicy_info);
	case XFRM_MSG_DELPOLICY:
		memset(p, 0, sizeof(struct xfrm_userpolicy_id));
		return sizeof(struct xfrm_userpolicy_id);
	case XFRM_MSG_POLEXPIRE:
		e.hard = fuzz_u8(in);
		memcpy(p, &e, sizeof(e));
		put_policy(in, p);
		return sizeof(e);
	case XFRM_MSG_GETDEFAULT:
		fuzz_bytes(in, &d, sizeof(d));
		memcpy(p, &d, sizeof(d));
		return NLMSG_ALIGN(sizeof(d));
	default:
		return 0;
	}
}

static void put_message(struct fuzz_in *in)
{
	static const uint16_t types[] = {
		XFRM_MSG_NEWPOLICY, XFRM_MSG_UPDPOLICY, XFRM_MSG_DELPOLICY,
		XFRM_MSG_POLEXPIRE, XFRM_MSG_FLUSHPOLICY, XFRM_MSG_GETDEFAULT,
		XFRM_MSG_EXPIRE, XFRM_MSG_NEWPOLICY,
	};
	uint8_t *p = said + said_len;
	struct nlmsghdr *h = (void *)p;
	uint8_t how = fuzz_u8(in);
	size_t len = NLMSG_HDRLEN;
	unsigned n = how >> 3 & 1;

	memset(h, 0, sizeof(*h));
	h->nlmsg_type = types[how % 8];
	len += put_header(in, h->nlmsg_type, p + len);
	for (n += how >> 4 & 1; n; n--)
		len += put_attr(in, p + len);
	h->nlmsg_len = (uint32_t)(how & 0x80 ? fuzz_vary(in, len) : len);
	said_len += len;
}

/* ---- what is made of it ---- */

static void look(struct result *r)
{
	unsigned i, bypass;

	for (i = 0; i < 2; i++)
		for (bypass = 0; bypass < 2; bypass++)
			r->why[i][bypass] = tux_xfrm_refuses(&x, &ends[i][0],
							     &ends[i][1],
							     bypass);
	r->n = x.spd.n;
}

static void once(struct result *r, uint8_t with)
{
	memset(r, 0, sizeof(*r));
	memset(buf, with, 2 * MAX);
	tux_spd_clear(&x.spd);
	FUZZ_CHECK(send(kernel, said, said_len, 0) == (ssize_t)said_len);
	r->changed = tux_xfrm_read(&x);
	look(r);
}

static void check(const struct result *r)
{
	const struct tux_spd_entry *p = x.spd.at;
	uint32_t i, j;

	for (i = 0; i < r->n; i++) {
		FUZZ_CHECK(p[i].from.len <= 128 && p[i].to.len <= 128);
		FUZZ_CHECK(p[i].dir < TUX_SPD_DIRS);
		for (j = 0; j < i; j++)
			FUZZ_CHECK(p[i].index != p[j].index);
	}
	/* What must not go where IPsec is, must not go past it. */
	for (i = 0; i < 2; i++)
		FUZZ_CHECK(!r->why[i][0] || r->why[i][1]);
	FUZZ_CHECK(r->changed || (!r->n && !r->why[0][1] && !r->why[1][1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t len)
{
	struct fuzz_in in = { p, len };
	struct result a, b;
	unsigned n = 0;

	if (!x.notify.buf)
		open_all();
	said_len = 0;
	do
		put_message(&in);
	while (in.left && ++n < MESSAGES);
	once(&a, 0x00);
	once(&b, 0xff);
	FUZZ_CHECK(!memcmp(&a, &b, sizeof(a)));
	check(&b);
	return 0;
}
