/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addr - an IPv4 or IPv6 address with a port
 *
 * An IPv4 address is kept in its mapped form, ::ffff:a.b.c.d, so addresses of
 * both families are compared in the same way.
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

/* The name of a TCP connection, which is the same at both of its ends. */
struct tux_tuple {
	struct tux_addr active;		/* the end that called connect() */
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
