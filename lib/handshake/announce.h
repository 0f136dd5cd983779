/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * announce - "I speak Tux", in TCP's own handshake; and the key that comes of it
 *
 * A sockops program writes an option into the SYN and SYN-ACK of sockets that
 * were marked.  It is tuxd's, for all processes (handshake/mark.h).  Where that is not
 * there, it is the process's own, on its cgroup: bpf/announce.bpf.c.  That is
 * held by a bpf_link, and goes with the process.
 *
 * Any thread may call mark() and look(); the others come one at a time.
 */
#ifndef TUX_HANDSHAKE_ANNOUNCE_H
#define TUX_HANDSHAKE_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sip.h"
#include "handshake/mark.h"
#include "wire/addr.h"
#include "wire/reason.h"

struct tux_announce {
	bool shared;			/* tuxd's program; there is no other */
	struct tux_mark_conf conf;	/* ... what it says */
	int marks, listeners, link;	/* descriptors; -1: not there */
	enum tux_reason why;		/* it does not work: why */
	struct tux_key seed;		/* of nonces */
	_Atomic uint64_t nonces;
};

void tux_announce_init(struct tux_announce *a);

/* Finds tuxd's program; false: it is not there. */
bool tux_announce_find(struct tux_announce *a);

/* Finds tuxd's program, or loads our own and attaches it.  If that does not
 * work, every look() will say why. */
void tux_announce_open(struct tux_announce *a);

/* Closes the descriptors. In a forked child, the parent keeps its own. */
void tux_announce_close(struct tux_announce *a);

/* Socket @fd is about to connect or to listen, and wants Tux.  The loop's UDP
 * port is @port, 0 for the one with TCP's number.  A second time changes
 * nothing. */
void tux_announce_mark(struct tux_announce *a, int fd, uint16_t port);

/* As tux_mark_refuse(), if tuxd's program announces for this process. */
void tux_announce_refuse(const struct tux_announce *a, int fd,
			 enum tux_reason why);

/* The network namespace of socket @fd, by the kernel's cookie; 0. */
uint64_t tux_announce_netns(int fd);

/* A listener, marked, is at @local in @netns, or is there no more.  The loop's
 * UDP port is @port.  An address of all zeros stands for any; with @both, of
 * IPv4, too. */
void tux_announce_listen(struct tux_announce *a, uint64_t netns,
			 const struct tux_addr *local, bool both, uint16_t port);
void tux_announce_unlisten(struct tux_announce *a, uint64_t netns,
			   const struct tux_addr *local, bool both);

/* What the handshake of socket @fd, established, has brought.  0 with *@p; or a
 * reason, negated. */
int tux_announce_look(const struct tux_announce *a, int fd, bool active,
		      struct tux_mark_peer *p);

#endif
