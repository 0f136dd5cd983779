// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * tux - which packets of an interface go to AF_XDP sockets
 *
 * Those to the UDP port of a process's loop, at an address that the process has
 * put into `places`, with a payload that begins as a Tux packet does.  All else
 * passes, also what looks odd: tags, options, fragments, extension headers.
 * Without a socket on its queue, a packet passes as well.  What passes, the
 * process's UDP socket with that port receives.
 *
 * Long packets of others may come in several pieces.  All that is looked at is
 * in the first, and a packet of ours is a single one.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tux_bpf.h"

#define FRAGMENT 0x3fff		/* more of them, or not the first */

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, TUX_BPF_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} queues SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TUX_BPF_PLACES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct tux_bpf_place);
	__type(value, __u32);
} places SEC(".maps");

/* The UDP header behind that of IPv4, with the address in *@at; NULL. */
static __always_inline struct udphdr *parse_v4(void *p, void *end,
					       struct tux_bpf_place *at)
{
	struct iphdr *ip = p;

	if ((void *)(ip + 1) > end || ip->version != 4 || ip->ihl != 5 ||
	    ip->protocol != IPPROTO_UDP ||
	    (ip->frag_off & bpf_htons(FRAGMENT)))
		return 0;
	at->family = TUX_BPF_V4;
	at->addr[0] = ip->daddr;
	return (struct udphdr *)(ip + 1);
}

static __always_inline struct udphdr *parse_v6(void *p, void *end,
					       struct tux_bpf_place *at)
{
	struct ipv6hdr *ip = p;

	if ((void *)(ip + 1) > end || ip->version != 6 ||
	    ip->nexthdr != IPPROTO_UDP)
		return 0;
	at->family = TUX_BPF_V6;
	__builtin_memcpy(at->addr, &ip->daddr, sizeof(at->addr));
	return (struct udphdr *)(ip + 1);
}

SEC("xdp.frags")
int tux_xdp(struct xdp_md *ctx)
{
	void *p = (void *)(long)ctx->data;
	void *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = p;
	struct tux_bpf_place at = { 0 };
	struct udphdr *udp = 0;
	__be16 *magic;

	if ((void *)(eth + 1) > end)
		return XDP_PASS;
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		udp = parse_v4(eth + 1, end, &at);
	else if (eth->h_proto == bpf_htons(ETH_P_IPV6))
		udp = parse_v6(eth + 1, end, &at);
	if (!udp)
		return XDP_PASS;
	magic = (__be16 *)(udp + 1);
	if ((void *)(magic + 1) > end || *magic != bpf_htons(TUX_BPF_MAGIC))
		return XDP_PASS;
	at.port = udp->dest;
	if (!bpf_map_lookup_elem(&places, &at))
		return XDP_PASS;
	return bpf_redirect_map(&queues, ctx->rx_queue_index, XDP_PASS);
}

char _license[] SEC("license") = "Dual BSD/GPL";
