/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sip - SipHash, a keyed hash of short inputs (Aumasson and Bernstein, 2012)
 *
 * SipHash-2-4 is the MAC of the opening exchange, derives keys and markers, and
 * hashes what a stranger may choose.  SipHash-1-3, with fewer rounds, seals
 * every packet.
 */
#ifndef TUX_BASE_SIP_H
#define TUX_BASE_SIP_H

#include <stddef.h>
#include <stdint.h>

struct tux_key {
	uint64_t k0, k1;
};

uint64_t tux_sip(const struct tux_key *k, const void *p, size_t len);

/* The same in pieces, for an input that is not in one place. */
struct tux_sip_state {
	uint64_t v[4];
	size_t len;		/* how much was added */
};

void tux_sip_init(struct tux_sip_state *s, const struct tux_key *k);

/* Adds @len bytes, a multiple of eight. */
void tux_sip_add(struct tux_sip_state *s, const void *p, size_t len);

/* Adds the last @len bytes, any number, and returns the hash. */
uint64_t tux_sip_end(struct tux_sip_state *s, const void *p, size_t len);

/* SipHash-1-3 of @len bytes, a multiple of eight. */
uint64_t tux_sip13(const struct tux_key *k, const void *p, size_t len);

#endif
