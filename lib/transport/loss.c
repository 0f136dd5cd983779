/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss - which packets in flight are lost
 */
#include "transport/loss.h"

#include <stddef.h>

void tux_loss_init(struct tux_loss *l)
{
	*l = (struct tux_loss){ .at = TUX_NEVER };
}

static tux_time loss_later(tux_time a, tux_time b)
{
	return a > b ? a : b;
}

/* The reordering window: at most the smoothed round trip (RFC 8985). */
static tux_time loss_window(const struct tux_loss *l, const struct tux_rtt *r)
{
	tux_time w = r->min / 4 * (1 + l->wide);

	return loss_later(tux_time_min(w, r->srtt),
			  TUX_USEC(TUX_LOSS_WINDOW_US));
}

static void loss_declare(struct tux_loss *l, struct tux_sentq *q,
			 struct tux_sent *s, tux_lost_fn *fn, void *arg)
{
	if (l->keep && !--l->keep)
		l->wide = 0;
	fn(arg, s);
	tux_sentq_lose(q, s);
}

unsigned tux_loss_detect(struct tux_loss *l, struct tux_sentq *q,
			 const struct tux_rtt *r, tux_lost_fn *fn, void *arg,
			 tux_time now)
{
	tux_time wait = tux_time_add(r->last, loss_window(l, r));
	unsigned n = 0;
	uint64_t seq;

	l->at = TUX_NEVER;
	for (seq = q->floor; seq < q->top; seq++) {
		struct tux_sent *s = tux_sentq_find(q, seq);
		bool order = !l->reordered && q->top - seq > TUX_LOSS_ORDER;

		if (!s)
			continue;
		/* Packets leave in the order of their numbers, so the first one
		 * that is not lost yet is the next to be lost by time. */
		if (!order && now < tux_time_add(s->at, wait)) {
			l->at = tux_time_add(s->at, wait);
			break;
		}
		loss_declare(l, q, s, fn, arg);
		n++;
	}
	return n;
}

unsigned tux_loss_all(struct tux_loss *l, struct tux_sentq *q, tux_lost_fn *fn,
		      void *arg)
{
	struct tux_sent *s;
	unsigned n = 0;

	l->at = TUX_NEVER;
	/* These packets may only be late, so keep telling the peer that their
	 * numbers are wanted: then an acknowledgment proves that they arrived.
	 * But not for more numbers than the queue holds, for the peer has to
	 * remember each gap. */
	if (!q->hold)
		q->hold = q->floor;
	else if (q->next - q->hold > TUX_SENTQ_CAP)
		q->hold = 0;
	while ((s = tux_sentq_oldest(q)) != NULL) {
		fn(arg, s);
		tux_sentq_lose(q, s);
		s->timed = true;
		n++;
	}
	return n;
}

void tux_loss_spurious(struct tux_loss *l, const struct tux_sentq *q,
		       uint64_t seq)
{
	l->keep = TUX_LOSS_KEEP;
	if (!l->reordered)
		l->reordered = true;	/* may have been lost by order */
	else if (seq >= l->round)
		l->wide++;		/* lost by time: window too small */
	else
		return;
	l->round = q->next;
}

tux_time tux_loss_deadline(const struct tux_loss *l, struct tux_sentq *q,
			   const struct tux_rtt *r, tux_time ack_at)
{
	const struct tux_sent *s = tux_sentq_oldest(q);
	tux_time from;

	if (!s)
		return TUX_NEVER;
	from = loss_later(s->at, ack_at);
	if (tux_loss_may_probe(l, r))
		return tux_time_add(from, tux_rtt_pto(r));
	return tux_time_add(loss_later(from, l->probe_at), tux_rtt_rto(r));
}
