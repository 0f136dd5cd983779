/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_sum - what pkt.c and pkt_write.c must agree on: the CRC, the seal, the
 * MAC, and the family of a HELLO.  Nobody else includes it.
 */
#ifndef TUX_WIRE_PKT_SUM_H
#define TUX_WIRE_PKT_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/sip.h"
#include "wire/addr.h"
#include "wire/wire.h"

enum {
	TUX_PKT_FIXED = 16,	/* bytes with the same form in every version */
	TUX_PKT_CRC = 12,
	/* Where the MAC lies in a packet that begins with HELLO. */
	TUX_PKT_MAC = TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_MAC,
};

/* The CRC of the @len bytes at @p, as if its field were zero. */
uint32_t tux_pkt_crc(const uint8_t *p, size_t len);

/* What the CRC of the numbered packet at @p is XORed with. */
uint32_t tux_pkt_seal(const uint8_t *p, const struct tux_key *k);

/* The MAC of the @len bytes at @p, which begin with HELLO, as if it and the CRC
 * were zero. */
uint64_t tux_pkt_mac(const uint8_t *p, size_t len, const struct tux_key *k);

static inline uint8_t tux_hello_family(const struct tux_tuple *t)
{
	bool v4 = tux_addr_is_v4(&t->active) && tux_addr_is_v4(&t->passive);

	return v4 ? 4 : 6;
}

#endif
