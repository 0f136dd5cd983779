/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addr - an address and port of either family
 *
 * IPv4 is kept in its mapped form (::ffff:a.b.c.d), so that one compare does.
 */
#ifndef TUX_WIRE_ADDR_H
#define TUX_WIRE_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct tux_addr {
	uint8_t ip[16];
	uint16_t port;		/* host order */
};

/* Both ends of one TCP connection, as its own two ends agree to name it. */
struct tux_tuple {
	struct tux_addr active;	/* who called connect() */
	struct tux_addr passive;
};

static inline bool tux_addr_same_ip(const struct tux_addr *a,
				    const struct tux_addr *b)
{
	return memcmp(a->ip, b->ip, sizeof(a->ip)) == 0;
}

static inline bool tux_addr_same(const struct tux_addr *a,
				 const struct tux_addr *b)
{
	return a->port == b->port && tux_addr_same_ip(a, b);
}

static inline bool tux_tuple_same(const struct tux_tuple *a,
				  const struct tux_tuple *b)
{
	return tux_addr_same(&a->active, &b->active) &&
	       tux_addr_same(&a->passive, &b->passive);
}

static inline bool tux_addr_is_v4(const struct tux_addr *a)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(a->ip, mapped, sizeof(mapped)) == 0;
}

#endif
