/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ycsb - workloads C (reads) and F (reads, and as many read-modify-writes) of YCSB
 * as contrib/tuxkv has them
 *
 * The number of a question decides what it asks for, and is the id by which its
 * answer is found.
 */
#include "talk.h"

#include "base/rng.h"
#include "../contrib/tuxkv/proto.h"

/* What question @id asks. */
static enum kv_op draw(const struct talk *t, uint64_t id, struct kv_key *k)
{
	struct tux_key seed = { id, t->seed };
	struct tux_rng r;
	bool odd;

	tux_rng_init(&r, &seed);
	odd = tux_rng_u64(&r) & 1;
	k->key = tux_rng_u64(&r);
	if (t->zipf.n) {
		/* Records that are asked for often lie anywhere; which they are
		 * depends on no seed, as with YCSB. */
		seed.k1 = 0;
		seed.k0 = zipf_draw(&t->zipf, (double)(k->key >> 11) * 0x1p-53);
		tux_rng_init(&r, &seed);
		k->key = tux_rng_u64(&r);
	}
	k->key %= t->records;
	return odd && t->ops == &talk_ycsb_f ? KV_RMW : KV_GET;
}

static size_t ask(const struct talk *t, uint64_t id, uint8_t *p)
{
	struct kv_hdr h = { .len = sizeof(h) + sizeof(struct kv_key), .id = id };
	struct kv_key k;

	h.op = (uint16_t)draw(t, id, &k);
	memcpy(p, &h, sizeof(h));
	memcpy(p + sizeof(h), &k, sizeof(k));
	return h.len;
}

static ssize_t check(const struct talk *t, uint64_t id, const uint8_t *p,
		     size_t len)
{
	struct kv_record r;
	struct kv_hdr h;
	struct kv_key k;

	if (len < sizeof(h))
		return 0;
	memcpy(&h, p, sizeof(h));
	if (h.id != id || h.status != KV_OK || h.len != sizeof(h) + sizeof(r) ||
	    h.op != draw(t, id, &k))
		return -1;
	if (len < h.len)
		return 0;
	memcpy(&r, p + sizeof(h), sizeof(r));
	return kv_record_check(&r, k.key) ? (ssize_t)h.len : -1;
}

const struct talk_ops talk_ycsb_c = {
	.name = "ycsb-c", .room = KV_ANSWER_MAX, .any_order = true,
	.ask = ask, .check = check,
};

const struct talk_ops talk_ycsb_f = {
	.name = "ycsb-f", .room = KV_ANSWER_MAX, .any_order = true,
	.ask = ask, .check = check,
};
