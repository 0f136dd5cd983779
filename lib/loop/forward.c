/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/forward.h"

#include "sys/take.h"

struct header {
	struct tux_addr from;
	uint32_t len;
};

void tux_forward_put(struct tux_forward *b, const struct tux_addr *from,
		     const uint8_t *p, size_t len)
{
	struct header e = { *from, (uint32_t)len };
	uint32_t at;

	tux_latch_take(&b->latch);
	at = atomic_load_explicit(&b->len, memory_order_relaxed);
	if (len <= TUX_FORWARD_LEN && TUX_FORWARD_LEN - at >= sizeof(e) + len) {
		memcpy(b->buf[b->side] + at, &e, sizeof(e));
		memcpy(b->buf[b->side] + at + sizeof(e), p, len);
		atomic_store(&b->len, at + (uint32_t)(sizeof(e) + len));
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

bool tux_forward_next(struct tux_forward_walk *m, struct tux_forwarded *l)
{
	struct header e;

	if (m->at == m->end)
		return false;
	memcpy(&e, m->at, sizeof(e));
	l->from = e.from;
	l->len = e.len;
	l->p = m->at + sizeof(e);
	m->at = l->p + e.len;
	return true;
}
