/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * quota_bpf - how many listeners a user may have
 *
 * The host's list of listeners has an end, and no user may take it all.
 */
#ifndef TUX_QUOTA_BPF_H
#define TUX_QUOTA_BPF_H

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "tuxd_bpf.h"

/* Of users that have listeners: each two entries at most. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 2 * TUX_BPF_HOST_LISTENERS);
	__type(key, struct tux_bpf_quota);
	__type(value, __u32);
} quotas SEC(".maps");

static __always_inline void quota_drop(struct tux_bpf_quota *q)
{
	__u32 *n = bpf_map_lookup_elem(&quotas, q);

	if (n && __sync_fetch_and_add(n, -1) == 1)
		bpf_map_delete_elem(&quotas, q);
}

static __always_inline int quota_take(struct tux_bpf_quota *q, __u32 most)
{
	__u32 zero = 0, *n = bpf_map_lookup_elem(&quotas, q);

	if (!n) {
		bpf_map_update_elem(&quotas, q, &zero, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&quotas, q);
	}
	if (!n)
		return 0;
	if (__sync_fetch_and_add(n, 1) < most)
		return 1;
	quota_drop(q);
	return 0;
}

static __always_inline void user_drop(__u32 uid)
{
	struct tux_bpf_quota user = { .user = uid };
	struct tux_bpf_quota block = { .block = 1, .user = uid >> 16 };

	quota_drop(&user);
	if (block.user)
		quota_drop(&block);
}

static __always_inline int user_take(__u32 uid)
{
	struct tux_bpf_quota user = { .user = uid };
	struct tux_bpf_quota block = { .block = 1, .user = uid >> 16 };

	if (!quota_take(&user, TUX_BPF_USER_LISTENERS))
		return 0;
	if (!block.user || quota_take(&block, TUX_BPF_BLOCK_LISTENERS))
		return 1;
	quota_drop(&user);
	return 0;
}

#endif
