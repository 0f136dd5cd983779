/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spd - which connections the kernel's IPsec policies protect or block
 *
 * A table of the policies that are in force, which is the security policy
 * database of RFC 4301, and the decision that follows from it.  The kernel
 * applies the policy with the lowest priority of those that select a packet.  A
 * packet that AF_XDP sends or takes meets no policy, and a policy that selects
 * a TCP connection need not select UDP.
 *
 * A policy may also ask for what this table cannot know of a packet: its mark,
 * its interface, a security label, the socket.  Such a policy counts where it
 * protects or blocks, and does not count where it lets packets pass.
 */
#ifndef TUX_KERNEL_SPD_H
#define TUX_KERNEL_SPD_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/addr.h"

enum { TUX_SPD_ENTRIES = 16384 };

/* The kernel's numbers (XFRM_POLICY_IN, ...). */
enum tux_spd_dir { TUX_SPD_IN, TUX_SPD_OUT, TUX_SPD_DIRS };
enum { TUX_SPD_TYPES = 2 };		/* main, sub */

struct tux_spd_side {		/* one side of what it selects */
	uint8_t ip[16];			/* as in struct tux_addr */
	uint8_t len;			/* bits of @ip that count */
	uint16_t port, port_mask;	/* host order */
};

struct tux_spd_entry {
	uint32_t index;			/* the kernel's name for it */
	uint32_t priority;
	struct tux_spd_side from, to;
	uint8_t dir;			/* enum tux_spd_dir */
	uint8_t type;			/* below TUX_SPD_TYPES */
	uint8_t proto;			/* 0: any */
	bool v4;
	bool pass;			/* it neither protects nor blocks */
	bool sure;			/* it asks for nothing that is not here */
	bool socket;			/* of a socket: before all others */
};

struct tux_spd {
	struct tux_spd_entry *at;		/* TUX_SPD_ENTRIES */
	uint32_t n;
	bool blocks[TUX_SPD_DIRS];	/* packets that no policy selects */
	bool lost;			/* the table is not complete: assume the
					 * worst */
};

int tux_spd_init(struct tux_spd *t);	/* -errno */
void tux_spd_fini(struct tux_spd *t);

/* Forgets everything. */
void tux_spd_clear(struct tux_spd *t);

/* Adds a policy with a new index.  Sets @t->lost if there is no room. */
void tux_spd_add(struct tux_spd *t, const struct tux_spd_entry *p);

/* Removes the policy with @index, if there is one. */
void tux_spd_del(struct tux_spd *t, uint32_t index);

/* Removes all policies of @type, except those of sockets. */
void tux_spd_flush(struct tux_spd *t, uint8_t type);

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
bool tux_spd_guard(const struct tux_spd *t,
		   const struct tux_addr *local,
		   const struct tux_addr *peer, bool bypass);

#endif
