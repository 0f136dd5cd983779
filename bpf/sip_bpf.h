/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * sip_bpf - SipHash-2-4 as in base/sip.h, for programs in the kernel
 */
#ifndef TUX_SIP_BPF_H
#define TUX_SIP_BPF_H

struct sip {
	__u64 v0, v1, v2, v3;
};

static __always_inline __u64 sip_rotl(__u64 x, int n)
{
	return x << n | x >> (64 - n);
}

static __always_inline void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v1 = sip_rotl(s->v1, 13) ^ s->v0;
	s->v0 = sip_rotl(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = sip_rotl(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = sip_rotl(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = sip_rotl(s->v1, 17) ^ s->v2;
	s->v2 = sip_rotl(s->v2, 32);
}

/* Of @n words, eight bytes each, in memory's order; the highest byte of the last
 * one is the length, as the hash has it. */
static __always_inline __u64 sip(__u64 k0, __u64 k1, const __u64 *w, int n)
{
	struct sip s = {
		k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
		k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573,
	};
	int i;

#pragma unroll
	for (i = 0; i < n; i++) {
		s.v3 ^= w[i];
		sip_round(&s);
		sip_round(&s);
		s.v0 ^= w[i];
	}
	s.v2 ^= 0xff;
#pragma unroll
	for (i = 0; i < 4; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

#endif
