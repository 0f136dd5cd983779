/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/conn_life.h"

#include <errno.h>

#include "conn/back.h"
#include "conn/choose.h"
#include "conn/conn_in.h"
#include "conn/hello.h"
#include "conn/leave.h"
#include "conn/message_life.h"
#include "conn/state.h"
#include "conn/window.h"

enum {
	RESET_S = 1,	/* after RESET, wait so long for the end of TCP */
	LEFT_S = 5,	/* the peer may lose its last packets several times */
};

/* ---- death ---- */

void tux_conn_die(struct tux_conn *c, int err, enum tux_reason why)
{
	if (c->life >= TUX_LIFE_DEAD)
		return;
	tux_conn_set_life(c, TUX_LIFE_DEAD);
	c->dead_err = err;
	c->dead_why = why;
	tux_conn_drop_flight(c);
	c->reset_at = TUX_NEVER;
	if (why && c->peer_id)
		tux_conn_do(c, TUX_DO_RESET);
}

/* RESET must take effect behind everything that the peer sent before it, but
 * the packet may have overtaken frames on TCP.  So this end reads TCP to its
 * end, which follows soon, since the peer closes TCP. */
void tux_conn_told_reset(struct tux_conn *c, tux_time now)
{
	if (c->life == TUX_LIFE_OWNING) {
		c->reset_at = now;	/* tux_conn_owned() comes first */
		return;
	}
	if (c->closed || c->rx.tcp_ended || tux_path_plain(c->rx.path)) {
		tux_conn_die(c, ECONNRESET, TUX_REASON_NONE);
		return;
	}
	c->reset_at = tux_time_min(c->reset_at,
				   tux_time_add(now, TUX_SEC(RESET_S)));
}

/* ---- the doorbell ---- */

/* Offset of what had arrived: in the ring, or what the application has read
 * from TCP. */
static uint64_t came_up_to(const struct tux_conn *c)
{
	uint64_t head = tux_pipe_head(&c->dx->rxp);
	uint64_t taken = atomic_load(&c->dx->rx.taken);
	uint64_t came = head > taken ? head : taken;

	return came > c->dx->rx.off ? came : c->dx->rx.off;
}

/* The application has closed.  What it wrote still goes out; what arrives is
 * discarded. */
static void on_close(struct tux_conn *c, bool abort)
{
	tux_conn_trace(c, TUX_TRACE_CLOSE, 0, 0, 0);
	c->closed = true;
	c->aborted = abort;
	c->closed_dead = c->life == TUX_LIFE_DEAD;
	c->closed_at = came_up_to(c);
	c->closed_why = c->peer.port ? TUX_REASON_CLOSED :
				       TUX_REASON_PEER_SILENT;
	tux_conn_mark(c, TUX_DIRTY_LIFE | TUX_DIRTY_CLOSE);
}

/* The application keeps the socket, which has everything from now on.  The peer
 * may still ask what it did before; it gets its answers for a while. */
static void on_leave(struct tux_conn *c, tux_time now)
{
	c->closed = true;
	c->closed_at = came_up_to(c);
	c->tx.done = true;		/* TCP is not to be shut down */
	c->linger_at = tux_time_add(now, TUX_SEC(LEFT_S));
}

/* The application may have written to the send ring, or shut it down. */
static void on_written(struct tux_conn *c)
{
	if (c->tx.path != TUX_PATH_PLAIN)
		tux_conn_kick(c);
	tux_conn_mark(c, TUX_DIRTY_APP_TX);
}

/* The application may have read from the receive ring, which then has room. */
static void on_read(struct tux_conn *c)
{
	uint64_t taken = atomic_load(&c->dx->rx.taken);
	uint64_t tail = tux_pipe_tail(&c->dx->rxp);

	tux_window_opened(c, taken > tail ? taken : tail);
	tux_conn_mark(c, TUX_DIRTY_APP_RX |
		      (c->rx.arm_gen ? TUX_DIRTY_ARM : 0));
}

void tux_conn_doorbell(struct tux_conn *c, uint32_t bits, tux_time now)
{
	if (bits & TUX_DOORBELL_TOUCH)
		tux_hello_touch(c, now);
	if (bits & TUX_DOORBELL_ABORT) {
		on_close(c, true);
		return;
	}
	if (bits & TUX_DOORBELL_CLOSE)
		atomic_store(&c->dx->tx.shut, 1);
	if (c->life == TUX_LIFE_PROVED) {
		if (bits & (TUX_DOORBELL_TX | TUX_DOORBELL_MESSAGE))
			tux_back_early(c, now);
		if (bits & (TUX_DOORBELL_TX | TUX_DOORBELL_TOUCH |
			    TUX_DOORBELL_CLOSE))
			on_written(c);
		if (bits & (TUX_DOORBELL_RX | TUX_DOORBELL_TOUCH |
			    TUX_DOORBELL_CLOSE))
			on_read(c);
	}
	if (bits & (TUX_DOORBELL_LOOK | TUX_DOORBELL_WOKE))
		tux_choose_look(c, now);
	if (bits & TUX_DOORBELL_WOKE)
		tux_leave_alone(c);
	if (bits & TUX_DOORBELL_SHARE)
		tux_leave_share(c);
	if (bits & TUX_DOORBELL_RAW)
		tux_back_raw(c, tux_reason_of(atomic_load(&c->dx->raw_why),
					      TUX_REASON_PINNED));
	if (bits & TUX_DOORBELL_LEAVE)
		on_leave(c, now);
	if (bits & TUX_DOORBELL_CLOSE)
		on_close(c, false);
	if (bits & (TUX_DOORBELL_MESSAGE | TUX_DOORBELL_CLOSE))
		tux_messages_rung(c);
}
