/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * key - the key of a connection, from its TCP handshake
 */
#include "wire/key.h"

#include "base/bytes.h"

/* wire.h lists the labels. */
enum { LABEL_KEY = 4 };

void tux_key_make(struct tux_key *k, const struct tux_said *active,
		  const struct tux_said *passive)
{
	const struct tux_key nonces = { active->nonce, passive->nonce };
	uint8_t in[9];

	tux_put32(in + 1, active->isn);
	tux_put32(in + 5, passive->isn);
	in[0] = LABEL_KEY;
	k->k0 = tux_sip(&nonces, in, sizeof(in));
	in[0] = LABEL_KEY + 1;
	k->k1 = tux_sip(&nonces, in, sizeof(in));
}

uint32_t tux_key_places(const struct tux_tuple *t, uint64_t nonce)
{
	const struct tux_key k = { nonce, 0 };
	uint8_t in[36];

	memcpy(in, t->active.ip, 16);
	memcpy(in + 16, t->passive.ip, 16);
	tux_put16(in + 32, t->active.port);
	tux_put16(in + 34, t->passive.port);
	return (uint32_t)tux_sip(&k, in, sizeof(in));
}
