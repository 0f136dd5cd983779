/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cc - congestion control: what all controllers share
 */
#include "transport/cc.h"

enum { CC_FIRST_PKTS = 10, CC_FIRST_BYTES = 14600 };

static uint64_t cc_first(uint32_t mss)
{
	uint64_t first = (uint64_t)CC_FIRST_PKTS * mss;

	return first > CC_FIRST_BYTES ? first : CC_FIRST_BYTES;
}

void tux_cc_init(struct tux_cc *cc, const struct tux_cc_ops *ops, uint32_t mss)
{
	*cc = (struct tux_cc){ .ops = ops, .mss = mss };
	cc->w.ssthresh = UINT64_MAX;
	cc->w.cwnd = cc_first(mss);
	tux_hystart_init(&cc->hystart);
	ops->init(cc);
}

uint64_t tux_cc_own(const struct tux_cc *cc)
{
	return cc->recover_at ? cc->mss : cc_first(cc->mss);
}

uint64_t tux_cc_slow_start(struct tux_cc *cc, const struct tux_cc_ack *a,
			   tux_time now)
{
	struct tux_cc_window *w = &cc->w;
	uint64_t grow = a->bytes;

	if (w->cwnd >= w->ssthresh)
		return a->bytes;
	/* HyStart++ is for the initial slow start (RFC 9406, 4.3).  A later one
	 * ends at ssthresh, which the last loss has set. */
	if (w->ssthresh == UINT64_MAX) {
		switch (tux_hystart_acked(&cc->hystart, a->sent_at, a->rtt,
					  now)) {
		case TUX_HYSTART_OVER:
			w->ssthresh = w->cwnd;
			return a->bytes;
		case TUX_HYSTART_SLOW:
			grow /= TUX_HYSTART_SLOWER;
			break;
		case TUX_HYSTART_FAST:
			break;
		}
	}
	if (grow > w->ssthresh - w->cwnd) {
		uint64_t left = grow - (w->ssthresh - w->cwnd);

		w->cwnd = w->ssthresh;
		return left;
	}
	w->cwnd += grow;
	return 0;
}

void tux_cc_acked(struct tux_cc *cc, const struct tux_cc_ack *a, tux_time now)
{
	/* A window that is not in use does not probe the path.  Packets that
	 * left before the last reduction did not probe this window. */
	if (!a->full || a->sent_at < cc->recover_at)
		return;
	cc->ops->acked(cc, a, now);
}

void tux_cc_lost(struct tux_cc *cc, tux_time sent_at, tux_time now)
{
	if (sent_at < cc->recover_at) {
		cc->doubt_n += cc->doubt_n > 0;
		return;
	}
	cc->before = cc->w;
	cc->doubt_n = 1;
	cc->ops->reduce(cc);
	cc->recover_at = now;
}

bool tux_cc_marked(struct tux_cc *cc, tux_time sent_at, tux_time now)
{
	/* Even if each loss of this event proves spurious, a router has marked
	 * a packet: the congestion was real. */
	cc->doubt_n = 0;
	if (sent_at < cc->recover_at)
		return false;
	cc->ops->reduce(cc);
	cc->recover_at = now;
	return true;
}

void tux_cc_timeout(struct tux_cc *cc, unsigned n, tux_time now)
{
	/* A window of one packet has not grown since the last timeout, so this
	 * timeout belongs to the same event. */
	if (cc->w.cwnd > cc->mss) {
		cc->before = cc->w;
		cc->doubt_n = n;
	} else if (cc->doubt_n) {
		cc->doubt_n += n;
	}
	cc->ops->timeout(cc);
	cc->recover_at = now;
}

bool tux_cc_spurious(struct tux_cc *cc, tux_time sent_at)
{
	if (!cc->doubt_n || sent_at >= cc->recover_at || --cc->doubt_n)
		return false;
	if (cc->before.cwnd > cc->w.cwnd)
		cc->w = cc->before;
	/* The event is over: acknowledgments may let the window grow again. */
	cc->recover_at = 0;
	return true;
}
