/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * option_bpf - the option that says "Tux", and what its two ends make of it
 *
 * tux-wire(7), Announcing, has the bytes and the hashes.  The same in user space
 * is lib/wire/key.h.  Needs nothing of the kernel.
 */
#ifndef TUX_OPTION_BPF_H
#define TUX_OPTION_BPF_H

#include <linux/types.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "announce_bpf.h"
#include "sip_bpf.h"

struct option {
	__u8 kind, len;
	__be16 id;
	__be64 nonce;
	__be32 hash;
	__be16 port;			/* of UDP; 0: the one with TCP's number */
	__u8 version;
	__u8 why;			/* the sender will not move: the reason */
} __attribute__((packed));

/* The connection: the addresses of the active and the passive end, 16 bytes
 * each, and their ports, in network order. */
struct tuple {
	__u64 w[5];
};

static __always_inline __u64 v4_word(__u32 ip)
{
	return 0xffff0000 | (__u64)ip << 32;
}

/* The connection as an end sees it that made @nonce. */
static __always_inline __u32 option_hash(const struct tuple *t, __u64 nonce)
{
	__u64 w[5] = { t->w[0], t->w[1], t->w[2], t->w[3],
		       t->w[4] | 36ull << 56 };

	return (__u32)sip(nonce, 0, w, 5);
}

/* What a passive end answers to @nonce in a SYN that was followed by @next. */
static __always_inline __u64 option_answer(__u64 k0, __u64 k1,
					   const struct tuple *t, __u64 nonce,
					   __u32 next)
{
	__u64 w[8] = { nonce, next, t->w[0], t->w[1], t->w[2], t->w[3],
		       t->w[4], 56ull << 56 };

	return sip(k0, k1, w, 8) | 1;
}

static __always_inline __u64 option_half(__u64 label, __u64 active_nonce,
					 __u64 passive_nonce, __u32 active_isn,
					 __u32 passive_isn)
{
	__u32 a = bpf_htonl(active_isn), p = bpf_htonl(passive_isn);
	__u64 w[2] = { label | (__u64)a << 8 | (__u64)p << 40,
		       p >> 24 | 9ull << 56 };

	return sip(active_nonce, passive_nonce, w, 2);
}

/* The key of a connection.  @m: what one end of it has noted, the active one if
 * @active. */
static __always_inline void option_key(__u64 *key, const struct tux_bpf_mark *m,
				       int active)
{
	__u64 an = active ? m->nonce : m->peer_nonce;
	__u64 pn = active ? m->peer_nonce : m->nonce;
	__u32 ai = active ? m->isn : m->peer_isn;
	__u32 pi = active ? m->peer_isn : m->isn;

	key[0] = option_half(4, an, pn, ai, pi);
	key[1] = option_half(5, an, pn, ai, pi);
}

#endif
