/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key - the key of a connection, from its TCP handshake
 *
 * Each end has put a nonce into its SYN or SYN-ACK (tux-wire(7), Announcing),
 * and has chosen an initial sequence number.  Only the two ends, and the hosts
 * on the way between them, have seen all four.
 */
#ifndef TUX_WIRE_KEY_H
#define TUX_WIRE_KEY_H

#include <stdint.h>

#include "base/sip.h"
#include "wire/addr.h"

struct tux_said {		/* what one end told in the handshake */
	uint64_t nonce;
	uint32_t isn;		/* initial sequence number */
};

/* Derives the key of the connection between @active and @passive. */
void tux_key_make(struct tux_key *k, const struct tux_said *active,
		  const struct tux_said *passive);

/* The hash of the addresses and ports in @t that an end with @nonce announces;
 * bpf/option_bpf.h has both for the kernel.
 * If the other end computes another value, something on the way translates
 * addresses. */
uint32_t tux_key_places(const struct tux_tuple *t, uint64_t nonce);

#endif
