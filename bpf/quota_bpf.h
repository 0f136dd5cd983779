/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * quota_bpf - how many listeners a user, a cgroup and a block of users may have
 *
 * The host's list of listeners has an end, and no user may take it all, nor a
 * container, unless it makes cgroups as the host's root.
 *
 * What is counted has a slot in each of two rows of counters, by a keyed hash, and
 * its count is the smaller one of the two.  No counter is ever made or removed:
 * processors would race for it, and a container's root, which may become any of its
 * users, could fill a table of counters that are made on demand.  Two users that share
 * both slots also share a quota; no user can choose such slots, since the key is
 * secret.
 */
#ifndef TUX_QUOTA_BPF_H
#define TUX_QUOTA_BPF_H

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "sip_bpf.h"
#include "tuxd_bpf.h"

#define QUOTA_ROWS 2
#define QUOTA_SLOTS 65536		/* of a row: 16 bits of a hash */

/* What is counted, in that order. */
enum { QUOTA_USER, QUOTA_CGROUP, QUOTA_BLOCK, QUOTAS };

struct quota {
	__u16 slot[QUOTA_ROWS];
};

struct quotas {
	struct quota of[QUOTAS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, QUOTA_ROWS * QUOTA_SLOTS);
	__type(key, __u32);
	__type(value, __u32);
} quotas SEC(".maps");

static __always_inline void quota_of(struct quota *q, __u64 k0, __u64 k1,
				     __u32 what, __u32 uid, __u64 cgroup)
{
	__u64 w[2] = { cgroup, uid | (__u64)what << 32 | 13ull << 56 };
	__u64 h = sip(k0, k1, w, 2);

	q->slot[0] = (__u16)h;
	q->slot[1] = (__u16)(h >> 16);
}

static __always_inline __u32 *quota_at(const struct quota *q, __u32 row)
{
	__u32 i = row * QUOTA_SLOTS + q->slot[row];

	return bpf_map_lookup_elem(&quotas, &i);
}

static __always_inline void quota_drop(const struct quota *q)
{
	__u32 row, *n;

#pragma unroll
	for (row = 0; row < QUOTA_ROWS; row++) {
		n = quota_at(q, row);
		if (n)
			__sync_fetch_and_add(n, -1);
	}
}

static __always_inline int quota_take(const struct quota *q, __u32 most)
{
	__u32 row, had, least = most, *n;

#pragma unroll
	for (row = 0; row < QUOTA_ROWS; row++) {
		n = quota_at(q, row);
		had = n ? __sync_fetch_and_add(n, 1) : 0;
		if (had < least)
			least = had;
	}
	if (least < most)
		return 1;
	quota_drop(q);
	return 0;
}

static __always_inline void quotas_drop(const struct quotas *q)
{
	quota_drop(&q->of[QUOTA_USER]);
	quota_drop(&q->of[QUOTA_CGROUP]);
	quota_drop(&q->of[QUOTA_BLOCK]);
}

/* One more listener of @uid, by a process of @cgroup.  Each user below 65536 is a
 * block; that of the host's root has no bound, since its containers are
 * cgroups, and it may do anything.  @q: what to drop when it ends. */
static __always_inline int quotas_take(struct quotas *q, __u64 k0, __u64 k1,
				       __u32 uid, __u64 cgroup)
{
	__u32 block = uid >> 16 ? uid >> 16 << 16 : uid;

	quota_of(&q->of[QUOTA_USER], k0, k1, QUOTA_USER, uid, cgroup);
	quota_of(&q->of[QUOTA_CGROUP], k0, k1, QUOTA_CGROUP, 0, cgroup);
	quota_of(&q->of[QUOTA_BLOCK], k0, k1, QUOTA_BLOCK, block, 0);
	if (!quota_take(&q->of[QUOTA_USER], TUX_BPF_USER_LISTENERS))
		return 0;
	if (quota_take(&q->of[QUOTA_CGROUP], TUX_BPF_CGROUP_LISTENERS)) {
		if (quota_take(&q->of[QUOTA_BLOCK],
			       uid ? TUX_BPF_BLOCK_LISTENERS : ~0u))
			return 1;
		quota_drop(&q->of[QUOTA_CGROUP]);
	}
	quota_drop(&q->of[QUOTA_USER]);
	return 0;
}

#endif
