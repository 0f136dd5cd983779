/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sip - SipHash, a keyed hash of short inputs (Aumasson and Bernstein, 2012)
 *
 * SipHash-2-4 is the MAC of HELLO packets, derives keys and markers, and hashes
 * values that a stranger can choose.  SipHash-1-3, with fewer rounds, makes the
 * seal of every other packet.
 */
#ifndef TUX_BASE_SIP_H
#define TUX_BASE_SIP_H

#include <stddef.h>
#include <stdint.h>

struct tux_key {
	uint64_t k0, k1;
};

/* SipHash-2-4 of the @len bytes at @p. */
uint64_t tux_sip(const struct tux_key *k, const void *p, size_t len);

/* SipHash-2-4 of an input that does not lie in one piece: init, add as often as
 * needed, end. */
struct tux_sip_state {
	uint64_t v[4];
	size_t len;		/* bytes added so far */
};

void tux_sip_init(struct tux_sip_state *s, const struct tux_key *k);

/* Adds @len bytes; @len is a multiple of eight. */
void tux_sip_add(struct tux_sip_state *s, const void *p, size_t len);

/* Adds the last @len bytes (@len may be any number) and returns the hash. */
uint64_t tux_sip_end(struct tux_sip_state *s, const void *p, size_t len);

/* SipHash-1-3 of the @len bytes at @p; @len is a multiple of eight. */
uint64_t tux_sip13(const struct tux_key *k, const void *p, size_t len);

#endif
