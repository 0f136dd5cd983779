/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * feature - what an interface's driver can do for XDP, as the kernel tells it
 *
 * Asked by generic netlink, family `netdev`, of Linux 6.3.  Older kernels do not
 * have it: then nothing is known, and what is wanted has to be tried.
 */
#ifndef TUX_KERNEL_FEATURE_H
#define TUX_KERNEL_FEATURE_H

#include <stdbool.h>
#include <stdint.h>

struct nlmsghdr;

/* name, bit, word */
#define TUX_FEATURES(X) \
	X(BASIC, 0, "basic") \
	X(REDIRECT, 1, "redirect") \
	X(NDO_XMIT, 2, "ndo-xmit") \
	X(ZEROCOPY, 3, "xsk-zerocopy") \
	X(OFFLOAD, 4, "hw-offload") \
	X(RX_SG, 5, "rx-sg") \
	X(NDO_XMIT_SG, 6, "ndo-xmit-sg")

enum {
#define X(name, bit, word) TUX_FEATURE_##name = 1 << (bit),
	TUX_FEATURES(X)
#undef X
};

struct tux_feature {
	bool known;			/* the kernel has told */
	uint64_t xdp;			/* TUX_FEATURE_* */
	uint32_t zc_segs;		/* pieces of a packet with zero copy */
	uint64_t xsk;			/* what AF_XDP metadata can ask for */
};

/* Asks for interface @index.  0, maybe without @f->known; -ENODEV, -errno. */
int tux_feature_ask(struct tux_feature *f, unsigned index);

/* Reads an answer of the kernel's. */
void tux_feature_parse(struct tux_feature *f, const struct nlmsghdr *h);

/* Can the driver do all of @what, as far as is known? */
static inline bool tux_feature_may(const struct tux_feature *f, uint64_t what)
{
	return !f->known || (f->xdp & what) == what;
}

#endif
