/* SPDX-License-Identifier: BSD-2-Clause */
#include "loop/inbox.h"

#include "sys/take.h"

struct envelope {
	struct tux_addr from;
	uint32_t len;
};

void tux_inbox_put(struct tux_inbox *b, const struct tux_addr *from,
		   const uint8_t *p, size_t len)
{
	struct envelope e = { *from, (uint32_t)len };
	uint32_t at;

	tux_latch_take(&b->latch);
	at = atomic_load_explicit(&b->len, memory_order_relaxed);
	if (len <= TUX_INBOX_LEN && TUX_INBOX_LEN - at >= sizeof(e) + len) {
		memcpy(b->buf[b->side] + at, &e, sizeof(e));
		memcpy(b->buf[b->side] + at + sizeof(e), p, len);
		atomic_store(&b->len, at + (uint32_t)(sizeof(e) + len));
	}
	tux_latch_drop(&b->latch);
}

struct tux_mail tux_inbox_take(struct tux_inbox *b)
{
	struct tux_mail m;

	tux_latch_take(&b->latch);
	m.at = b->buf[b->side];
	m.end = m.at + atomic_exchange(&b->len, 0);
	b->side = !b->side;
	tux_latch_drop(&b->latch);
	return m;
}

bool tux_mail_next(struct tux_mail *m, struct tux_letter *l)
{
	struct envelope e;

	if (m->at == m->end)
		return false;
	memcpy(&e, m->at, sizeof(e));
	l->from = e.from;
	l->len = e.len;
	l->p = m->at + sizeof(e);
	m->at = l->p + e.len;
	return true;
}
