// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * tuxd - "I speak Tux", in TCP's own handshake, for every process of a cgroup
 *
 * A process marks its sockets, and asks for what came of a handshake, by an
 * option of setsockopt(): tuxd_bpf.h.  Only the holder of a descriptor can ask.
 * handshake_bpf.h says what the option in the handshake is.
 *
 * tuxd of a child cgroup runs before that of its parent.  The first that sees
 * an option of ours takes it, so the nearest tuxd has the socket.
 */
#include "handshake_bpf.h"
#include "held_bpf.h"
#include "holders_bpf.h"
#include "listener_bpf.h"
#include "tuxd_bpf.h"

#define INET6	10
#define STREAM	1			/* SOCK_STREAM */
#define TCP	6
#define CB_FLAGS 1008			/* TCP_BPF_SOCK_OPS_CB_FLAGS, Linux 6.12 */
#define CLOSE	7			/* TCP_CLOSE */
#define LISTEN	10
#define PAGE	4096
#define STATES	BPF_SOCK_OPS_STATE_CB_FLAG

#define ENOENT	2
#define EINVAL	22
#define EDQUOT	122
#define EOPNOTSUPP 95
#define EISCONN	106

const volatile struct tux_bpf_settings settings SEC(".rodata.settings");

/* ---- socket options ---- */

/* As FIELD: of a socket. */
#define SOCK(sk, f) ({ \
	__u64 v_; \
	asm volatile("%0 = *(u32 *)(%1 + %2)" : "=r"(v_) \
		     : "r"(sk), "i"(offsetof(struct bpf_sock, f))); \
	(__u32)v_; })

static __always_inline int is_tcp(struct bpf_sock *sk)
{
	return (sk->family == INET || sk->family == INET6) &&
	       sk->type == STREAM && sk->protocol == TCP;
}

static __always_inline void place_of(struct bpf_sockopt *c,
				     struct bpf_sock *sk,
				     struct tux_bpf_listener *l)
{
	l->netns = bpf_get_netns_cookie(c);
	l->port = SOCK(sk, src_port);
	if (SOCK(sk, family) == INET) {
		l->addr[2] = (__u32)v4_word(0);
		l->addr[3] = SOCK(sk, src_ip4);
		return;
	}
	l->addr[0] = SOCK(sk, src_ip6[0]);
	l->addr[1] = SOCK(sk, src_ip6[1]);
	l->addr[2] = SOCK(sk, src_ip6[2]);
	l->addr[3] = SOCK(sk, src_ip6[3]);
}

/* Asks for the callbacks of @sk, which listens already.  It may have some of them: for
 * other programs, or for us, from an earlier mark. */
static __always_inline int want_late(struct bpf_sock *sk, struct tux_bpf_mark *m)
{
	int had = 0, flags = WRITES | STATES;

	if (!settings.all &&
	    bpf_getsockopt(sk, TCP, CB_FLAGS, &had, sizeof(had)))
		return 0;
	m->asked |= (__u8)(flags & ~had);
	if (settings.all)
		return 1;
	flags |= had;
	return !bpf_setsockopt(sk, TCP, CB_FLAGS, &flags, sizeof(flags));
}

/* A listener that was not marked before it listened. */
static __always_inline int mark_late(struct bpf_sock *sk, struct held *h,
				     const struct tux_bpf_listener *l)
{
	int one = 1;

	if (!want_late(sk, &h->m) ||
	    bpf_setsockopt(sk, TCP, SAVE_SYN, &one, sizeof(one)))
		return -EOPNOTSUPP;
	return add_listener(l, h) ? 0 : -EDQUOT;
}

/* Stores user and cgroup of the process that marks the socket: if that listens, it
 * counts for their quotas. */
static __always_inline void owned(struct held *h)
{
	h->uid = (__u32)bpf_get_current_uid_gid();
	h->cgroup = bpf_get_current_cgroup_id();
}

static __always_inline int mark_listener(struct bpf_sockopt *c,
					 struct bpf_sock *sk, struct held *h)
{
	struct tux_bpf_listener l = { 0 };
	struct tux_bpf_count *at;

	place_of(c, sk, &l);
	if (!h->listed) {
		owned(h);
		return mark_late(sk, h, &l);
	}
	at = bpf_map_lookup_elem(&listeners, &l);
	if (at && at->count == 1)
		at->end = h->m.here;
	else if (at)
		join_listeners(at, &h->m.here);
	return 0;
}

static __always_inline int mark(struct bpf_sockopt *c)
{
	struct tux_bpf_want *w = c->optval;
	struct bpf_sock *sk = c->sk;
	struct held *h;

	if (!sk || !is_tcp(sk) || (void *)(w + 1) > c->optval_end || !w->nonce)
		return -EINVAL;
	if (sk->state != CLOSE && sk->state != LISTEN)
		return -EISCONN;
	h = bpf_sk_storage_get(&marks, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!h)
		return -EINVAL;
	h->m.nonce = w->nonce;
	h->m.here = w->here;
	if (sk->state == LISTEN)
		return mark_listener(c, sk, h);
	h->m.saw = TUX_BPF_SAW_NOTHING;
	owned(h);
	return 0;
}

/* @i: which word of the two of @v, or of the lower one alone. */
static __always_inline int word(__u64 low, __u64 high, __u32 i)
{
	__u32 at = i * TUX_BPF_WORD_BITS;
	__u64 v = at < 64 ? low >> at : high >> (at - 64);

	if (at < 64 && at > 64 - TUX_BPF_WORD_BITS)
		v |= high << (64 - at);
	return -(TUX_BPF_WORD + (int)(v & TUX_BPF_WORD_MASK));
}

static __always_inline int answer(struct bpf_sockopt *c, __u32 i)
{
	struct bpf_sock *sk = c->sk;
	struct tux_bpf_end *peer;
	struct held *h;

	h = sk ? bpf_sk_storage_get(&marks, sk, 0, 0) : 0;
	if (!h)
		return -ENOENT;
	if (i < TUX_BPF_SAW_WORDS)
		return word(h->m.saw, 0, 0);
	i -= TUX_BPF_SAW_WORDS;
	if (h->m.saw != TUX_BPF_SAW_OPTION)
		return -EINVAL;
	h->flags |= TUX_BPF_HELD_READ;
	if (i < TUX_BPF_KEY_WORDS)
		return word(h->key[0], h->key[1], i);
	i -= TUX_BPF_KEY_WORDS;
	peer = &h->m.peer;
	if (i < TUX_BPF_PEER_WORDS)
		return word(peer->port | (__u64)peer->version << 16 |
			    (__u64)peer->why << 24, 0, i);
	return -EINVAL;
}

static __always_inline int conf(__u32 i)
{
	if (i == 0)
		return word(settings.conf.abi, 0, 0);
	if (i < 3)
		return word(settings.conf.low, 0, i - 1);
	if (i < TUX_BPF_CONF_WORDS)
		return word(settings.conf.high, 0, i - 3);
	return -EINVAL;
}

static __always_inline int held_by(struct bpf_sock *sk)
{
	struct held *h;
	long n;

	h = sk ? bpf_sk_storage_get(&marks, sk, 0, 0) : 0;
	if (!h)
		return -ENOENT;
	n = holders(sk);
	if (n < 0)
		return -EOPNOTSUPP;
	return word((__u64)n | h->flags, 0, 0);
}

static __always_inline int own_option(struct bpf_sockopt *c)
{
	__u32 name = (__u32)c->optname, i = name & 0xff;

	switch (name & ~0xffu) {
	case TUX_BPF_MARK:
		return mark(c);
	case TUX_BPF_READ:
		return answer(c, i);
	case TUX_BPF_CONF:
		return conf(i);
	case TUX_BPF_HELD:
		return i ? -EINVAL : held_by(c->sk);
	}
	return -EINVAL;
}

SEC("cgroup/setsockopt")
int tux_option(struct bpf_sockopt *c)
{
	int r;

	if (c->level != TUX_BPF_LEVEL) {
		/* The kernel has shown us a page of it.  0: it goes on with the
		 * caller's own. */
		if (c->optlen > PAGE)
			c->optlen = 0;
		return 1;
	}
	if (c->optlen < 0)
		return 1;		/* another tuxd has taken it */
	r = own_option(c);
	c->optlen = -1;			/* it is not for the kernel */
	if (!r)
		return 1;
	bpf_set_retval(r);
	return 0;
}

/* ---- handshakes ---- */

static __always_inline struct held *held_of(struct bpf_sock_ops *s)
{
	struct bpf_sock *sk = s->sk;

	return sk ? bpf_sk_storage_get(&marks, sk, 0, 0) : 0;
}

static __always_inline void on_listen(struct bpf_sock_ops *s)
{
	struct tux_bpf_listener l;
	struct held *h = held_of(s);

	if (h) {
		keep_syns(s);
		want(s, &h->m, WRITES | STATES);
		listener_of(s, &l);
		add_listener(&l, h);
	} else if (settings.all) {
		bpf_sock_ops_cb_flags_set(s, s->bpf_sock_ops_cb_flags |
					     WRITES | STATES);
	}
}

static __always_inline void on_state(struct bpf_sock_ops *s)
{
	struct tux_bpf_listener l;
	struct held *h;

	if (s->args[0] != LISTEN)
		return;
	h = held_of(s);
	if (!h)
		return;
	listener_of(s, &l);
	drop_listener(&l, h);
	want_no_more(s, &h->m);
}

static __always_inline void on_length(struct bpf_sock_ops *s)
{
	struct held *h;

	if (is_syn(s)) {
		h = held_of(s);
		if (h)
			syn_length(s, &h->m);
	} else if (is_syn_ack(s) && find_listener(s, &listeners)) {
		syn_ack_length(s);
	}
}

static __always_inline void on_write(struct bpf_sock_ops *s)
{
	struct tux_bpf_count *c;
	struct held *h;

	if (is_syn(s)) {
		h = held_of(s);
		if (h)
			write_syn(s, &h->m);
	} else if (is_syn_ack(s)) {
		c = find_listener(s, &listeners);
		if (c)
			write_syn_ack(s, &c->end);
	}
}

/* A child of a listener begins with the listener's mark and callbacks. */
static __always_inline void on_end(struct bpf_sock_ops *s, int active)
{
	struct held *h = held_of(s);
	__u8 quota;

	if (h) {
		quota = h->m.saw == TUX_BPF_SAW_QUOTA;
		h->listed = 0;
		h->flags = active ? TUX_BPF_HELD_ACTIVE : 0;
		on_established(s, &h->m, active);
		option_key(h->key, &h->m, active);
		if (quota && !active)
			h->m.saw = TUX_BPF_SAW_QUOTA;
		want_no_more(s, &h->m);
	} else if (settings.all && !active) {
		bpf_sock_ops_cb_flags_set(s, s->bpf_sock_ops_cb_flags &
					     ~WRITES);
	}
}

SEC("sockops")
int tux_shake(struct bpf_sock_ops *s)
{
	struct held *h;

	switch (s->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		h = held_of(s);
		if (h)
			on_connect(s, &h->m);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		on_listen(s);
		break;
	case BPF_SOCK_OPS_STATE_CB:
		on_state(s);
		break;
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:
		on_length(s);
		break;
	case BPF_SOCK_OPS_WRITE_HDR_OPT_CB:
		on_write(s);
		break;
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
		on_end(s, 1);
		break;
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		on_end(s, 0);
		break;
	}
	return 1;
}

char _license[] SEC("license") = "Dual BSD/GPL";
