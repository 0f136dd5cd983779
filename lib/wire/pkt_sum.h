/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_sum - the CRC, the seal and the MAC of a packet, and the family of a
 * HELLO
 *
 * Private to pkt.c and pkt_write.c.
 */
#ifndef TUX_WIRE_PKT_SUM_H
#define TUX_WIRE_PKT_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "base/sip.h"
#include "wire/addr.h"
#include "wire/wire.h"

enum {
	TUX_PKT_FIXED = 16,	/* bytes that have one form in every version */
	TUX_PKT_CRC = 12,	/* offset of the CRC */
	/* Offset of the MAC in a packet that begins with HELLO. */
	TUX_PKT_MAC = TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_MAC,
};

/* The CRC of the packet of @len bytes at @p, with the CRC field taken as
 * zero. */
uint32_t tux_pkt_crc(const uint8_t *p, size_t len);

/* The seal of the packet at @p, with the CRC field taken as zero. */
uint32_t tux_pkt_seal(const uint8_t *p, const struct tux_key *k);

/* The MAC of the packet of @len bytes at @p, which begins with HELLO, with the
 * fields of the MAC and the CRC taken as zero. */
uint64_t tux_pkt_mac(const uint8_t *p, size_t len, const struct tux_key *k);

static inline uint8_t tux_hello_family(const struct tux_tuple *t)
{
	bool v4 = tux_addr_is_v4(&t->active) && tux_addr_is_v4(&t->passive);

	return v4 ? 4 : 6;
}

#endif
