/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark - what tuxd's programs offer to every process: to announce Tux in TCP's
 * handshake, and to learn what the peer has announced
 *
 * They answer to an option of setsockopt(), bpf/tuxd_bpf.h, so that a process
 * needs no descriptor, map or capability for it.  Only a process that holds the
 * socket can ask for its key.
 */
#ifndef TUX_HANDSHAKE_MARK_H
#define TUX_HANDSHAKE_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sip.h"
#include "wire/reason.h"

struct tux_mark_conf {		/* UDP ports to be used; 0, 0: any */
	uint16_t low, high;
};

struct tux_mark_peer {
	struct tux_key key;	/* of the connection */
	uint16_t port;		/* of its UDP socket; 0: TCP's number */
	uint8_t version;	/* of the protocol */
	uint8_t why;		/* it will not move: its reason */
};

struct tux_mark_held {
	unsigned n;		/* descriptors of all processes that name the
				 * socket, and messages on their way that bring
				 * it; and a call in another thread may count */
	bool active;		/* it called connect() */
	bool read;		/* a process has asked for its key */
};

/* Are tuxd's programs there?  0 with *@c, or -errno; -ENOPROTOOPT: no. */
int tux_mark_find(struct tux_mark_conf *c);

/* Socket @fd is about to connect or to listen, or listens, and wants Tux; UDP
 * goes to @port, 0 for the one with TCP's number.  @nonce is random and not 0.
 * With @why, it will not move, and the peer is told the reason.  0, or the
 * reason why the handshake will not say so, negated. */
int tux_mark(int fd, uint64_t nonce, uint16_t port, enum tux_reason why);

/* Listener @fd, or what is to be one: its connections will not move, and the
 * peers that ask for it are told @why.  Without tuxd, nothing happens. */
void tux_mark_refuse(int fd, enum tux_reason why);

/* What the handshake of socket @fd, established, has brought.  0 with *@p; or a
 * reason, negated, which may be the peer's own. */
int tux_mark_read(int fd, struct tux_mark_peer *p);

/* How many hold socket @fd, established?  0 with *@h; -errno: it is not known. */
int tux_mark_held(int fd, struct tux_mark_held *h);

/* A handshake has brought @saw (enum tux_bpf_saw), from a peer with @version of
 * the protocol that said @why.  Why does the connection stay on TCP?  NONE: it
 * may move. */
enum tux_reason tux_mark_verdict(unsigned saw, unsigned version, unsigned why);

#endif
