/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/neigh.h"

#include <errno.h>
#include <linux/if.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <string.h>

enum {
	/* A neighbour in one of these states has a MAC to send to. */
	GOOD = NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE |
	       NUD_STALE | NUD_DELAY,
};

static const uint32_t groups =
	1u << (RTNLGRP_LINK - 1) | 1u << (RTNLGRP_NEIGH - 1) |
	1u << (RTNLGRP_IPV4_IFADDR - 1) | 1u << (RTNLGRP_IPV4_ROUTE - 1) |
	1u << (RTNLGRP_IPV6_IFADDR - 1) | 1u << (RTNLGRP_IPV6_ROUTE - 1);

int tux_neigh_open(struct tux_neigh *n)
{
	int err;

	memset(n, 0, sizeof(*n));
	n->notify.fd = -1;
	err = tux_netlink_open(&n->ask, NETLINK_ROUTE, 0);
	if (!err)
		err = tux_netlink_open(&n->notify, NETLINK_ROUTE, groups);
	if (err)
		tux_neigh_close(n);
	return err;
}

void tux_neigh_close(struct tux_neigh *n)
{
	tux_netlink_close(&n->ask);
	tux_netlink_close(&n->notify);
}

/* ---- attributes and addresses ---- */

static void neigh_put_ip(struct nlmsghdr *h, uint16_t type,
			 const struct tux_addr *a)
{
	if (tux_addr_is_v4(a))
		mnl_attr_put(h, type, 4, a->ip + 12);
	else
		mnl_attr_put(h, type, 16, a->ip);
}

static uint8_t family_of(const struct tux_addr *a)
{
	return tux_addr_is_v4(a) ? AF_INET : AF_INET6;
}

static bool bytes_to_ip(struct tux_addr *to, const uint8_t *p, size_t len)
{
	memset(to, 0, sizeof(*to));
	if (len == 4) {
		to->ip[10] = to->ip[11] = 0xff;
		memcpy(to->ip + 12, p, 4);
	} else if (len == 16) {
		memcpy(to->ip, p, 16);
	}
	return len == 4 || len == 16;
}

static bool get_ip(struct tux_addr *to, const struct nlattr *a)
{
	return a && bytes_to_ip(to, mnl_attr_get_payload(a),
				mnl_attr_get_payload_len(a));
}

/* ---- interfaces ---- */

static void get_name(char *name, size_t cap, const struct nlattr *a)
{
	size_t len = mnl_attr_get_payload_len(a);

	len = strnlen(mnl_attr_get_str(a), len < cap ? len : cap - 1);
	memcpy(name, mnl_attr_get_str(a), len);
	name[len] = 0;
}

static bool is_bundle(const struct tux_attrs *info, unsigned type)
{
	return tux_attr_is(info, type, "bond") ||
	       tux_attr_is(info, type, "team");
}

/* What arrives at a part of a bond is the bond's, so neither can be had alone:
 * the kernel hands no packet of the part to a socket of the bond. */
static bool bundled(const struct ifinfomsg *m, const struct tux_attrs *t)
{
	const struct nlattr *link = t->at[IFLA_LINKINFO];
	struct tux_attrs info;

	if (m->ifi_flags & (IFF_MASTER | IFF_SLAVE))
		return true;
	if (!link)
		return false;
	tux_attrs_nested(&info, link);
	return is_bundle(&info, IFLA_INFO_KIND) ||
	       is_bundle(&info, IFLA_INFO_SLAVE_KIND) ||
	       tux_attr_is(&info, IFLA_INFO_KIND, "bridge");
}

static void parse_iface(struct tux_iface *i, const struct ifinfomsg *m,
			const struct tux_attrs *t)
{
	const uint32_t up = IFF_UP | IFF_LOWER_UP;

	i->index = (unsigned)m->ifi_index;
	i->up = (m->ifi_flags & up) == up;
	i->bundled = bundled(m, t);
	tux_attr_get(t, IFLA_MTU, &i->mtu, sizeof(i->mtu));
	if (t->at[IFLA_IFNAME])
		get_name(i->name, sizeof(i->name), t->at[IFLA_IFNAME]);
	tux_attr_get(t, IFLA_ADDRESS, i->mac, sizeof(i->mac));
}

static void neigh_on_iface(void *arg, const struct nlmsghdr *h)
{
	struct tux_attrs t;

	if (h->nlmsg_type == RTM_NEWLINK &&
	    tux_attrs_parse(&t, h, sizeof(struct ifinfomsg)))
		parse_iface(arg, mnl_nlmsg_get_payload(h), &t);
}

int tux_neigh_iface(struct tux_netlink *ask, unsigned index, const char *name,
		    struct tux_iface *i)
{
	struct nlmsghdr *h = tux_netlink_request(ask, RTM_GETLINK, 0,
						 sizeof(struct ifinfomsg));
	struct ifinfomsg *m = mnl_nlmsg_get_payload(h);
	int err;

	m->ifi_index = (int)index;
	if (!index)
		mnl_attr_put_strz(h, IFLA_IFNAME, name);
	memset(i, 0, sizeof(*i));
	err = tux_netlink_ask(ask, h, neigh_on_iface, i);
	return err ? err : i->index ? 0 : -ENODEV;
}

struct ports {
	unsigned of;			/* interface */
	bool any;
};

/* The kernel may ignore what the question was restricted to. */
static void on_port(void *arg, const struct nlmsghdr *h)
{
	struct ports *p = arg;
	uint32_t master = 0;
	struct tux_attrs t;

	if (h->nlmsg_type == RTM_NEWLINK &&
	    tux_attrs_parse(&t, h, sizeof(struct ifinfomsg)) &&
	    tux_attr_get(&t, IFLA_MASTER, &master, sizeof(master)))
		p->any |= master == p->of;
}

bool tux_neigh_has_ports(struct tux_netlink *ask, unsigned index)
{
	struct nlmsghdr *h = tux_netlink_request(ask, RTM_GETLINK, NLM_F_DUMP,
						 sizeof(struct ifinfomsg));
	struct ports p = { .of = index };

	mnl_attr_put_u32(h, IFLA_MASTER, index);
	tux_netlink_ask(ask, h, on_port, &p);
	return p.any;
}

/* ---- routes ---- */

static void on_route(void *arg, const struct nlmsghdr *h)
{
	const struct rtmsg *m = mnl_nlmsg_get_payload(h);
	struct tux_route *r = arg;
	struct tux_attrs t;

	if (h->nlmsg_type != RTM_NEWROUTE ||
	    !tux_attrs_parse(&t, h, sizeof(*m)) || m->rtm_type != RTN_UNICAST)
		return;
	tux_attr_get(&t, RTA_OIF, &r->index, sizeof(r->index));
	r->encap = t.at[RTA_ENCAP] || t.at[RTA_ENCAP_TYPE];
	if (t.at[RTA_GATEWAY]) {
		get_ip(&r->hop, t.at[RTA_GATEWAY]);
	} else if (t.at[RTA_VIA]) {
		/* A gateway of the other family: u16 family, then its bytes. */
		const struct nlattr *via = t.at[RTA_VIA];
		const uint8_t *p = mnl_attr_get_payload(via);
		size_t len = mnl_attr_get_payload_len(via);

		bytes_to_ip(&r->hop, p + 2, len < 2 ? 0 : len - 2);
	}
}

int tux_neigh_route(struct tux_neigh *n, const struct tux_addr *local,
		    const struct tux_addr *peer, struct tux_route *r)
{
	struct nlmsghdr *h = tux_netlink_request(&n->ask, RTM_GETROUTE, 0,
						 sizeof(struct rtmsg));
	struct rtmsg *m = mnl_nlmsg_get_payload(h);
	int err;

	m->rtm_family = family_of(peer);
	m->rtm_dst_len = m->rtm_src_len = m->rtm_family == AF_INET ? 32 : 128;
	neigh_put_ip(h, RTA_DST, peer);
	neigh_put_ip(h, RTA_SRC, local);
	r->index = 0;
	r->encap = false;
	r->hop = *peer;
	err = tux_netlink_ask(&n->ask, h, on_route, r);
	return err ? err : r->index ? 0 : -ENETUNREACH;
}

/* ---- next hops ---- */

/* While the kernel asks anew for one that it had forgotten, what was known is
 * as good as before; only when nobody has answered is it not. */
static void set_hop(struct tux_hop *hop, uint16_t state, const struct tux_attrs *t)
{
	uint8_t mac[TUX_ETH_MAC];

	if (state & GOOD && tux_attr_get(t, NDA_LLADDR, mac, sizeof(mac))) {
		memcpy(hop->mac, mac, sizeof(mac));
		hop->known = true;
	} else if (state & NUD_FAILED) {
		hop->known = false;
	}
}

static void on_hop(void *arg, const struct nlmsghdr *h)
{
	const struct ndmsg *m = mnl_nlmsg_get_payload(h);
	struct tux_attrs t;

	if (h->nlmsg_type == RTM_NEWNEIGH &&
	    tux_attrs_parse(&t, h, sizeof(*m)))
		set_hop(arg, m->ndm_state, &t);
}

static struct nlmsghdr *neigh_request(struct tux_neigh *n, uint16_t type,
				      uint16_t flags, const struct tux_hop *hop,
				      uint8_t ntf)
{
	struct nlmsghdr *h = tux_netlink_request(&n->ask, type, flags,
						 sizeof(struct ndmsg));
	struct ndmsg *m = mnl_nlmsg_get_payload(h);

	m->ndm_family = family_of(&hop->addr);
	m->ndm_ifindex = (int)hop->index;
	m->ndm_flags = ntf;
	neigh_put_ip(h, NDA_DST, &hop->addr);
	return h;
}

static void on_nothing(void *arg, const struct nlmsghdr *h)
{
	(void)arg;
	(void)h;
}

void tux_neigh_probe(struct tux_neigh *n, unsigned hop)
{
	struct nlmsghdr *h = neigh_request(n, RTM_NEWNEIGH,
					   NLM_F_CREATE | NLM_F_ACK,
					   &n->hop[hop], NTF_USE);

	tux_netlink_ask(&n->ask, h, on_nothing, NULL);
}

static void neigh_look_up(struct tux_neigh *n, unsigned hop)
{
	struct nlmsghdr *h = neigh_request(n, RTM_GETNEIGH, 0, &n->hop[hop], 0);

	tux_netlink_ask(&n->ask, h, on_hop, &n->hop[hop]);
	if (!n->hop[hop].known)
		tux_neigh_probe(n, hop);
}

int tux_neigh_get(struct tux_neigh *n, const struct tux_route *r)
{
	unsigned i, free = TUX_HOPS;

	for (i = 0; i < TUX_HOPS; i++) {
		struct tux_hop *h = &n->hop[i];

		if (!h->refs && free == TUX_HOPS)
			free = i;
		if (h->refs && h->index == r->index &&
		    tux_addr_same_ip(&h->addr, &r->hop)) {
			h->refs++;
			return (int)i;
		}
	}
	if (free == TUX_HOPS)
		return -ENOSPC;
	n->hop[free] = (struct tux_hop){
		.addr = r->hop, .index = r->index, .refs = 1,
	};
	neigh_look_up(n, free);
	return (int)free;
}

void tux_neigh_put(struct tux_neigh *n, unsigned hop)
{
	n->hop[hop].refs--;
}

/* ---- notifications ---- */

static void hear_neigh(struct tux_neigh *n, const struct nlmsghdr *h)
{
	const struct ndmsg *m = mnl_nlmsg_get_payload(h);
	struct tux_addr a;
	struct tux_attrs t;
	unsigned i;

	if (!tux_attrs_parse(&t, h, sizeof(*m)) || !get_ip(&a, t.at[NDA_DST]))
		return;
	for (i = 0; i < TUX_HOPS; i++) {
		struct tux_hop *hop = &n->hop[i];
		struct tux_hop before = *hop;

		if (!hop->refs || hop->index != (unsigned)m->ndm_ifindex ||
		    !tux_addr_same_ip(&hop->addr, &a))
			continue;
		if (h->nlmsg_type == RTM_DELNEIGH)
			tux_neigh_probe(n, i);
		else
			set_hop(hop, m->ndm_state, &t);
		if (hop->known != before.known ||
		    memcmp(hop->mac, before.mac, sizeof(hop->mac)))
			n->changed |= TUX_NEIGH_HOPS;
	}
}

/* A whole description of an interface?  News of a port of a bridge, or of
 * wireless events, tell only a part. */
static bool describes(const struct ifinfomsg *m, const struct tux_attrs *t)
{
	return m->ifi_family == AF_UNSPEC && t->at[IFLA_MTU] &&
	       t->at[IFLA_IFNAME];
}

static bool is_ours(const struct tux_neigh *n, const struct tux_iface *i)
{
	if (n->iface->index)
		return i->index == n->iface->index;
	return *i->name && !strcmp(i->name, n->ifname);
}

/* The kernel is not asked.  Its lock of all interfaces is held while one of them
 * changes, and a question would wait for that. */
static void hear_link(struct tux_neigh *n, const struct nlmsghdr *h)
{
	const struct ifinfomsg *m = mnl_nlmsg_get_payload(h);
	struct tux_iface i = { 0 };
	struct tux_attrs t;

	if (!tux_attrs_parse(&t, h, sizeof(*m)) || !describes(m, &t))
		return;
	parse_iface(&i, m, &t);
	if (!is_ours(n, &i))
		return;
	n->changed |= TUX_NEIGH_LINKS;
	if (h->nlmsg_type == RTM_DELLINK)
		memset(&i, 0, sizeof(i));
	*n->iface = i;
}

static void on_notification(void *arg, const struct nlmsghdr *h)
{
	struct tux_neigh *n = arg;

	switch (h->nlmsg_type) {
	case RTM_NEWLINK:
	case RTM_DELLINK:
		hear_link(n, h);
		break;
	case RTM_NEWNEIGH:
	case RTM_DELNEIGH:
		hear_neigh(n, h);
		break;
	default:
		n->changed |= TUX_NEIGH_ROUTES;
		break;
	}
}

unsigned tux_neigh_read(struct tux_neigh *n, struct tux_iface *iface,
			const char *name)
{
	unsigned i;

	n->iface = iface;
	n->ifname = name;
	n->changed = 0;
	if (tux_netlink_read(&n->notify, on_notification, n) == -ENOBUFS) {
		n->changed = TUX_NEIGH_LINKS | TUX_NEIGH_HOPS |
			     TUX_NEIGH_ROUTES | TUX_NEIGH_LOST;
		for (i = 0; i < TUX_HOPS; i++)
			if (n->hop[i].refs)
				neigh_look_up(n, i);
	}
	return n->changed;
}
