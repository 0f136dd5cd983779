/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * link_bpf - what the programs that count TCP and their reader share
 */
#ifndef LINK_BPF_H
#define LINK_BPF_H

/* By direction, seen from the interface; one of each per CPU. */
enum { LINK_BPF_IN, LINK_BPF_OUT, LINK_BPF_N };

struct link_bpf_count {
	unsigned long long bytes;	/* of TCP payload */
	unsigned long long packets;	/* of TCP, a super-packet being one */
};

#endif
