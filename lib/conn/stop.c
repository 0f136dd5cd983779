/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/stop.h"

#include "conn/conn_in.h"

enum { STOP_S = 1 };	/* reads wait no longer for the peer: bytes may be there that
			 * it cannot send again */

/* Can the loop read all of the DATA frame that is under way, if one is, though the
 * application reads nothing? */
static bool frame_fits(const struct tux_conn *c)
{
	const struct tux_pipe *p = &c->dx->rxp;

	return !c->in.left || c->in.message ||
	       c->in.off + c->in.left <= tux_pipe_tail(p) + p->cap;
}

bool tux_stop_due(const struct tux_conn *c)
{
	return c->rx.stop == TUX_STOP_WANTED && c->peer_again && !c->closed &&
	       tux_conn_rx_state(c) == TUX_RX_SWITCHED &&
	       !tux_conn_said_all(c) && frame_fits(c);
}

bool tux_stop_rx(struct tux_conn *c, tux_time now)
{
	struct tux_duplex_rx *r = &c->dx->rx;

	if (!tux_stop_due(c))
		return true;
	if (!tux_latch_try(&r->latch))
		return false;
	tux_duplex_stop(c->dx, &c->rx.read_to);
	tux_latch_drop(&r->latch);
	c->rx.stop = TUX_STOP_STOPPED;
	c->rx.stop_until = tux_time_add(now, TUX_SEC(STOP_S));
	c->tx.raw_told = c->rx.leave_told = false;
	return true;
}

void tux_stop_resume(struct tux_conn *c, bool drop)
{
	if (c->rx.stop != TUX_STOP_STOPPED)
		return;
	c->rx.stop = TUX_STOP_OVER;
	c->rx.stop_until = TUX_NEVER;
	tux_duplex_resume(c->dx, drop);
	tux_conn_mark(c, TUX_DIRTY_READY);
}

void tux_stop_data(struct tux_conn *c)
{
	if (!frame_fits(c))
		tux_stop_resume(c, false);
}
