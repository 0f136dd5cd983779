/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * announce_bpf - what the programs that announce Tux and user space share
 */
#ifndef TUX_ANNOUNCE_BPF_H
#define TUX_ANNOUNCE_BPF_H

#define TUX_OPT_KIND	254		/* RFC 6994's, for experiments */
#define TUX_OPT_ID	0x5478		/* ... of which this is ours: "Tx" */
#define TUX_OPT_LEN	20
#define TUX_OPT_VERSION	1		/* of the protocol over UDP */
#define TUX_OPT_SYNS	2		/* so many SYNs of a connection carry it, */
#define TUX_OPT_SYN_ACKS 3		/* ... and so many SYN-ACKs: one for each SYN,
					 * and one that is repeated */
#define TUX_BPF_LISTENERS 1024		/* of a process */

enum tux_bpf_saw {
	TUX_BPF_SAW_NOTHING,		/* the handshake is not over */
	TUX_BPF_SAW_OPTION,
	TUX_BPF_SAW_NONE,		/* it brought no option */
	TUX_BPF_SAW_COOKIE,		/* ... nor is there a SYN to look at */
	TUX_BPF_SAW_OTHER,		/* an option of another length */
	TUX_BPF_SAW_TRANSLATED,		/* ... made for other addresses */
	TUX_BPF_SAW_QUOTA,		/* too many listeners: not announced */
};

/* What an end announces beside its nonce. */
struct tux_bpf_end {
	unsigned short port;		/* of UDP; 0: the one with TCP's number */
	unsigned char version;
	unsigned char why;		/* it will not move: enum tux_reason */
};

/* What belongs to a marked socket; children of a listener begin with a copy. */
struct tux_bpf_mark {
	unsigned long long nonce;	/* ours; from user space, if active */
	unsigned long long peer_nonce;
	unsigned int isn, peer_isn;
	unsigned int peer_hash;		/* of the addresses, as the peer has it */
	struct tux_bpf_end here, peer;
	unsigned char saw;		/* enum tux_bpf_saw */
	unsigned char syns;		/* sent with the option */
	unsigned char asked;		/* callbacks that nobody else wants here */
	unsigned char without;		/* its SYNs carry none: dropped_bpf.h */
};

/* Where a listener is: its namespace's cookie, its address in 16 bytes, IPv4 as
 * ::ffff:a.b.c.d, and its port. */
struct tux_bpf_listener {
	unsigned long long netns;
	unsigned int addr[4];
	unsigned int port;
	unsigned int zero;
};

struct tux_bpf_secret {
	unsigned long long k0, k1;
};

#endif
