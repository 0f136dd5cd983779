// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * link - counts what TCP carries over an interface, for contrib/linkmeter
 *
 * The payload of each TCP packet is what is behind its headers.  A super-packet
 * of segmentation offload has them once.  Every packet goes on as it came.
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "link_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LINK_BPF_N);
	__type(key, __u32);
	__type(value, struct link_bpf_count);
} counts SEC(".maps");

/* Where the TCP header is; 0: there is none. */
static __always_inline __u32 tcp_at(struct __sk_buff *skb)
{
	struct ipv6hdr v6;
	struct iphdr v4;

	if (skb->protocol == bpf_htons(ETH_P_IP) &&
	    !bpf_skb_load_bytes(skb, ETH_HLEN, &v4, sizeof(v4)) &&
	    v4.protocol == IPPROTO_TCP)
		return ETH_HLEN + v4.ihl * 4;
	if (skb->protocol == bpf_htons(ETH_P_IPV6) &&
	    !bpf_skb_load_bytes(skb, ETH_HLEN, &v6, sizeof(v6)) &&
	    v6.nexthdr == IPPROTO_TCP)
		return ETH_HLEN + sizeof(v6);
	return 0;
}

static __always_inline int count(struct __sk_buff *skb, __u32 way)
{
	struct link_bpf_count *c = bpf_map_lookup_elem(&counts, &way);
	__u32 at = tcp_at(skb), head;
	struct tcphdr tcp;

	if (!c || !at || bpf_skb_load_bytes(skb, at, &tcp, sizeof(tcp)))
		return TC_ACT_UNSPEC;
	head = at + tcp.doff * 4;
	c->packets++;
	if (skb->len > head)
		c->bytes += skb->len - head;
	return TC_ACT_UNSPEC;
}

SEC("tc")
int link_in(struct __sk_buff *skb)
{
	return count(skb, LINK_BPF_IN);
}

SEC("tc")
int link_out(struct __sk_buff *skb)
{
	return count(skb, LINK_BPF_OUT);
}

char _license[] SEC("license") = "Dual BSD/GPL";
