// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * announce - "I speak Tux", in TCP's own handshake, for the sockets of a process
 *
 * The process marks them, and lists its listeners; handshake_bpf.h says what
 * follows.  Where tuxd has loaded its programs (tuxd.bpf.c), no process loads
 * this one.
 *
 * Several processes may have a program each on the same cgroup: a mark is in
 * the process's own map, and so is the list of its listeners.
 */
#include "handshake_bpf.h"

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
	__type(value, struct tux_bpf_end);
} listeners SEC(".maps");

static __always_inline struct tux_bpf_mark *mark_of(struct bpf_sock_ops *s)
{
	struct bpf_sock *sk = s->sk;

	return sk ? bpf_sk_storage_get(&marks, sk, 0, 0) : 0;
}

static __always_inline void on_length(struct bpf_sock_ops *s)
{
	struct tux_bpf_mark *m;

	if (is_syn(s)) {
		m = mark_of(s);
		if (m)
			syn_length(s, m);
	} else if (is_syn_ack(s) && find_listener(s, &listeners)) {
		syn_ack_length(s);
	}
}

static __always_inline void on_write(struct bpf_sock_ops *s)
{
	struct tux_bpf_mark *m;
	struct tux_bpf_end *e;

	if (is_syn(s)) {
		m = mark_of(s);
		if (m)
			write_syn(s, m);
	} else if (is_syn_ack(s)) {
		e = find_listener(s, &listeners);
		if (e)
			write_syn_ack(s, e);
	}
}

static __always_inline void on_end(struct bpf_sock_ops *s, int active)
{
	struct tux_bpf_mark *m = mark_of(s);

	if (!m)
		return;
	on_established(s, m, active);
	want_no_more(s, m);
}

static __always_inline void on_begin(struct bpf_sock_ops *s, int listens)
{
	struct tux_bpf_mark *m = mark_of(s);

	if (!m)
		return;
	if (listens) {
		keep_syns(s);
		want(s, m, WRITES);
	} else {
		on_connect(s, m);
	}
}

SEC("sockops")
int tux_announce(struct bpf_sock_ops *s)
{
	switch (s->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
		on_begin(s, 0);
		break;
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
		on_begin(s, 1);
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
