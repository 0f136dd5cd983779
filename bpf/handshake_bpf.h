/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * handshake_bpf - the option in TCP's handshake, for sockops programs
 *
 * Marked sockets send it in their SYN.  A listener of ours answers it in the
 * SYN-ACK.  Of what came, and of the initial sequence numbers, the socket's mark
 * keeps a note.
 *
 * A socket that only asks for a connection has no mark, so the answer's nonce
 * is no random number but a keyed hash of what is known then and also later,
 * when the connection is there.
 *
 * A program has maps of its own for marks and for listeners; what is here is
 * told what they say.  Which paths drop the option is in dropped_bpf.h.
 */
#ifndef TUX_HANDSHAKE_BPF_H
#define TUX_HANDSHAKE_BPF_H

#include <linux/bpf.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "announce_bpf.h"
#include "dropped_bpf.h"
#include "option_bpf.h"

#define INET	2			/* AF_INET: sys/socket.h is not for here */
#define TCP_OPTIONS	6		/* SOL_TCP */
#define SAVE_SYN	27		/* TCP_SAVE_SYN */
#define SYN	0x02
#define SYN_ACK	0x12
#define WRITES	BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG

/* What bpf_load_hdr_opt() says: there is no SYN to look at; the option is longer
 * than ours. */
#define NO_SYN	(-2)			/* ENOENT */
#define OTHER_LEN (-28)			/* ENOSPC */

/* Random, set before the program is loaded. */
const volatile struct tux_bpf_secret secret SEC(".rodata.secret");

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

static __always_inline struct dropped_path path_of(struct bpf_sock_ops *s)
{
	struct dropped_path p = { .netns = bpf_get_netns_cookie(s) };

	remote(s, p.addr);
	p.port = FIELD(s, remote_port);
	return p;
}

/* ---- marked sockets begin ---- */

/* Asks for the callbacks @flags.  Others may have asked for some already: those
 * stay when we want no more. */
static __always_inline void want(struct bpf_sock_ops *s, struct tux_bpf_mark *m,
				 int flags)
{
	m->asked |= (__u8)(flags & ~s->bpf_sock_ops_cb_flags);
	bpf_sock_ops_cb_flags_set(s, s->bpf_sock_ops_cb_flags | flags);
}

/* A connection inherits the callbacks of its listener.  Another program may ask for
 * some of them when the connection is established, and that cannot be seen.  So
 * STATES stays: it costs a call for each change of state.  WRITES would cost one for
 * each packet, and is taken back, also from such a program. */
static __always_inline void want_no_more(struct bpf_sock_ops *s,
					 struct tux_bpf_mark *m)
{
	bpf_sock_ops_cb_flags_set(s, s->bpf_sock_ops_cb_flags &
				     ~(m->asked & WRITES));
	m->asked = 0;
}

static __always_inline void on_connect(struct bpf_sock_ops *s,
				       struct tux_bpf_mark *m)
{
	struct dropped_path p = path_of(s);

	m->saw = TUX_BPF_SAW_NOTHING;
	m->syns = 0;
	m->without = drops_syns(&p) != 0;
	if (!m->without)
		want(s, m, WRITES);
}

static __always_inline void keep_syns(struct bpf_sock_ops *s)
{
	int one = 1;

	bpf_setsockopt(s, TCP_OPTIONS, SAVE_SYN, &one, sizeof(one));
}

/* ---- listeners ---- */

/* Where a listener is that takes what came to @s. */
static __always_inline void listener_of(struct bpf_sock_ops *s,
					struct tux_bpf_listener *l)
{
	__u64 w[2];

	local(s, w);
	l->netns = bpf_get_netns_cookie(s);
	l->addr[0] = (__u32)w[0];
	l->addr[1] = (__u32)(w[0] >> 32);
	l->addr[2] = (__u32)w[1];
	l->addr[3] = (__u32)(w[1] >> 32);
	l->port = FIELD(s, local_port);
	l->zero = 0;
}

/* Its entry in @map, at its address or at any; NULL. */
static __always_inline void *find_listener(struct bpf_sock_ops *s, void *map)
{
	struct tux_bpf_listener l;
	void *at;

	listener_of(s, &l);
	at = bpf_map_lookup_elem(map, &l);
	if (at)
		return at;
	l.addr[0] = l.addr[1] = l.addr[3] = 0;
	l.addr[2] = FIELD(s, family) == INET ? (__u32)v4_word(0) : 0;
	return bpf_map_lookup_elem(map, &l);
}

/* ---- options out ---- */

static __always_inline int is_syn(struct bpf_sock_ops *s)
{
	return s->skb_tcp_flags == SYN;
}

/* A SYN cookie has no room for the option. */
static __always_inline int is_syn_ack(struct bpf_sock_ops *s)
{
	return (s->skb_tcp_flags & SYN_ACK) == SYN_ACK &&
	       s->args[0] != BPF_WRITE_HDR_TCP_SYNACK_COOKIE;
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
	return o->len == sizeof(*o) && o->nonce ? 1 : OTHER_LEN;
}

static __always_inline void syn_length(struct bpf_sock_ops *s,
				       struct tux_bpf_mark *m)
{
	if (m->syns >= TUX_OPT_SYNS || m->without)
		want_no_more(s, m);
	else
		bpf_reserve_hdr_opt(s, sizeof(struct option), 0);
}

/* Names the connection @t in dropped_answers: known to each SYN-ACK, and later. */
static __always_inline __u64 answers_key(const struct tuple *t, __u64 nonce)
{
	return option_answer(secret.k0, secret.k1, t, nonce, 0);
}

/* Of one of our listeners. */
static __always_inline void syn_ack_length(struct bpf_sock_ops *s)
{
	struct option o = { 0 };
	struct tuple t;
	__u64 key;

	if (load(s, &o, BPF_LOAD_HDR_OPT_TCP_SYN) <= 0)
		return;
	t = tuple_of(s, 0);
	key = answers_key(&t, bpf_be64_to_cpu(o.nonce));
	if (answers_carry(key))
		bpf_reserve_hdr_opt(s, sizeof(o), 0);
	else
		answer_left(key);
}

static __always_inline void store(struct bpf_sock_ops *s, __u64 nonce,
				  const struct tuple *t,
				  const struct tux_bpf_end *e)
{
	struct option o = {
		.kind = TUX_OPT_KIND, .len = sizeof(o),
		.id = bpf_htons(TUX_OPT_ID), .nonce = bpf_cpu_to_be64(nonce),
		.hash = bpf_htonl(option_hash(t, nonce)),
		.port = bpf_htons(e->port), .version = e->version,
		.why = e->why,
	};

	bpf_store_hdr_opt(s, &o, sizeof(o), 0);
}

static __always_inline void write_syn(struct bpf_sock_ops *s,
				      struct tux_bpf_mark *m)
{
	struct tuple t;

	if (m->syns >= TUX_OPT_SYNS || m->without)
		return;
	m->syns++;
	t = tuple_of(s, 1);
	store(s, m->nonce, &t, &m->here);
}

/* Of one of our listeners, which announces @e. */
static __always_inline void write_syn_ack(struct bpf_sock_ops *s,
					  const struct tux_bpf_end *e)
{
	struct tcphdr *tcp = s->skb_data;
	struct option o = { 0 };
	struct tuple t;
	__u64 nonce, key;

	if (load(s, &o, BPF_LOAD_HDR_OPT_TCP_SYN) < 0 ||
	    (void *)(tcp + 1) > s->skb_data_end)
		return;
	t = tuple_of(s, 0);
	nonce = bpf_be64_to_cpu(o.nonce);
	key = answers_key(&t, nonce);
	if (!answers_carry(key))
		return;			/* the room is another program's */
	answer_left(key);
	store(s, option_answer(secret.k0, secret.k1, &t, nonce,
			       bpf_ntohl(tcp->ack_seq)), &t, e);
}

/* ---- the handshake is over ---- */

static __always_inline void said(struct tux_bpf_mark *m, const struct option *o)
{
	m->peer_nonce = bpf_be64_to_cpu(o->nonce);
	m->peer_hash = bpf_ntohl(o->hash);
	m->peer.port = bpf_ntohs(o->port);
	m->peer.version = o->version;
	m->peer.why = o->why;
}

/* Why the handshake brought none: load() said @r. */
static __always_inline __u8 saw_none(int r, int active)
{
	if (r == OTHER_LEN)
		return TUX_BPF_SAW_OTHER;
	/* A listener of ours keeps SYNs, and this one is not there. */
	if (r == NO_SYN && !active)
		return TUX_BPF_SAW_COOKIE;
	return TUX_BPF_SAW_NONE;
}

/* What an active end has found out about its path, if its SYNs had the option.  The
 * second one may have brought a SYN-ACK without. */
static __always_inline void judge_path(struct bpf_sock_ops *s,
				       const struct tux_bpf_mark *m, int answered)
{
	struct dropped_path p;

	if (!m->syns)
		return;
	p = path_of(s);
	if (m->syns >= TUX_OPT_SYNS && !answered)
		syns_dropped(&p);
	else
		syns_arrive(&p);
}

/* Has a SYN-ACK without the option left for the connection @t?  The active end may
 * have received that one. */
static __always_inline int answer_dropped(const struct tux_bpf_mark *m,
					  const struct tuple *t)
{
	return !answers_carried(answers_key(t, m->peer_nonce));
}

static __always_inline void on_established(struct bpf_sock_ops *s,
					   struct tux_bpf_mark *m, int active)
{
	struct option o = { 0 };
	struct tuple t;
	int r;

	r = load(s, &o, active ? 0 : BPF_LOAD_HDR_OPT_TCP_SYN);
	m->isn = s->snd_nxt - 1;
	m->peer_isn = s->rcv_nxt - 1;
	if (active)
		judge_path(s, m, r > 0 || r == OTHER_LEN);
	if (r < 0) {
		m->saw = saw_none(r, active);
		return;
	}
	said(m, &o);
	t = tuple_of(s, active);
	if (!active)
		m->nonce = option_answer(secret.k0, secret.k1, &t,
					 m->peer_nonce, s->rcv_nxt);
	if (!active && answer_dropped(m, &t))
		m->saw = TUX_BPF_SAW_NONE;
	else
		m->saw = m->peer_hash == option_hash(&t, m->peer_nonce) ?
			 TUX_BPF_SAW_OPTION : TUX_BPF_SAW_TRANSLATED;
}

#endif
