/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which policies apply where, as the kernel does it (net/xfrm/xfrm_policy.c):
 *
 * A policy with an interface id is only asked for packets of the xfrm interface
 * with that id.  Such an interface drops what no policy selects, so nothing
 * passes it in clear, and it takes no Ethernet frames.  This table leaves these
 * policies out.
 *
 * A policy with a mark is only asked for packets with that mark.  Sockets,
 * netfilter, tc and cgroups set marks, so the mark of a packet is not known
 * here.
 *
 * The sysctls disable_xfrm and disable_policy exempt an interface.  No
 * notification tells when they change, so they are not looked at: a connection
 * that a policy selects stays on TCP there, too.
 */
#include "kernel/xfrm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/xfrm.h>
#include <sys/socket.h>

#include "sys/fd.h"

enum {
	SOCKET_DIRS = XFRM_POLICY_MAX,	/* added to `dir` of sockets' policies */
	GROUPS = 1 << (XFRMNLGRP_POLICY - 1) | 1 << (XFRMNLGRP_EXPIRE - 1),
};

/* ---- one policy ---- */

/* The kernel's prefixes are not longer than its addresses. */
static void side_get(struct tux_spd_side *s, const xfrm_address_t *a,
		     bool v4, uint8_t len, __be16 port, __be16 mask)
{
	if (v4) {
		s->ip[10] = s->ip[11] = 0xff;
		memcpy(s->ip + 12, a, 4);
		s->len = (uint8_t)(96 + (len < 32 ? len : 32));
	} else {
		memcpy(s->ip, a, 16);
		s->len = len < 128 ? len : 128;
	}
	s->port = ntohs(port);
	s->port_mask = ntohs(mask);
}

static void selector_get(struct tux_spd_entry *p, const struct xfrm_selector *s)
{
	p->v4 = s->family == AF_INET;
	p->proto = s->proto;
	side_get(&p->from, &s->saddr, p->v4, s->prefixlen_s, s->sport,
		 s->sport_mask);
	side_get(&p->to, &s->daddr, p->v4, s->prefixlen_d, s->dport,
		 s->dport_mask);
}

static uint8_t type_get(const struct tux_attrs *t)
{
	struct xfrm_userpolicy_type type = { .type = XFRM_POLICY_TYPE_MAIN };

	tux_attr_get(t, XFRMA_POLICY_TYPE, &type, sizeof(type));
	return type.type;
}

/* Is the policy of @i and @t one that may concern a connection?  Then it is in
 * *@p. */
static bool policy_get(struct tux_spd_entry *p,
		       const struct xfrm_userpolicy_info *i,
		       const struct tux_attrs *t)
{
	struct xfrm_mark mark = { 0 };
	uint32_t if_id = 0;

	memset(p, 0, sizeof(*p));
	selector_get(p, &i->sel);
	tux_attr_get(t, XFRMA_MARK, &mark, sizeof(mark));
	tux_attr_get(t, XFRMA_IF_ID, &if_id, sizeof(if_id));
	p->index = i->index;
	p->priority = i->priority;
	p->socket = i->dir >= SOCKET_DIRS;
	p->dir = i->dir % SOCKET_DIRS;
	p->type = type_get(t);
	p->pass = i->action == XFRM_POLICY_ALLOW && !t->at[XFRMA_TMPL];
	p->sure = !i->sel.ifindex && !mark.m && !t->at[XFRMA_SEC_CTX] &&
		  !p->socket;
	return !if_id && p->dir < TUX_SPD_DIRS &&
	       p->type < TUX_SPD_TYPES;
}

/* ---- messages ---- */

/* A policy is new, or replaces the one with its index. */
static void hear_policy(struct tux_xfrm *x, const struct nlmsghdr *h)
{
	struct xfrm_userpolicy_info i;
	struct tux_spd_entry p;
	struct tux_attrs t;

	if (!tux_attrs_parse(&t, h, sizeof(i))) {
		x->spd.lost = true;
		return;
	}
	memcpy(&i, mnl_nlmsg_get_payload(h), sizeof(i));
	tux_spd_del(&x->spd, i.index);
	if (policy_get(&p, &i, &t))
		tux_spd_add(&x->spd, &p);
}

/* The whole policy is in an attribute; the header has its index only if the
 * policy was deleted by its index. */
static void hear_deletion(struct tux_xfrm *x, const struct nlmsghdr *h)
{
	struct xfrm_userpolicy_info i;
	struct tux_attrs t;

	if (tux_attrs_parse(&t, h, sizeof(struct xfrm_userpolicy_id)) &&
	    tux_attr_get(&t, XFRMA_POLICY, &i, sizeof(i)))
		tux_spd_del(&x->spd, i.index);
}

static void hear_expiry(struct tux_xfrm *x, const struct nlmsghdr *h)
{
	struct xfrm_user_polexpire e;

	if (mnl_nlmsg_get_payload_len(h) < sizeof(e))
		return;
	memcpy(&e, mnl_nlmsg_get_payload(h), sizeof(e));
	if (e.hard)
		tux_spd_del(&x->spd, e.pol.index);
}

static void hear_flush(struct tux_xfrm *x, const struct nlmsghdr *h)
{
	struct tux_attrs t;

	tux_attrs_parse(&t, h, 0);
	tux_spd_flush(&x->spd, type_get(&t));
}

/* What becomes of packets that no policy selects. */
static void hear_default(struct tux_xfrm *x, const struct nlmsghdr *h)
{
	struct xfrm_userpolicy_default d;
	bool *blocks = x->spd.blocks;

	if (mnl_nlmsg_get_payload_len(h) < sizeof(d))
		return;
	memcpy(&d, mnl_nlmsg_get_payload(h), sizeof(d));
	blocks[TUX_SPD_IN] = d.in == XFRM_USERPOLICY_BLOCK;
	blocks[TUX_SPD_OUT] = d.out == XFRM_USERPOLICY_BLOCK;
}

void tux_xfrm_hear(struct tux_xfrm *x, const struct nlmsghdr *h)
{
	switch (h->nlmsg_type) {
	case XFRM_MSG_NEWPOLICY:
	case XFRM_MSG_UPDPOLICY:
		hear_policy(x, h);
		break;
	case XFRM_MSG_DELPOLICY:
		hear_deletion(x, h);
		break;
	case XFRM_MSG_POLEXPIRE:
		hear_expiry(x, h);
		break;
	case XFRM_MSG_FLUSHPOLICY:
		hear_flush(x, h);
		break;
	case XFRM_MSG_GETDEFAULT:
		hear_default(x, h);
		break;
	default:
		return;
	}
	x->changed = true;
}

static void xfrm_on_message(void *arg, const struct nlmsghdr *h)
{
	tux_xfrm_hear(arg, h);
}

/* ---- asking ---- */

/* Reads the table anew. */
static int ask_policies(struct tux_xfrm *x, struct tux_netlink *ask)
{
	struct nlmsghdr *h;
	int err;

	tux_spd_clear(&x->spd);
	h = tux_netlink_request(ask, XFRM_MSG_GETPOLICY, NLM_F_DUMP,
				sizeof(struct xfrm_userpolicy_id));
	err = tux_netlink_ask(ask, h, xfrm_on_message, x);
	if (err)
		return err;
	h = tux_netlink_request(ask, XFRM_MSG_GETDEFAULT, 0,
				sizeof(struct xfrm_userpolicy_default));
	err = tux_netlink_ask(ask, h, xfrm_on_message, x);
	return err == -EINVAL ? 0 : err;	/* before Linux 5.15 */
}

static int xfrm_load(struct tux_xfrm *x)
{
	struct tux_netlink ask;
	int err = tux_netlink_open(&ask, NETLINK_XFRM, 0);

	if (err)
		return err;
	err = ask_policies(x, &ask);
	tux_netlink_close(&ask);
	return err;
}

/* ---- birth and death ---- */

/* The notifications come first, so that no change is missed. */
static int xfrm_begin(struct tux_xfrm *x)
{
	int err = tux_netlink_open(&x->notify, NETLINK_XFRM, GROUPS);

	return err ? err : xfrm_load(x);
}

int tux_xfrm_open(struct tux_xfrm *x)
{
	int err;

	memset(x, 0, sizeof(*x));
	x->notify.fd = -1;
	err = tux_spd_init(&x->spd);
	if (!err)
		err = xfrm_begin(x);
	if (!err) {
		x->open = true;
		return 0;
	}
	tux_xfrm_close(x);
	/* EAFNOSUPPORT: the process may not use netlink, as for example under
	 * systemd's RestrictAddressFamilies=.  There may be policies all the same. */
	x->blind = err == -EPERM || err == -EACCES || err == -EAFNOSUPPORT;
	x->open = x->blind || err == -EPROTONOSUPPORT;
	return x->open ? 0 : err;
}

void tux_xfrm_close(struct tux_xfrm *x)
{
	tux_netlink_close(&x->notify);
	tux_spd_fini(&x->spd);
	x->open = false;
}

bool tux_xfrm_read(struct tux_xfrm *x)
{
	x->changed = false;
	if (tux_netlink_read(&x->notify, xfrm_on_message, x) == -ENOBUFS) {
		x->changed = true;
		x->spd.lost = xfrm_load(x) || x->spd.lost;
	}
	return x->changed;
}

enum tux_reason tux_xfrm_refuses(const struct tux_xfrm *x,
				 const struct tux_addr *local,
				 const struct tux_addr *peer, bool bypass)
{
	if (x->blind && bypass)
		return TUX_REASON_NO_PRIVILEGE;
	return tux_spd_guard(&x->spd, local, peer, bypass) ?
	       TUX_REASON_IPSEC : TUX_REASON_NONE;
}
