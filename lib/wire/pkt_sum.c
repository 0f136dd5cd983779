/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt_sum - the CRC, the seal and the MAC of a packet
 */
#include "wire/pkt_sum.h"

#include <endian.h>
#include <string.h>

#include "base/crc32c.h"

/* Copies the first @len bytes at @p, a multiple of 8, with the CRC field zero.
 * The word with the CRC is stored whole: a word that was stored in parts would
 * miss store forwarding when it is loaded. */
static inline void copy_head(uint64_t *head, const uint8_t *p, size_t len)
{
	uint32_t id;

	memcpy(head, p, len);
	memcpy(&id, p + 8, 4);
	head[1] = htole64((uint64_t)le32toh(id));
}

uint32_t tux_pkt_crc(const uint8_t *p, size_t len)
{
	uint64_t head[TUX_PKT_FIXED / 8];

	copy_head(head, p, sizeof(head));
	return tux_crc32c(tux_crc32c(0, head, sizeof(head)), p + TUX_PKT_FIXED,
			  len - TUX_PKT_FIXED);
}

uint32_t tux_pkt_seal(const uint8_t *p, const struct tux_key *k)
{
	uint64_t head[TUX_PKT_HDR / 8];

	copy_head(head, p, sizeof(head));
	return (uint32_t)tux_sip13(k, head, sizeof(head));
}

uint64_t tux_pkt_mac(const uint8_t *p, size_t len, const struct tux_key *k)
{
	/* Copy only the part that contains the two fields, header and HELLO,
	 * rounded up to the multiple of eight that tux_sip_add() takes. */
	uint8_t head[(TUX_PKT_MAC + 8 + 7) / 8 * 8];
	size_t n = len < sizeof(head) ? len : sizeof(head);
	struct tux_sip_state s;

	memcpy(head, p, n);
	memset(head + TUX_PKT_CRC, 0, 4);
	memset(head + TUX_PKT_MAC, 0, 8);
	tux_sip_init(&s, k);
	if (n < sizeof(head))
		return tux_sip_end(&s, head, n);
	tux_sip_add(&s, head, n);
	return tux_sip_end(&s, p + n, len - n);
}
