/* SPDX-License-Identifier: BSD-2-Clause */
#include "ktcp.h"

#include <string.h>

/* Linux, with 1,000 ticks a second: TCP_RTO_MIN, TCP_TIMEOUT_MIN (two ticks,
 * which its timers for RACK and the probe add), TCP_DELACK_MIN. */
static const tux_time RTO_MIN = TUX_MSEC(200), TIMER_MIN = TUX_MSEC(2),
		      DELAYED_ACK = TUX_MSEC(40), RTO_FIRST = TUX_SEC(1);

enum {
	DUPTHRESH = 3,
	ACK_EACH = 2,		/* segments for an acknowledgment */
	REORDER_PART = 4,	/* RACK waits a quarter of a round trip */
};

static struct ktcp_segment *at(struct ktcp *t, uint64_t n)
{
	return &t->seg[n % KTCP_RING];
}

void ktcp_init(struct ktcp *t, const struct ktcp_ops *ops, void *arg)
{
	memset(t, 0, sizeof(*t));
	t->ops = ops;
	t->arg = arg;
	tux_cc_init(&t->cc, &tux_cc_cubic, KTCP_MSS);
	tux_rtt_init(&t->rtt, 0);
	t->rack_due = t->probe_due = t->rto_due = t->ack_due = TUX_NEVER;
}

/* ---- the sender's timers ---- */

static tux_time rto(const struct ktcp *t)
{
	tux_time in = 4 * t->rtt.rttvar;
	unsigned i;

	if (t->rtt.min == TUX_NEVER)
		in = RTO_FIRST;
	else
		in = t->rtt.srtt + (in > RTO_MIN ? in : RTO_MIN);
	for (i = 0; i < t->rtt.backoff; i++)
		in *= 2;
	return in;
}

/* When the tail probe is due: two round trips without an acknowledgment. */
static tux_time probe_in(const struct ktcp *t)
{
	tux_time in = 2 * t->rtt.srtt;

	if (t->rtt.min == TUX_NEVER)
		return RTO_FIRST;
	return in + (t->next - t->una == 1 ? RTO_MIN : TIMER_MIN);
}

static void arm_rto(struct ktcp *t, tux_time now)
{
	t->rto_due = t->una == t->next ? TUX_NEVER : now + rto(t);
}

static void arm_probe(struct ktcp *t, tux_time now)
{
	t->probe_due = TUX_NEVER;
	if (t->una != t->next && !t->recovering && !t->sacked && !t->probed)
		t->probe_due = tux_time_min(now + probe_in(t), t->rto_due);
}

/* ---- sending ---- */

static void transmit(struct ktcp *t, uint64_t n, tux_time now)
{
	struct ktcp_segment *s = at(t, n);
	uint64_t start = n ? at(t, n - 1)->end : 0;

	t->flying += !s->flying;
	s->flying = true;
	s->lost = false;
	s->sent_at = now;
	t->resent_n += s->resent;
	t->ops->segment(t->arg, n, (uint32_t)(s->end - start));
}

static void resend(struct ktcp *t, uint64_t n, tux_time now)
{
	at(t, n)->resent = true;
	transmit(t, n, now);
	if (n == t->una)
		arm_rto(t, now);
}

static bool room(const struct ktcp *t)
{
	return (uint64_t)t->flying * KTCP_MSS < t->cc.w.cwnd;
}

/* False: no new bytes, or no place for them. */
static bool send_new(struct ktcp *t, tux_time now)
{
	uint64_t len = t->wrote - t->cut;

	/* The one before it tells where a segment begins. */
	if (!len || t->next - t->una >= KTCP_RING - 1)
		return false;
	t->cut += len < KTCP_MSS ? len : KTCP_MSS;
	*at(t, t->next) = (struct ktcp_segment){ .end = t->cut };
	transmit(t, t->next++, now);
	return true;
}

/* @first: the first lost one goes whatever the window says. */
static void push(struct ktcp *t, bool first, tux_time now)
{
	uint64_t n;
	bool sent = false;

	for (n = t->una; t->recovering && n < t->next; n++) {
		if (!at(t, n)->lost)
			continue;
		if (!room(t) && !first)
			break;
		resend(t, n, now);
		first = false;
		sent = true;
	}
	while (room(t) && send_new(t, now))
		sent = true;
	t->full = !room(t);
	if (!sent)
		return;
	if (t->rto_due == TUX_NEVER)
		arm_rto(t, now);
	arm_probe(t, now);
}

void ktcp_write(struct ktcp *t, uint32_t len, tux_time now)
{
	t->wrote += len;
	push(t, false, now);
}

/* ---- what has arrived ---- */

/* Did segment @n leave before the latest that is known to have arrived? */
static bool is_older(struct ktcp *t, uint64_t n)
{
	tux_time sent_at = at(t, n)->sent_at;

	return sent_at < t->rack_at ||
	       (sent_at == t->rack_at && n < t->rack_n);
}

/* Segment @n did.  Retransmissions measure nothing (Karn). */
static void arrived(struct ktcp *t, uint64_t n, struct tux_cc_ack *a,
		    tux_time now)
{
	struct ktcp_segment *s = at(t, n);
	tux_time took = now - s->sent_at;

	t->flying -= s->flying;
	s->flying = s->lost = false;
	a->bytes += KTCP_MSS;
	if (s->sent_at >= a->sent_at) {
		a->sent_at = s->sent_at;
		a->rtt = s->resent ? 0 : took;
	}
	if (s->resent && took < t->rtt.min)
		return;			/* the first one's, maybe */
	if (!is_older(t, n)) {
		t->rack_at = s->sent_at;
		t->rack_n = n;
		t->rack_rtt = took;
	}
}

static void note_ack(struct ktcp *t, const struct ktcp_ack *k,
		     struct tux_cc_ack *a, tux_time now)
{
	unsigned i;
	uint64_t n;

	for (; t->una < k->next; t->una++) {
		struct ktcp_segment *s = at(t, t->una);

		t->sacked -= s->sacked;
		if (!s->sacked)
			arrived(t, t->una, a, now);
	}
	for (i = 0; i < KTCP_BLOCKS; i++) {
		for (n = k->start[i]; n < k->end[i]; n++) {
			struct ktcp_segment *s = at(t, n);

			if (n < t->una || s->sacked)
				continue;
			s->sacked = true;
			t->sacked++;
			arrived(t, n, a, now);
		}
	}
}

/* ---- what is lost ---- */

static tux_time patience(const struct ktcp *t)
{
	/* The path has never reordered. */
	if (t->recovering || t->sacked >= DUPTHRESH)
		return 0;
	return t->rtt.min / REORDER_PART;
}

static void lose(struct ktcp *t, struct ktcp_segment *s, tux_time now)
{
	s->lost = true;
	t->flying -= s->flying;
	s->flying = false;
	if (!t->recovering)
		t->recover = t->next;
	t->recovering = true;
	tux_cc_lost(&t->cc, s->sent_at, now);
}

/* RACK: what left before something that has arrived, and long enough ago. */
static void detect(struct ktcp *t, tux_time now)
{
	tux_time wait = t->rack_rtt + patience(t);
	bool was = t->recovering;
	uint64_t n;

	t->rack_due = TUX_NEVER;
	for (n = t->una; n < t->next; n++) {
		struct ktcp_segment *s = at(t, n);

		if (s->sacked || !s->flying || !is_older(t, n))
			continue;
		if (s->sent_at + wait <= now)
			lose(t, s, now);
		else
			t->rack_due = tux_time_min(t->rack_due, s->sent_at +
						   wait + TIMER_MIN);
	}
	push(t, t->recovering && !was, now);
}

void ktcp_ack_in(struct ktcp *t, const struct ktcp_ack *k, tux_time now)
{
	struct tux_cc_ack a = { .full = t->full };
	uint64_t una = t->una;

	note_ack(t, k, &a, now);
	if (!a.bytes)
		return;
	if (a.rtt)
		tux_rtt_sample(&t->rtt, a.rtt, 0);
	if (t->recovering && t->una >= t->recover)
		t->recovering = false;
	tux_cc_acked(&t->cc, &a, now);
	if (t->una != una) {
		t->probed = false;
		t->rtt.backoff = 0;
		arm_rto(t, now);
		arm_probe(t, now);
	}
	detect(t, now);
}

/* ---- the receiver ---- */

static bool has(const struct ktcp *t, uint64_t n)
{
	return n >= t->rcv_next && n < t->rcv_next + KTCP_RING &&
	       t->got[n % KTCP_RING];
}

static void send_ack(struct ktcp *t)
{
	struct ktcp_ack a = { .next = t->rcv_next };
	unsigned i;

	for (i = 0; i < KTCP_BLOCKS; i++) {
		uint64_t start = t->recent[i], end = start;

		if (!has(t, start))
			continue;
		while (has(t, start - 1))
			start--;
		while (has(t, end))
			end++;
		a.start[i] = start;
		a.end[i] = end;
	}
	t->unacked = 0;
	t->ack_due = TUX_NEVER;
	t->ops->ack(t->arg, &a);
}

/* The newest first; a block that it joins is not told twice. */
static void note_recent(struct ktcp *t, uint64_t n)
{
	unsigned i;

	for (i = 0; i < KTCP_BLOCKS - 1 && t->recent[i] + 1 != n; i++)
		;
	memmove(&t->recent[1], &t->recent[0], i * sizeof(t->recent[0]));
	t->recent[0] = n;
}

void ktcp_segment_in(struct ktcp *t, uint64_t n, tux_time now)
{
	bool in_turn = n == t->rcv_next, gap = t->held > 0;

	if (n < t->rcv_next || has(t, n)) {
		send_ack(t);
		return;
	}
	t->got[n % KTCP_RING] = true;
	if (!in_turn) {
		t->held++;
		note_recent(t, n);
		send_ack(t);
		return;
	}
	t->held++;
	for (; t->got[t->rcv_next % KTCP_RING]; t->held--)
		t->got[t->rcv_next++ % KTCP_RING] = false;
	t->ops->deliver(t->arg, at(t, t->rcv_next - 1)->end);
	if (gap || ++t->unacked >= ACK_EACH)
		send_ack(t);
	else
		t->ack_due = tux_time_min(t->ack_due, now + DELAYED_ACK);
}

/* ---- time ---- */

tux_time ktcp_deadline(const struct ktcp *t)
{
	return tux_time_min(tux_time_min(t->rack_due, t->probe_due),
			    tux_time_min(t->rto_due, t->ack_due));
}

/* New bytes if there are any, else the last segment once more. */
static void probe(struct ktcp *t, tux_time now)
{
	t->probe_due = TUX_NEVER;
	t->probed = true;
	t->probe_n++;
	if (!send_new(t, now))
		resend(t, t->next - 1, now);
}

static void timeout(struct ktcp *t, tux_time now)
{
	unsigned lost = 0;
	uint64_t n;

	for (n = t->una; n < t->next; n++) {
		struct ktcp_segment *s = at(t, n);

		if (s->sacked)
			continue;
		s->lost = true;
		s->flying = false;
		lost++;
	}
	t->flying = 0;
	t->recovering = true;
	t->recover = t->next;
	t->timeout_n++;
	tux_rtt_backoff(&t->rtt);
	tux_cc_timeout(&t->cc, lost, now);
	push(t, true, now);
}

void ktcp_expire(struct ktcp *t, tux_time now)
{
	if (now >= t->ack_due)
		send_ack(t);
	if (now >= t->rack_due)
		detect(t, now);
	if (now >= t->rto_due)
		timeout(t, now);
	else if (now >= t->probe_due)
		probe(t, now);
}
