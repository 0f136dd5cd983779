/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * tux_bpf - what the XDP program and its loader share
 */
#ifndef TUX_BPF_H
#define TUX_BPF_H

#define TUX_BPF_PROG	"tux_xdp"	/* by this name we know our own */
#define TUX_BPF_MAGIC	0x5478		/* as in wire/wire.h */
#define TUX_BPF_PLACES	256
#define TUX_BPF_QUEUES	64

enum { TUX_BPF_V4 = 4, TUX_BPF_V6 = 6 };

/* Where a packet goes, in network order; an address of IPv4 is the first word,
 * the others are zero.  There are no holes: it is a key. */
struct tux_bpf_place {
	unsigned int addr[4];
	unsigned short port;
	unsigned short family;		/* TUX_BPF_V4 or TUX_BPF_V6 */
};

#endif
