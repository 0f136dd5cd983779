/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key - what the two ends of a TCP connection know, and nobody else does
 *
 * Each end has put a nonce into its part of TCP's handshake, and has chosen an
 * initial sequence number there.
 */
#ifndef TUX_WIRE_KEY_H
#define TUX_WIRE_KEY_H

#include <stdint.h>

#include "base/sip.h"
#include "wire/addr.h"

struct tux_said {			/* of one end */
	uint64_t nonce;
	uint32_t isn;
};

/* The key of the connection between @active and @passive. */
void tux_key_make(struct tux_key *k, const struct tux_said *active,
		  const struct tux_said *passive);

/* The hash of @t that an end with @nonce announces: if the other end sees other
 * addresses, they are translated in between. */
uint32_t tux_key_places(const struct tux_tuple *t, uint64_t nonce);

#endif
