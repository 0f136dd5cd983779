/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policy - which connections the kernel's IPsec policies protect or block
 *
 * A table of the policies that are in force, and the decision that follows from
 * it.  The kernel applies the policy with the lowest priority of those that
 * select a packet.  A packet that AF_XDP sends or takes meets no policy, and a
 * policy that selects a TCP connection need not select UDP.
 *
 * A policy may also ask for what this table cannot know of a packet: its mark,
 * its interface, a security label, the socket.  Such a policy counts where it
 * protects or blocks, and does not count where it lets packets pass.
 */
#ifndef TUX_LINK_POLICY_H
#define TUX_LINK_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/addr.h"

enum { TUX_POLICIES = 16384 };

/* The kernel's numbers (XFRM_POLICY_IN, ...). */
enum tux_policy_dir { TUX_POLICY_IN, TUX_POLICY_OUT, TUX_POLICY_DIRS };
enum { TUX_POLICY_TYPES = 2 };		/* main, sub */

struct tux_policy_side {		/* one side of what it selects */
	uint8_t ip[16];			/* as in struct tux_addr */
	uint8_t len;			/* bits of @ip that count */
	uint16_t port, port_mask;	/* host order */
};

struct tux_policy {
	uint32_t index;			/* the kernel's name for it */
	uint32_t priority;
	struct tux_policy_side from, to;
	uint8_t dir;			/* enum tux_policy_dir */
	uint8_t type;			/* below TUX_POLICY_TYPES */
	uint8_t proto;			/* 0: any */
	bool v4;
	bool pass;			/* it neither protects nor blocks */
	bool sure;			/* it asks for nothing that is not here */
	bool socket;			/* of a socket: before all others */
};

struct tux_policies {
	struct tux_policy *at;		/* TUX_POLICIES */
	uint32_t n;
	bool blocks[TUX_POLICY_DIRS];	/* packets that no policy selects */
	bool lost;			/* the table is not complete: assume the
					 * worst */
};

int tux_policies_init(struct tux_policies *t);	/* -errno */
void tux_policies_fini(struct tux_policies *t);

/* Forgets everything. */
void tux_policies_clear(struct tux_policies *t);

/* Adds a policy with a new index.  Sets @t->lost if there is no room. */
void tux_policies_add(struct tux_policies *t, const struct tux_policy *p);

/* Removes the policy with @index, if there is one. */
void tux_policies_del(struct tux_policies *t, uint32_t index);

/* Removes all policies of @type, except those of sockets. */
void tux_policies_flush(struct tux_policies *t, uint8_t type);

/* Must the TCP connection between @local and @peer stay off UDP?
 *
 * If @bypass, its datagrams have the ports of the TCP connection and pass by
 * the kernel's IPsec.  Then they must stay if a policy protects or blocks the
 * TCP connection, or UDP between the same addresses and ports, in either
 * direction.
 *
 * If not @bypass, the kernel applies its policies to the datagrams, which have
 * any ports.  Then they must stay if a policy protects or blocks the TCP
 * connection, and does not do the same to all UDP between the two hosts. */
bool tux_policies_guard(const struct tux_policies *t,
			const struct tux_addr *local,
			const struct tux_addr *peer, bool bypass);

#endif
