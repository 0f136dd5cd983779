/* SPDX-License-Identifier: BSD-2-Clause */
#include "rival.h"

#include <stdlib.h>

enum {
	WIRE = 1472,	/* a full segment, as links count a datagram: both are
			 * 1500 bytes with all headers */
	ACK_WIRE = 24,
	ORDER = 3,
	DELAY_MS = 40,
	RTO_FIRST_MS = 1000,
	RTO_MIN_MS = 200,
};

static struct sim_seg *seg(struct sim_rival *r, uint64_t n)
{
	return &r->seg[n % SIM_RIVAL_ROOM];
}

/* ---- the receiver ---- */

static void on_ack(struct sim *s, void *arg, uint64_t n, uint64_t m);

/* Acknowledges all below r->due, and the block around @n beyond that. */
static void send_ack(struct sim_rival *r, uint64_t n)
{
	uint64_t start = n, end = n;
	tux_time at;

	while (end > r->due && end < r->due + SIM_RIVAL_ROOM &&
	       seg(r, end)->have)
		end++;
	while (start > r->due && seg(r, start - 1)->have)
		start--;
	r->waiting = 0;
	r->acks++;
	at = sim_net_cross(r->s, r->back, ACK_WIRE);
	if (at != TUX_NEVER)
		sim_at(r->s, at, on_ack, r, r->due, start << 32 | end);
}

static void delayed(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_rival *r = arg;

	(void)s, (void)m;
	if (r->acks == n && r->waiting)
		send_ack(r, r->due);
}

static void on_seg(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_rival *r = arg;
	bool gap = n != r->due;

	(void)m;
	if (n >= r->due)
		seg(r, n)->have = true;
	while (seg(r, r->due)->have) {
		seg(r, r->due++)->have = false;
		r->got += SIM_RIVAL_SEG;
		gap |= r->due > n + 1;		/* it fills one */
	}
	if (gap || ++r->waiting >= 2)
		send_ack(r, n);
	else
		sim_at(s, s->now + TUX_MSEC(DELAY_MS), delayed, r, r->acks, 0);
}

/* ---- the sender ---- */

static void transmit(struct sim_rival *r, uint64_t n)
{
	struct sim_seg *g = seg(r, n);
	tux_time at = sim_net_cross(r->s, r->out, WIRE);

	g->order = ++r->order;
	g->at = r->s->now;
	r->pipe++;
	if (at != TUX_NEVER)
		sim_at(r->s, at, on_seg, r, n, 0);
}

static void send_again(struct sim_rival *r)
{
	uint64_t n = r->una;

	while (!seg(r, n)->lost)
		n++;
	seg(r, n)->lost = false;
	seg(r, n)->again = true;
	r->missing--;
	transmit(r, n);
}

static void send_all(struct sim_rival *r)
{
	while (r->pipe < (unsigned)r->cubic.cwnd) {
		if (r->missing) {
			send_again(r);
		} else if (r->next - r->una < SIM_RIVAL_ROOM) {
			*seg(r, r->next) = (struct sim_seg){ 0 };
			transmit(r, r->next++);
		} else {
			break;
		}
	}
}

static void lose(struct sim_rival *r, struct sim_seg *g)
{
	g->lost = true;
	r->missing++;
	r->pipe--;
	r->lost_n++;
}

/* ---- the timer ---- */

static void on_timeout(struct sim_rival *r)
{
	uint64_t n;

	r->timeouts++;
	for (n = r->una; n < r->next; n++) {
		if (!seg(r, n)->acked && !seg(r, n)->lost)
			lose(r, seg(r, n));
	}
	sim_cubic_timeout(&r->cubic);
	r->recover = r->next;
	r->fast = false;
	r->rto *= 2;
	r->rto_at = r->s->now + r->rto;
	send_all(r);
}

static void tick(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_rival *r = arg;

	(void)n, (void)m;
	if (s->now >= r->rto_at)
		on_timeout(r);
	sim_at(s, r->rto_at, tick, r, 0, 0);
}

static void sample(struct sim_rival *r, tux_time rtt)
{
	tux_time off = rtt > r->srtt ? rtt - r->srtt : r->srtt - rtt;

	r->rttvar = r->srtt ? (3 * r->rttvar + off) / 4 : rtt / 2;
	r->srtt = r->srtt ? (7 * r->srtt + rtt) / 8 : rtt;
	r->rto = 4 * r->rttvar;
	if (r->rto < TUX_MSEC(RTO_MIN_MS))
		r->rto = TUX_MSEC(RTO_MIN_MS);
	r->rto += r->srtt;
	sim_cubic_rtt(&r->cubic, rtt, r->s->now);
}

/* ---- what an acknowledgment says ---- */

/* Number @n has arrived.  Is that news? */
static bool arrived(struct sim_rival *r, uint64_t n)
{
	struct sim_seg *g = seg(r, n);

	if (g->acked)
		return false;
	g->acked = true;
	if (g->lost)
		r->missing--;
	else
		r->pipe--;
	g->lost = false;
	if (g->order > r->newest) {
		r->newest = g->order;
		if (!g->again)
			sample(r, r->s->now - g->at);
	}
	return true;
}

static void detect(struct sim_rival *r)
{
	uint64_t n, before = r->lost_n;

	for (n = r->una; n < r->next; n++) {
		struct sim_seg *g = seg(r, n);

		if (!g->acked && !g->lost && g->order + ORDER <= r->newest)
			lose(r, g);
	}
	if (r->lost_n == before || r->una < r->recover)
		return;
	sim_cubic_reduce(&r->cubic);
	r->recover = r->next;
	r->fast = true;
}

static void on_ack(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_rival *r = arg;
	uint64_t i, start = m >> 32, end = m & UINT32_MAX;
	unsigned news = 0;

	for (i = r->una; i < n; i++)
		news += arrived(r, i);
	for (i = start > n ? start : n; i < end; i++)
		news += arrived(r, i);
	if (n > r->una) {
		r->una = n;
		r->rto_at = s->now + r->rto;
	}
	if (r->una >= r->round) {
		r->round = r->next;
		sim_cubic_round(&r->cubic, s->now);
	}
	detect(r);
	if (news && (r->una >= r->recover || !r->fast))
		sim_cubic_acked(&r->cubic, news, s->now);
	send_all(r);
}

static void begin(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	struct sim_rival *r = arg;

	(void)n, (void)m;
	sim_cubic_round(&r->cubic, s->now);
	send_all(r);
	r->round = r->next;
	r->rto_at = s->now + r->rto;
	sim_at(s, r->rto_at, tick, r, 0, 0);
}

struct sim_rival *sim_rival_new(struct sim_host *from, struct sim_host *to,
				tux_time at)
{
	struct sim_rival *r = calloc(1, sizeof(*r));

	r->s = from->s;
	r->out = sim_link(from, to);
	r->back = sim_link(to, from);
	r->rto = TUX_MSEC(RTO_FIRST_MS);
	sim_cubic_init(&r->cubic);
	sim_at(r->s, at, begin, r, 0, 0);
	return r;
}
