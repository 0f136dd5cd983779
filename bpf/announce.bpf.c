// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * announce - "I speak Tux", in TCP's own handshake
 *
 * Sockets that a process has marked send an option in their SYN: a nonce and a
 * hash of the connection's addresses.  A listener of the process answers it in
 * the SYN-ACK.  Of what came, and of the initial sequence numbers, the socket's
 * mark keeps a note, for user space to make the connection's key of.
 *
 * A socket that only asks for a connection has no mark, so the answer's nonce
 * is no random number but a keyed hash of what is known then and also later,
 * when the connection is there.
 *
 * Several processes may have a program each on the same cgroup: a mark is in
 * the process's own map, and so is the list of its listeners.
 */
#include <linux/bpf.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "announce_bpf.h"
#include "sip_bpf.h"

#define INET	2			/* AF_INET: sys/socket.h is not for here */
#define TCP_OPTIONS	6		/* SOL_TCP */
#define SAVE_SYN	27		/* TCP_SAVE_SYN */
#define SYN	0x02
#define SYN_ACK	0x12
#define WRITES	BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct tux_bpf_mark);
} marks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TUX_BPF_LISTENERS);
	__type(key, struct tux_bpf_listener);
	__type(value, __u32);
} listeners SEC(".maps");

/* Random, set before the program is loaded. */
const volatile struct tux_bpf_secret secret;

struct option {
	__u8 kind, len;
	__be16 id;
	__be64 nonce;
	__be32 hash;
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

/* A field of the context.  The verifier wants it loaded from the context's
 * beginning, and the compiler would rather add first and load later. */
#define FIELD(s, f) ({ \
	__u64 v_; \
	asm volatile("%0 = *(u32 *)(%1 + %2)" : "=r"(v_) \
		     : "r"(s), "i"(offsetof(struct bpf_sock_ops, f))); \
	(__u32)v_; })

static __always_inline void local(struct bpf_sock_ops *s, __u64 *w)
{
	if (FIELD(s, family) == INET) {
		w[0] = 0;
		w[1] = v4_word(FIELD(s, local_ip4));
		return;
	}
	w[0] = FIELD(s, local_ip6[0]) | (__u64)FIELD(s, local_ip6[1]) << 32;
	w[1] = FIELD(s, local_ip6[2]) | (__u64)FIELD(s, local_ip6[3]) << 32;
}

static __always_inline void remote(struct bpf_sock_ops *s, __u64 *w)
{
	if (FIELD(s, family) == INET) {
		w[0] = 0;
		w[1] = v4_word(FIELD(s, remote_ip4));
		return;
	}
	w[0] = FIELD(s, remote_ip6[0]) | (__u64)FIELD(s, remote_ip6[1]) << 32;
	w[1] = FIELD(s, remote_ip6[2]) | (__u64)FIELD(s, remote_ip6[3]) << 32;
}

static __always_inline struct tuple tuple_of(struct bpf_sock_ops *s, int active)
{
	__u64 here = bpf_htons((__u16)FIELD(s, local_port));
	__u64 there = bpf_htons((__u16)bpf_ntohl(FIELD(s, remote_port)));
	struct tuple t;

	local(s, active ? t.w : t.w + 2);
	remote(s, active ? t.w + 2 : t.w);
	t.w[4] = active ? here | there << 16 : there | here << 16;
	return t;
}

/* As who made @nonce sees the connection. */
static __always_inline __u32 hash(const struct tuple *t, __u64 nonce)
{
	__u64 w[5] = { t->w[0], t->w[1], t->w[2], t->w[3],
		       t->w[4] | 36ull << 56 };

	return (__u32)sip(nonce, 0, w, 5);
}

/* What a passive end answers to @nonce in a SYN that was followed by @next. */
static __always_inline __u64 answer(const struct tuple *t, __u64 nonce,
				    __u32 next)
{
	__u64 w[8] = { nonce, next, t->w[0], t->w[1], t->w[2], t->w[3],
		       t->w[4], 56ull << 56 };

	return sip(secret.k0, secret.k1, w, 8) | 1;
}

static __always_inline struct tux_bpf_mark *mark_of(struct bpf_sock_ops *s)
{
	struct bpf_sock *sk = s->sk;

	return sk ? bpf_sk_storage_get(&marks, sk, 0, 0) : 0;
}

/* ---- marked sockets begin ---- */

static __always_inline void want_options(struct bpf_sock_ops *s,
					 struct tux_bpf_mark *m)
{
	m->shared = (s->bpf_sock_ops_cb_flags & WRITES) != 0;
	bpf_sock_ops_cb_flags_set(s, s->bpf_sock_ops_cb_flags | WRITES);
}

static __always_inline void want_none(struct bpf_sock_ops *s,
				      const struct tux_bpf_mark *m)
{
	if (!m->shared)
		bpf_sock_ops_cb_flags_set(s,
					  s->bpf_sock_ops_cb_flags & ~WRITES);
}

static __always_inline void on_connect(struct bpf_sock_ops *s)
{
	struct tux_bpf_mark *m = mark_of(s);

	if (!m)
		return;
	m->saw = TUX_BPF_SAW_NOTHING;
	m->syns = 0;
	want_options(s, m);
}

static __always_inline void on_listen(struct bpf_sock_ops *s)
{
	struct tux_bpf_mark *m = mark_of(s);
	int one = 1;

	if (!m)
		return;
	bpf_setsockopt(s, TCP_OPTIONS, SAVE_SYN, &one, sizeof(one));
	want_options(s, m);
}

/* ---- options out ---- */

/* Does a listener of this process answer? */
static __always_inline int ours(struct bpf_sock_ops *s)
{
	struct tux_bpf_listener l = { .port = s->local_port };
	__u64 w[2];

	l.netns = bpf_get_netns_cookie(s);
	local(s, w);
	l.addr[0] = (__u32)w[0];
	l.addr[1] = (__u32)(w[0] >> 32);
	l.addr[2] = (__u32)w[1];
	l.addr[3] = (__u32)(w[1] >> 32);
	if (bpf_map_lookup_elem(&listeners, &l))
		return 1;
	l.addr[0] = l.addr[1] = l.addr[3] = 0;
	l.addr[2] = s->family == INET ? (__u32)v4_word(0) : 0;
	return bpf_map_lookup_elem(&listeners, &l) != 0;
}

/* Our option in what came; @from is 0 or BPF_LOAD_HDR_OPT_TCP_SYN.  1, or why
 * not. */
static __always_inline int load(struct bpf_sock_ops *s, struct option *o,
				__u64 from)
{
	int r;

	o->kind = TUX_OPT_KIND;
	o->len = 4;			/* to be found by kind and id */
	o->id = bpf_htons(TUX_OPT_ID);
	r = bpf_load_hdr_opt(s, o, sizeof(*o), from);
	if (r < 0)
		return r;
	return o->len == sizeof(*o) && o->nonce ? 1 : -1;
}

static __always_inline void on_length(struct bpf_sock_ops *s)
{
	struct option o = { 0 };
	struct tux_bpf_mark *m;

	if (s->skb_tcp_flags == SYN) {
		m = mark_of(s);
		if (!m)
			return;
		if (m->syns >= TUX_OPT_SYNS) {
			want_none(s, m);
			return;
		}
	} else if ((s->skb_tcp_flags & SYN_ACK) != SYN_ACK ||
		   s->args[0] == BPF_WRITE_HDR_TCP_SYNACK_COOKIE ||
		   !ours(s) || load(s, &o, BPF_LOAD_HDR_OPT_TCP_SYN) < 0) {
		return;
	}
	bpf_reserve_hdr_opt(s, sizeof(o), 0);
}

static __always_inline void store(struct bpf_sock_ops *s, __u64 nonce,
				  const struct tuple *t)
{
	struct option o = {
		.kind = TUX_OPT_KIND, .len = sizeof(o),
		.id = bpf_htons(TUX_OPT_ID), .nonce = bpf_cpu_to_be64(nonce),
		.hash = bpf_htonl(hash(t, nonce)),
	};

	bpf_store_hdr_opt(s, &o, sizeof(o), 0);
}

static __always_inline void write_syn(struct bpf_sock_ops *s)
{
	struct tux_bpf_mark *m = mark_of(s);
	struct tuple t;

	if (!m || m->syns >= TUX_OPT_SYNS)
		return;
	m->syns++;
	t = tuple_of(s, 1);
	store(s, m->nonce, &t);
}

static __always_inline void write_syn_ack(struct bpf_sock_ops *s)
{
	struct tcphdr *tcp = s->skb_data;
	struct option o = { 0 };
	struct tuple t;

	if (s->args[0] == BPF_WRITE_HDR_TCP_SYNACK_COOKIE || !ours(s) ||
	    load(s, &o, BPF_LOAD_HDR_OPT_TCP_SYN) < 0 ||
	    (void *)(tcp + 1) > s->skb_data_end)
		return;
	t = tuple_of(s, 0);
	store(s, answer(&t, bpf_be64_to_cpu(o.nonce), bpf_ntohl(tcp->ack_seq)),
	      &t);
}

static __always_inline void on_write(struct bpf_sock_ops *s)
{
	if (s->skb_tcp_flags == SYN)
		write_syn(s);
	else if ((s->skb_tcp_flags & SYN_ACK) == SYN_ACK)
		write_syn_ack(s);
}

/* ---- the handshake is over ---- */

static __always_inline void on_established(struct bpf_sock_ops *s, int active)
{
	struct tux_bpf_mark *m = mark_of(s);
	struct option o = { 0 };
	struct tuple t;
	int r;

	if (!m)
		return;
	r = load(s, &o, active ? 0 : BPF_LOAD_HDR_OPT_TCP_SYN);
	m->isn = s->snd_nxt - 1;
	m->peer_isn = s->rcv_nxt - 1;
	if (r > 0) {
		m->peer_nonce = bpf_be64_to_cpu(o.nonce);
		m->peer_hash = bpf_ntohl(o.hash);
		m->saw = TUX_BPF_SAW_OPTION;
		if (!active) {
			t = tuple_of(s, 0);
			m->nonce = answer(&t, m->peer_nonce, s->rcv_nxt);
		}
	} else {
		/* ENOENT: a listener of ours keeps SYNs, and this one is not
		 * there. */
		m->saw = !active && r == -2 ? TUX_BPF_SAW_COOKIE :
			 TUX_BPF_SAW_NONE;
	}
	want_none(s, m);
}

SEC("sockops")
int tux_announce(struct bpf_sock_ops *s)
{
	switch (s->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		on_connect(s);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		on_listen(s);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		on_length(s);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		on_write(s);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		on_established(s, 1);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		on_established(s, 0);
		break;
	}
	return 1;
}

char _license[] SEC("license") = "Dual BSD/GPL";
