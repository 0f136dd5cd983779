/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prog - our XDP program: loaded, on an interface, and what its maps say
 *
 * It is held by a bpf_link, so it goes when the process does, however that
 * ends.  Somebody else's program is never replaced.  bpf/tux.bpf.c is the
 * program; it is part of the library.
 */
#ifndef TUX_AFXDP_PROG_H
#define TUX_AFXDP_PROG_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/addr.h"
#include "wire/reason.h"

struct tux_prog {		/* descriptors; -1: not there */
	int prog, queues, places, link;
};

void tux_prog_init(struct tux_prog *p);

/* May this process use AF_XDP at all?  0, or -errno of what it may not do. */
int tux_prog_allowed(void);

/* Loads the program and its maps.  0, or the reason why not, negated. */
int tux_prog_load(struct tux_prog *p);

/* Attaches it to interface @ifindex, in the driver.  0, or the reason. */
int tux_prog_attach(struct tux_prog *p, unsigned ifindex);

/* Does the kernel refuse bpf() to this process by now?  What is attached stays
 * so. */
bool tux_prog_denied(const struct tux_prog *p);

/* Is it not attached any more?  The interface has gone, or a process with the
 * privilege has taken it off.  The kernel takes its RTNL lock to answer. */
bool tux_prog_lost(const struct tux_prog *p);

/* Detaches and unloads, as far as it has come. */
void tux_prog_close(struct tux_prog *p);

/* Packets for connections that arrive at @queue go to socket @xsk.  -errno. */
int tux_prog_queue(struct tux_prog *p, uint32_t queue, int xsk);

/* Packets to the UDP address @at are ours.  0, or the reason why not, negated. */
int tux_prog_add(struct tux_prog *p, const struct tux_addr *at);

/* ... are not any more.  -errno. */
int tux_prog_del(struct tux_prog *p, const struct tux_addr *at);

#endif
