/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/conn_ecn.h"

#include "conn/conn_in.h"

bool tux_conn_choose_ect(struct tux_conn *c)
{
	struct tux_core *core = c->core;
	bool ect;

	if (core->ecn_tx < 0)
		core->ecn_tx = !c->tx.tail && !c->rtt.backoff &&
			       tux_ecn_capable(&c->pair->ecn) ?
			       TUX_ECN_ECT0 : TUX_ECN_NONE;
	ect = core->ecn_tx == TUX_ECN_ECT0;
	c->ecn.sent_n += ect;
	return ect;
}

/* The path cannot be trusted with ECN. */
static void given_up(struct tux_conn *c)
{
	c->core->stats.no_ecn++;
	tux_conn_trace(c, TUX_TRACE_NO_ECN, c->pair->ecn.verdict, 0, 0);
}

/* The peer reports @n more packets with CE; the newest acknowledged packet left
 * at @sent_at. */
static void on_ce(struct tux_conn *c, unsigned n, tux_time sent_at,
		  tux_time now)
{
	struct tux_pair *p = c->pair;

	c->stats.ce_tx += n;
	if (!n || !tux_cc_marked(&p->cc, sent_at, now))
		return;
	c->core->stats.eased++;
	tux_conn_trace(c, TUX_TRACE_EASE, n, p->cc.w.cwnd, 0);
	tux_ecn_reduced(&p->ecn);
}

void tux_conn_ecn_acked(struct tux_conn *c, const struct tux_pkt *h,
			const struct tux_retired *got, tux_time now)
{
	const struct tux_ecn_counts counts = { h->ect, h->ce };
	struct tux_ecn *e = &c->pair->ecn;
	bool was = tux_ecn_capable(e);

	tux_ecn_acked(e, &c->ecn, got->ect_n, got->n);
	/* Packets may be reordered, and older ones have older counts.  A packet
	 * that acknowledges a higher number than any before has newer
	 * counts. */
	if (c->sentq.top > got->top)
		on_ce(c, tux_ecn_heard(e, &c->ecn, counts), got->sent_at, now);
	if (was && !tux_ecn_capable(e))
		given_up(c);
}

void tux_conn_ecn_came(struct tux_conn *c, tux_time now)
{
	uint8_t ecn = c->core->ecn_rx;

	tux_ecn_came(&c->came, ecn);
	if (ecn != TUX_ECN_CE)
		return;
	c->stats.ce_rx++;
	/* CE is acknowledged without delay (RFC 9000, section 13.2.1). */
	tux_ackq_again(&c->ackq, now);
}
