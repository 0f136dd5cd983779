/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss - which packets in flight are lost
 */
#include "part/loss.h"

/* Declares lost what is in flight below @end. */
static unsigned lose(struct tux_sentq *q, uint64_t end, tux_lost_fn *fn,
		     void *arg)
{
	unsigned n = 0;
	uint64_t seq;

	for (seq = q->floor; seq < end; seq++) {
		struct tux_sent *s = tux_sentq_find(q, seq);

		if (!s)
			continue;
		fn(arg, s);
		tux_sentq_settle(q, s);
		n++;
	}
	return n;
}

unsigned tux_loss_by_order(struct tux_sentq *q, tux_lost_fn *fn, void *arg)
{
	/* top is one past the highest that is acknowledged. */
	if (q->top <= TUX_LOSS_ORDER)
		return 0;
	return lose(q, q->top - TUX_LOSS_ORDER, fn, arg);
}

unsigned tux_loss_all(struct tux_sentq *q, tux_lost_fn *fn, void *arg)
{
	return lose(q, q->next, fn, arg);
}

tux_time tux_loss_deadline(struct tux_sentq *q, const struct tux_rtt *r,
			   tux_time ack_at)
{
	const struct tux_sent *s = tux_sentq_oldest(q);

	if (!s)
		return TUX_NEVER;
	return tux_time_add(s->at > ack_at ? s->at : ack_at, tux_rtt_rto(r));
}
