/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mc - a connection to memcached, and what both of its protocols need
 */
#ifndef TUX_T_POSIX_MC_H
#define TUX_T_POSIX_MC_H

#include <stddef.h>
#include <stdint.h>

enum { MC_TOGETHER = 8 };	/* keys in one question */

struct mc {
	int fd;
	uint32_t id;
	uint64_t seed;
	uint32_t max;		/* longest value */
	uint8_t in[65536];
	size_t at, len;
	char *value;		/* max + 64 bytes */
};

/* Writes value @i to c->value, and its length comes back.  It depends on the
 * seed, the connection and @i only, and holds CR and LF too. */
uint32_t mc_value(struct mc *c, uint32_t i);
int mc_key(const struct mc *c, uint32_t i, char *key, size_t cap);

void mc_put(struct mc *c, const void *p, size_t n);
void mc_take(struct mc *c, void *p, size_t n);

/* The next @n bytes must be @want; @what is for the message if not. */
void mc_expect(struct mc *c, const char *what, const void *want, size_t n);
void mc_expect_text(struct mc *c, const char *what, const char *want);

/* A protocol: stores value @i; fetches those from @i to before @end in one
 * question; and counts, appends, deletes. */
struct mc_protocol {
	const char *name;
	void (*store)(struct mc *c, uint32_t i);
	void (*get)(struct mc *c, uint32_t i, uint32_t end);
	void (*odds)(struct mc *c);
};

extern const struct mc_protocol mc_text, mc_binary;

#endif
