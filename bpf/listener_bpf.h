/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * listener_bpf - the places where marked sockets listen
 *
 * The answer to a SYN is written where only its addresses are known, so the
 * listeners of the host are listed by address, port and network namespace.
 */
#ifndef TUX_LISTENER_BPF_H
#define TUX_LISTENER_BPF_H

#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#include "handshake_bpf.h"
#include "held_bpf.h"
#include "quota_bpf.h"
#include "tuxd_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TUX_BPF_HOST_LISTENERS);
	__type(key, struct tux_bpf_listener);
	__type(value, struct tux_bpf_count);
} listeners SEC(".maps");

#define TRIES 4				/* while another processor removes one */

/* ---- listeners: where they are ---- */

/* Another listener at the same place may say something else.  A reason is then
 * said only if it is the same.  The port stays the first one's: whichever
 * process has the connection knows the active end's, and opens. */
static __always_inline void join_listeners(struct tux_bpf_count *c,
					   const struct tux_bpf_end *e)
{
	if (c->end.why != e->why)
		c->end.why = 0;
}

static __always_inline int count_up(const struct tux_bpf_listener *l,
				    const struct tux_bpf_end *e)
{
	struct tux_bpf_count first = { .count = 1, .end = *e }, *c;
	int i;

#pragma unroll
	for (i = 0; i < TRIES; i++) {
		c = bpf_map_lookup_elem(&listeners, l);
		if (!c && !bpf_map_update_elem(&listeners, l, &first,
					       BPF_NOEXIST))
			return 1;
		if (!c)
			continue;
		/* Another processor is about to remove one that is gone, or
		 * has, and its memory is another one's by now. */
		if (__sync_fetch_and_add(&c->count, 1) & TUX_BPF_COUNT_GONE)
			continue;
		if (bpf_map_lookup_elem(&listeners, l) == c) {
			join_listeners(c, e);
			return 1;
		}
		__sync_fetch_and_add(&c->count, -1);
	}
	return 0;
}

static __always_inline void count_down(const struct tux_bpf_listener *l)
{
	struct tux_bpf_count *c = bpf_map_lookup_elem(&listeners, l);

	if (c && __sync_fetch_and_add(&c->count, -1) == 1 &&
	    !__sync_val_compare_and_swap(&c->count, 0, TUX_BPF_COUNT_GONE) &&
	    bpf_map_delete_elem(&listeners, l))
		c->count = 0;		/* it stays, for the next one there */
}

static __always_inline int add_listener(const struct tux_bpf_listener *l,
					struct held *h)
{
	h->m.saw = TUX_BPF_SAW_QUOTA;
	if (!quotas_take(&h->quotas, secret.k0, secret.k1, h->uid, h->cgroup))
		return 0;
	if (!count_up(l, &h->m.here)) {
		quotas_drop(&h->quotas);
		return 0;
	}
	h->listed = 1;
	h->m.saw = TUX_BPF_SAW_NOTHING;
	return 1;
}

static __always_inline void drop_listener(const struct tux_bpf_listener *l,
					  struct held *h)
{
	if (!h->listed)
		return;
	h->listed = 0;
	quotas_drop(&h->quotas);
	count_down(l);
}

#endif
