/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * held_bpf - what tuxd's programs keep of a marked socket
 */
#ifndef TUX_HELD_BPF_H
#define TUX_HELD_BPF_H

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "quota_bpf.h"
#include "tuxd_bpf.h"

struct held {
	struct tux_bpf_mark m;
	__u64 key[2];
	__u64 cgroup;			/* of the process that has marked it */
	__u32 uid;			/* ... and its user */
	__u16 listed;			/* in `listeners`, and counted */
	__u16 flags;			/* TUX_BPF_HELD_* */
	struct quotas quotas;		/* where it is counted */
};

/* Another size, or another meaning: another TUX_BPF_MAPS. */
_Static_assert(sizeof(struct held) == 88, "what the marks of TUX_BPF_MAPS hold");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC | BPF_F_CLONE);
	__type(key, int);
	__type(value, struct held);
} marks SEC(".maps");

#endif
