/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * dropped_bpf - paths on which segments with the option are lost
 *
 * A path may drop SYNs with the option, or SYN-ACKs.  The first ones of a connection
 * carry it, and those after them do not: so the connection comes about, if late.
 * Where that has happened twice in a row, connections to the same address and port do
 * without the option for a while, which is doubled each time.  A server that takes no
 * connections for some seconds looks the same.  So what happens within five seconds
 * counts once, and the first connection that comes about at once, or with an option of
 * the other end's, ends the row; so does a day.
 *
 * The kernel forgets entries of a table that is nearly full: then the first segments
 * carry the option again.
 */
#ifndef TUX_DROPPED_BPF_H
#define TUX_DROPPED_BPF_H

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "announce_bpf.h"

#define DROPPED_PATHS	1024
#define DROPPED_ANSWERS	2048
#define DROPPED_TIMES	2		/* in a row, before one does without */
#define DROPPED_ONCE	(5 * 1000000000ull)
#define DROPPED_DAY	(86400 * 1000000000ull)
#define DROPPED_HOLD	(600 * 1000000000ull)
#define DROPPED_DOUBLED	6		/* times: 11 hours at most */

struct dropped_path {
	__u64 netns;
	__u64 addr[2];			/* the other end's */
	__u32 port;
	__u32 zero;
};

struct dropped {
	__u64 at;			/* the last time that counted; since boot, ns */
	__u64 until;			/* connections do without */
	__u32 times;			/* in a row */
	__u32 zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DROPPED_PATHS);
	__type(key, struct dropped_path);
	__type(value, struct dropped);
} dropped_paths SEC(".maps");

/* How many SYN-ACKs have left for a connection. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, DROPPED_ANSWERS);
	__type(key, __u64);
	__type(value, __u32);
} dropped_answers SEC(".maps");

/* ---- SYNs ---- */

/* Does a new connection to @p do without the option? */
static __always_inline int drops_syns(const struct dropped_path *p)
{
	struct dropped *d = bpf_map_lookup_elem(&dropped_paths, p);

	return d && bpf_ktime_get_boot_ns() < d->until;
}

/* A connection to @p has come about late, and without an option of the other end's. */
static __always_inline void syns_dropped(const struct dropped_path *p)
{
	struct dropped *had = bpf_map_lookup_elem(&dropped_paths, p);
	struct dropped d = { .at = bpf_ktime_get_boot_ns(), .times = 1 };
	__u32 more;

	if (had) {
		if (d.at < had->until || d.at < had->at + DROPPED_ONCE)
			return;
		if (d.at < (had->at > had->until ? had->at : had->until) +
			   DROPPED_DAY)
			d.times = had->times + 1;
	}
	more = d.times - DROPPED_TIMES;
	if (d.times >= DROPPED_TIMES)
		d.until = d.at + (DROPPED_HOLD <<
			  (more < DROPPED_DOUBLED ? more : DROPPED_DOUBLED));
	bpf_map_update_elem(&dropped_paths, p, &d, BPF_ANY);
}

/* One has come about at once, or with an option of the other end's. */
static __always_inline void syns_arrive(const struct dropped_path *p)
{
	if (bpf_map_lookup_elem(&dropped_paths, p))
		bpf_map_delete_elem(&dropped_paths, p);
}

/* ---- SYN-ACKs ---- */

/* Does the next SYN-ACK of the connection @key carry the option? */
static __always_inline int answers_carry(__u64 key)
{
	__u32 *n = bpf_map_lookup_elem(&dropped_answers, &key);

	return !n || *n < TUX_OPT_SYN_ACKS;
}

/* One has left, or does now. */
static __always_inline void answer_left(__u64 key)
{
	__u32 *had = bpf_map_lookup_elem(&dropped_answers, &key);
	__u32 n = had ? *had + 1 : 1;

	if (n <= TUX_OPT_SYN_ACKS + 1)
		bpf_map_update_elem(&dropped_answers, &key, &n, BPF_ANY);
}

/* The connection has come about.  Had all its SYN-ACKs the option? */
static __always_inline int answers_carried(__u64 key)
{
	__u32 *n = bpf_map_lookup_elem(&dropped_answers, &key);
	int all = !n || *n <= TUX_OPT_SYN_ACKS;

	if (n)
		bpf_map_delete_elem(&dropped_answers, &key);
	return all;
}

#endif
