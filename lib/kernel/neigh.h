/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * neigh - the route to a peer as the kernel knows it: interface, next hop, MAC
 *
 * Next hops are kept while somebody uses them, and follow what rtnetlink tells
 * of them.  One that is not known yet is asked for; the kernel does the
 * resolving, ours is only to wait.
 */
#ifndef TUX_KERNEL_NEIGH_H
#define TUX_KERNEL_NEIGH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "kernel/netlink.h"
#include "wire/addr.h"
#include "wire/eth.h"

enum { TUX_HOPS = 1024 };

struct tux_iface {
	unsigned index;
	char name[16];
	uint8_t mac[TUX_ETH_MAC];
	uint32_t mtu;
	bool up;			/* and has a carrier */
	bool bundled;			/* a bond or the like, or part of one */
};

struct tux_route {
	unsigned index;			/* the interface; 0: none leads there */
	bool encap;			/* a light-weight tunnel is on the way */
	struct tux_addr hop;		/* the peer itself, or a gateway */
};

struct tux_hop {
	struct tux_addr addr;
	unsigned index;			/* interface */
	uint32_t refs;			/* 0: the entry is free */
	bool known;			/* mac is good */
	uint8_t mac[TUX_ETH_MAC];
};

/* What tux_neigh_read() has seen. */
enum {
	TUX_NEIGH_LINKS = 0x01,		/* an interface has changed */
	TUX_NEIGH_HOPS = 0x02,		/* a next hop came or went, or has another
					 * address */
	TUX_NEIGH_ROUTES = 0x04,	/* routes or addresses have */
	TUX_NEIGH_LOST = 0x08,		/* some notifications did not arrive:
					 * all may have changed */
};

struct tux_neigh {
	struct tux_netlink ask, notify;	/* notify.fd: readable when there are */
	unsigned changed;		/* while reading: TUX_NEIGH_*, */
	struct tux_iface *iface;	/* ... and the arguments of the call */
	const char *ifname;
	struct tux_hop hop[TUX_HOPS];
};

/* -errno. */
int tux_neigh_open(struct tux_neigh *n);
void tux_neigh_close(struct tux_neigh *n);

/* Looks at interface @index, or if that is 0 at the one named @name.  0;
 * -ENODEV. */
int tux_neigh_iface(struct tux_netlink *ask, unsigned index, const char *name,
		    struct tux_iface *i);

/* Does interface @index stand for others?  Packets arrive at those. */
bool tux_neigh_has_ports(struct tux_netlink *ask, unsigned index);

/* How packets from @local get to @peer.  -errno if they do not. */
int tux_neigh_route(struct tux_neigh *n, const struct tux_addr *local,
		    const struct tux_addr *peer, struct tux_route *r);

/* Uses next hop @r->hop: its index in n->hop, -ENOSPC. */
int tux_neigh_get(struct tux_neigh *n, const struct tux_route *r);
void tux_neigh_put(struct tux_neigh *n, unsigned hop);

/* Has the kernel see whether @hop is there, or find out where. */
void tux_neigh_probe(struct tux_neigh *n, unsigned hop);

/* Reads the notifications.  What they were about: TUX_NEIGH_*.  What they say
 * of interface @i goes there; or, if @i->index is 0, what they say of the
 * interface named @name.  If it is gone, @i is all zero. */
unsigned tux_neigh_read(struct tux_neigh *n, struct tux_iface *i,
			const char *name);

#endif
