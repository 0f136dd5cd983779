/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/paths_iface.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

enum {
	TICK_MS = 1000,
	RETRY_MIN_MS = 1000,
	RETRY_MAX_MS = 60000,
};

static const struct tux_backoff_rule retry = {
	.min = TUX_MSEC(RETRY_MIN_MS),
	.max = TUX_MSEC(RETRY_MAX_MS),
	.calm = TUX_NEVER,
};

bool tux_paths_wanted(const struct tux_paths *p)
{
	return (p->flows.live_n && !p->given_back) || p->waiting || p->always;
}

/* Away, the interface is looked at only while a connection wants it. */
static void plan_yield(struct tux_paths *p, tux_time now)
{
	if (!p->yields || p->tick_at == TUX_NEVER ||
	    !(tux_paths_on(p) || p->give_way.away))
		p->give_way_at = TUX_NEVER;
	else if (p->give_way_at == TUX_NEVER)
		p->give_way_at = now;
}

void tux_paths_plan(struct tux_paths *p, tux_time now)
{
	/* A tick is due while the interface is ours, is being taken or given
	 * back, or is wanted. */
	if (!tux_paths_wanted(p) && !p->flows.n &&
	    p->nic.state == TUX_NIC_OFF)
		p->tick_at = TUX_NEVER;
	else if (p->tick_at == TUX_NEVER)
		p->tick_at = now + TUX_MSEC(TICK_MS);
	plan_yield(p, now);
	p->due_at = tux_time_min(tux_time_min(p->tick_at, p->give_way_at),
				 p->reroute_at);
}

void tux_paths_say(const struct tux_paths *p, enum tux_link_what what)
{
	struct tux_link_note n = {
		what, p->nic.iface.name, &p->nic.tally, &p->nic.feature,
		&p->give_way,
	};

	if (p->said)
		p->said(&n);
}

void tux_paths_look(struct tux_paths *p)
{
	struct tux_iface i = { 0 };
	int err;

	err = p->iface.index ?
	      tux_neigh_iface(&p->neigh.ask, p->iface.index, NULL, &i) : -ENODEV;
	/* Another one may have come under its name. */
	if (err && *p->ifname)
		tux_neigh_iface(&p->neigh.ask, 0, p->ifname, &i);
	p->iface = i;
}

/* May it be used, as far as its address @i tells?  One of a container's, which has none
 * but for its link, is not. */
static bool is_candidate(const struct ifaddrs *i)
{
	const struct sockaddr_in6 *v6 = (const void *)i->ifa_addr;

	if (!v6 || !(i->ifa_flags & IFF_UP) || i->ifa_flags & IFF_LOOPBACK)
		return false;
	return v6->sin6_family == AF_INET ||
	       (v6->sin6_family == AF_INET6 &&
		!IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr));
}

/* ... and by what it is, and its driver can do?  (A VPN's cannot.) */
static bool can_be_taken(struct tux_netlink *ask, const char *ifname)
{
	struct tux_feature f = { 0 };
	struct tux_iface i;

	if (tux_neigh_iface(ask, 0, ifname, &i) || i.bundled)
		return false;
	tux_feature_ask(&f, i.index);
	return tux_feature_may(&f, TUX_FEATURE_BASIC | TUX_FEATURE_REDIRECT);
}

/* The name of an address of IPv4 may have a label behind it. */
static uint32_t queues_of(struct tux_netlink *ask, const struct ifaddrs *i)
{
	char name[IF_NAMESIZE] = "";
	uint32_t sends = UINT32_MAX;

	strncpy(name, i->ifa_name, sizeof(name) - 1);
	name[strcspn(name, ":")] = '\0';
	if (can_be_taken(ask, name))
		tux_nic_queues(name, &sends);
	return sends;
}

static uint32_t queues_of_any(void)
{
	uint32_t least = UINT32_MAX;
	struct ifaddrs *all, *i;
	struct tux_netlink ask;

	if (tux_netlink_open(&ask, NETLINK_ROUTE, 0))
		return 1;
	if (getifaddrs(&all))
		all = NULL;
	for (i = all; i; i = i->ifa_next) {
		uint32_t n = is_candidate(i) ? queues_of(&ask, i) : least;

		least = n < least ? n : least;
	}
	freeifaddrs(all);
	tux_netlink_close(&ask);
	return least == UINT32_MAX ? 1 : least;
}

uint32_t tux_paths_queues(const struct tux_paths *p)
{
	uint32_t sends = 1;

	if (!*p->ifname)
		return queues_of_any();
	tux_nic_queues(p->ifname, &sends);
	return sends;
}

enum tux_reason tux_paths_lacks(const struct tux_iface *i)
{
	if (!i->index)
		return TUX_REASON_NO_INTERFACE;
	if (i->bundled)
		return TUX_REASON_BUNDLED;
	if (!i->up)
		return TUX_REASON_LINK_DOWN;
	return i->mtu < TUX_NIC_MTU_MIN ? TUX_REASON_MTU : TUX_REASON_NONE;
}

void tux_paths_fail(struct tux_paths *p, enum tux_reason why, tux_time now)
{
	p->why = why;
	p->retry_at = now + tux_backoff_again(&p->retry, &retry, now);
	p->waiting = false;		/* connections ask again */
	p->changed = true;
}

void tux_paths_take(struct tux_paths *p, tux_time now)
{
	enum tux_reason why = tux_paths_lacks(&p->iface);

	p->given_back = false;
	if (why)
		tux_paths_fail(p, why, now);
	else
		tux_nic_take(&p->nic, &p->iface);
}
