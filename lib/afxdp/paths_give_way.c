/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/paths_give_way.h"

#include "kernel/counters.h"
#include "sys/clock.h"

enum {
	AGAIN_MS = 1000,		/* when there is nothing to count yet */
	/* At most one in so many of the time goes into reading the counters,
	 * which takes the longer the more interfaces there are. */
	SHARE = 100,
	IDLE_MS = 1000,			/* connections that carry nothing for so
					 * long do not need the interface */
};

static bool yield_count(struct tux_paths *p, struct tux_give_way_seen *s)
{
	struct tux_tally t;

	if (!tux_counters_read(p->counters, p->iface.name, &s->link))
		return false;
	tux_nic_moved(&p->nic, &t);
	s->own = t.rx_bytes + t.tx_bytes;
	s->rx = t.rx;
	s->tx = t.tx;
	return true;
}

static uint32_t yield_mtu(const struct tux_paths *p)
{
	return p->iface.mtu < TUX_NIC_MTU_MIN ? TUX_NIC_MTU_MIN : p->iface.mtu;
}

static void give_way(struct tux_paths *p)
{
	p->why = TUX_REASON_GIVES_WAY;
	p->retry_at = TUX_NEVER;	/* until the hold is over */
	p->waiting = false;		/* connections ask again */
	p->changed = true;
	tux_paths_say(p, TUX_LINK_GIVES_WAY);
	tux_nic_drop(&p->nic);
}

void tux_paths_give_way(struct tux_paths *p, tux_time now)
{
	tux_time began = tux_clock_read(), took;
	struct tux_give_way_seen s;
	enum tux_give_way_do what;

	p->give_way_at = now + TUX_MSEC(AGAIN_MS);
	if (p->nic.state == TUX_NIC_BUSY || !yield_count(p, &s))
		return;
	took = tux_time_since(began, tux_clock_read());
	what = tux_give_way_look(&p->give_way, &s, yield_mtu(p), now);
	p->give_way_at = tux_time_max(tux_give_way_next(&p->give_way),
				      now + SHARE * took);
	if (what == TUX_GIVE_WAY_GIVE) {
		give_way(p);
	} else if (what == TUX_GIVE_WAY_TAKE) {
		p->given_back = p->mixed && tux_time_since(p->idle_at, now) >
				       TUX_MSEC(IDLE_MS);
		p->retry_at = p->tick_at = now;
		tux_paths_say(p, TUX_LINK_RETURNS);
	}
}

void tux_paths_give_way_anew(struct tux_paths *p)
{
	if (p->give_way.away)
		p->retry_at = 0;
	tux_give_way_leave(&p->give_way);
}
