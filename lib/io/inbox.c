/* SPDX-License-Identifier: BSD-2-Clause */
#include "io/inbox.h"

#include "io/take.h"

void tux_inbox_put(struct tux_inbox *b, const struct tux_addr *from,
		   const uint8_t *p, size_t len)
{
	struct tux_letter *l;
	uint32_t n;

	if (len > TUX_INBOX_LEN)
		return;
	tux_latch_take(&b->latch);
	n = atomic_load_explicit(&b->n, memory_order_relaxed);
	if (n < TUX_INBOX_N) {
		l = &b->letter[n];
		l->from = *from;
		l->len = (uint16_t)len;
		memcpy(l->p, p, len);
		atomic_store(&b->n, n + 1);
	}
	tux_latch_drop(&b->latch);
}

bool tux_inbox_take(struct tux_inbox *b, struct tux_letter *l)
{
	uint32_t n;

	if (tux_inbox_empty(b))
		return false;
	tux_latch_take(&b->latch);
	n = atomic_load_explicit(&b->n, memory_order_relaxed);
	if (n) {
		*l = b->letter[n - 1];
		atomic_store(&b->n, n - 1);
	}
	tux_latch_drop(&b->latch);
	return n > 0;
}
