/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/forward.h"

#include <string.h>

#include "sys/take.h"

struct header {
	struct tux_addr from;
	uint32_t len;
	uint8_t ecn, via;
};

void tux_forward_put(struct tux_forward *b, const struct tux_dgram *d)
{
	struct header h = {
		d->from, (uint32_t)d->len, d->ecn, (uint8_t)d->via,
	};
	uint32_t at;

	tux_latch_take(&b->latch);
	at = atomic_load_explicit(&b->len, memory_order_relaxed);
	if (d->len <= TUX_FORWARD_LEN &&
	    TUX_FORWARD_LEN - at >= sizeof(h) + d->len) {
		memcpy(b->buf[b->side] + at, &h, sizeof(h));
		memcpy(b->buf[b->side] + at + sizeof(h), d->p, d->len);
		atomic_store(&b->len, at + (uint32_t)(sizeof(h) + d->len));
	}
	tux_latch_drop(&b->latch);
}

struct tux_forward_walk tux_forward_take(struct tux_forward *b)
{
	struct tux_forward_walk m;

	tux_latch_take(&b->latch);
	m.at = b->buf[b->side];
	m.end = m.at + atomic_exchange(&b->len, 0);
	b->side = !b->side;
	tux_latch_drop(&b->latch);
	return m;
}

bool tux_forward_next(struct tux_forward_walk *m, struct tux_dgram *d)
{
	struct header h;

	if (m->at == m->end)
		return false;
	memcpy(&h, m->at, sizeof(h));
	*d = (struct tux_dgram){
		.from = h.from, .p = m->at + sizeof(h), .len = h.len,
		.ecn = h.ecn, .queue = -1, .via = h.via,
	};
	m->at = d->p + d->len;
	return true;
}
