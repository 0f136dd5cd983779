/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection in its loop: its flow through the link, its inputs to the
 * core, and the effects that the core asks for.
 */
#include "loop/loop_end.h"

#include <errno.h>

#include "loop/loop_busy.h"
#include "loop/recall.h"
#include "sys/sys.h"
#include "sys/take.h"

/* ---- the flow ---- */

static const struct tux_addr *end_local(const struct tux_end *e)
{
	return e->active ? &e->tuple.active : &e->tuple.passive;
}

static const struct tux_addr *end_peer(const struct tux_end *e)
{
	return e->active ? &e->tuple.passive : &e->tuple.active;
}

/* Does IPsec keep @e on TCP, or is TCP cheaper for processors that are busy?
 * The reason, or NONE. */
static enum tux_reason barred(const struct tux_loop *l, const struct tux_end *e)
{
	enum tux_reason why = tux_xfrm_refuses(&l->xfrm, end_local(e),
					       end_peer(e), l->link->bypass);

	if (!why && l->busy.away && e->mode == TUX_PATH_MODE_AUTO)
		why = TUX_REASON_CPU_BUSY;
	return why;
}

/* The loop's first connection asks for the policies, so a loop without any has
 * neither a descriptor nor memory for them.  Where the kernel has no IPsec,
 * there is nothing to hear.  Later connections take in what has changed: no
 * thread may have run the loop since.  NONE, or why the loop cannot follow the
 * policies. */
static enum tux_reason follow_policies(struct tux_loop *l)
{
	struct epoll_event e = {
		.events = EPOLLIN, .data.u64 = TUX_LOOP_XFRM,
	};
	int err;

	if (l->xfrm.open) {
		if (l->xfrm.notify.fd >= 0)
			l->link->changed |= tux_xfrm_read(&l->xfrm);
		return TUX_REASON_NONE;
	}
	err = tux_xfrm_open(&l->xfrm);
	if (!err && l->xfrm.notify.fd >= 0)
		err = tux_sys_epoll_ctl(l->held.epfd, EPOLL_CTL_ADD,
					l->xfrm.notify.fd, &e);
	if (!err)
		return TUX_REASON_NONE;
	tux_xfrm_close(&l->xfrm);
	return err == -EMFILE || err == -ENFILE ? TUX_REASON_NO_FD :
						  TUX_REASON_NO_MEMORY;
}

/* Asks the link for a flow.  0; 1: not yet known; a reason, negated. */
static int admit(struct tux_loop *l, struct tux_end *e)
{
	struct tux_addr local = *end_local(e), peer = *end_peer(e);
	const struct tux_link_ops *ops = l->link->ops;
	enum tux_reason why = follow_policies(l);

	/* No thread may have run the loop since the end of the hold. */
	if (l->busy.away && l->now >= l->busy.next)
		l->link->changed |= tux_loop_look_busy(l);
	if (!why)
		why = barred(l, e);
	if (why)
		return -(int)why;
	e->flow = TUX_LINK_NO_FLOW;
	if (!ops->admit)
		return 0;
	local.port = peer.port = e->tuple.active.port;
	return ops->admit(l->link, &local, &peer, &e->flow, l->now);
}

/* The longest datagram now; never more than the TCP connection was made for. */
static uint32_t mtu(const struct tux_loop *l, const struct tux_end *e)
{
	uint32_t now = e->mtu;

	if (l->link->ops->mtu)
		now = l->link->ops->mtu(l->link, e->flow);
	return now < e->mtu ? now : e->mtu;
}

static void leave(struct tux_loop *l, struct tux_end *e)
{
	if (l->link->ops->leave)
		l->link->ops->leave(l->link, e->flow, l->now);
}

static enum tux_reason closed(const struct tux_loop *l, const struct tux_end *e)
{
	enum tux_reason why = barred(l, e);

	if (why || !l->link->ops->closed)
		return why;
	return l->link->ops->closed(l->link, e->flow);
}

/* ---- doing it ---- */

/* Fails the messages of @e, which has no connection. */
static void refuse(struct tux_loop *l, struct tux_end *e)
{
	uint32_t err;

	if (!e->box)
		return;
	err = atomic_load(&e->box->err);
	tux_msgbox_refuse(e->box, err ? (int)err : EPROTONOSUPPORT);
	l->o.ready(e->user, &l->wakes);
}

/* Tells the application which path the connection takes, if that has changed.
 * It may move now if it is on TCP for no reason. */
static void tell(struct tux_loop *l, struct tux_end *e, bool tux,
		 enum tux_reason why)
{
	if (tux == e->tux && why == e->why)
		return;
	e->tux = tux;
	e->why = (uint8_t)why;
	l->o.decided(e->user, tux, why);
}

/* One direction moved, the other had no time to. */
static bool half_moved(const struct tux_end *e)
{
	return e->conn && (tux_conn_tx_on_tux(e->conn) ||
			   tux_conn_rx_on_tux(e->conn));
}

/* The loop is done with the descriptor of the application, if that was lent to
 * it, and closes it if the application is done, too. */
static void give_fd_back(struct tux_end *e)
{
	bool closes;

	tux_latch_take(&e->fd_latch);
	closes = e->lent >= 0 && e->fd < 0 && !e->lent_back;
	e->lent_back = true;
	tux_latch_drop(&e->fd_latch);
	if (closes)
		tux_sys_close(e->lent);
}

/* The core is done with @e.  The application may not be: it still reads what is
 * in the ring, and sees the error behind it. */
static void finish(struct tux_loop *l, struct tux_end *e, bool reset)
{
	void *user;

	atomic_store(&e->copied, false);
	tux_lifeline_close(&e->line, l->held.epfd, reset);
	give_fd_back(e);
	if (!e->tux && !e->why)
		tell(l, e, half_moved(e), half_moved(e) ? TUX_REASON_NONE :
							  TUX_REASON_CLOSED);
	if (e->conn) {
		e->last = *tux_conn_stats(e->conn);
		e->last_grounds = tux_conn_grounds(e->conn);
		tux_conn_close(e->conn, l->now);
		leave(l, e);
	}
	e->conn = NULL;
	tux_loop_recall_over(l, e);
	refuse(l, e);
	if (e->stage != TUX_END_OVER)
		atomic_fetch_sub(&l->end_n, 1);
	e->stage = TUX_END_OVER;
	if (!e->closed) {
		l->o.ready(e->user, &l->wakes);
		return;
	}
	user = e->user;
	atomic_store(&e->over, true);
	l->o.gone(user);		/* @e may be freed by now */
}

static int open_conn(struct tux_loop *l, struct tux_end *e)
{
	struct tux_conn_opts o = {
		.tuple = e->tuple,
		.active = e->active,
		.key = e->key,
		.dx = e->dx,
		.box = e->box,
		.user = e,
		.mtu = mtu(l, e),
		.peer_port = e->peer_port,
		.mode = e->mode,
	};
	int err = tux_core_open(l->core, &o, &e->conn, l->now);

	if (err)
		leave(l, e);
	return err;
}

/* End @e is on TCP for reason @why: does the loop give it up?  A passive end
 * whose peer has announced Tux is kept, because the peer may open the path
 * late. */
static bool gives_up(const struct tux_end *e, enum tux_reason why)
{
	if (!e->returns || e->recall_looks ||
	    (e->conn && !tux_conn_opens(e->conn)))
		return false;
	return why == TUX_REASON_PEER_SILENT ? e->active || !e->peer_port :
					       tux_reason_lasts(why);
}

static void give_up(struct tux_loop *l, struct tux_end *e)
{
	e->closed = true;
	finish(l, e, false);
}

/* The link does not carry @e.  False: the end was given up, and may be gone. */
static bool end_refused(struct tux_loop *l, struct tux_end *e,
			enum tux_reason why)
{
	tell(l, e, false, why);
	l->o.refused(l->o.arg, e, why);
	refuse(l, e);
	if (!gives_up(e, why))
		return true;
	give_up(l, e);
	return false;
}

/* Without a flow, the end stays as it is until the link changes.  False: it was
 * given up, and may be gone. */
static bool open_end(struct tux_loop *l, struct tux_end *e)
{
	int err = admit(l, e);

	if (err < 0)
		return end_refused(l, e, (enum tux_reason)-err);
	if (err)
		return true;
	if (e->why)
		l->o.refused(l->o.arg, e, TUX_REASON_NONE);
	err = open_conn(l, e);
	/* The one before it, on the same addresses, is still ending: the next
	 * touch tries again. */
	if (err == -EEXIST)
		return true;
	if (!err) {
		e->stage = TUX_END_OPEN;
		tell(l, e, false, TUX_REASON_NONE);
	} else {
		tell(l, e, false, TUX_REASON_NO_MEMORY);
		finish(l, e, false);
	}
	return true;
}

/* The socket goes on without the loop. */
static void leave_socket(struct tux_loop *l, struct tux_end *e)
{
	e->closed = true;
	atomic_store(&e->copied, false);
	tux_lifeline_close(&e->line, l->held.epfd, false);
	give_fd_back(e);
	atomic_store(&e->left, true);
}

void tux_loop_rung(struct tux_loop *l, struct tux_end *e)
{
	uint32_t bits;

	/* Closed and done with: its duplex may be another's by now. */
	if (e->closed && e->stage == TUX_END_OVER)
		return;
	bits = atomic_exchange(&e->dx->rung, 0) & ~(uint32_t)TUX_DOORBELL_QUEUED;
	if (bits & (TUX_DOORBELL_CLOSE | TUX_DOORBELL_ABORT))
		e->closed = true;
	if (bits & TUX_DOORBELL_LEAVE)
		leave_socket(l, e);
	if (bits & TUX_DOORBELL_WOKE)
		e->returned = false;
	if (e->stage == TUX_END_FRESH && !e->closed && !open_end(l, e))
		return;
	if (e->conn) {
		tux_conn_rung(e->conn, bits, l->now);
	} else if (e->closed) {
		finish(l, e, false);
	} else if (e->stage == TUX_END_OVER) {
		refuse(l, e);
	}
}

void tux_loop_give_away(struct tux_loop *l, struct tux_end *e,
			struct tux_loop *to)
{
	tux_conn_close(e->conn, l->now);
	leave(l, e);
	e->conn = NULL;
	e->stage = TUX_END_FRESH;
	e->blocked = false;
	atomic_fetch_add(&to->end_n, 1);
	atomic_fetch_sub(&l->end_n, 1);
	atomic_store(&e->loop, to);
}

static void watch(struct tux_loop *l, struct tux_end *e)
{
	tux_lifeline_watch(&e->line, e->conn, l->held.epfd,
			   TUX_LOOP_END + (uint64_t)e->index);
}

void tux_loop_tcp(struct tux_loop *l, struct tux_end *e, uint32_t events)
{
	if (!e->conn)
		return;
	tux_lifeline_event(&e->line, e->conn, events, l->buf, l->now);
	watch(l, e);
}

/* Does the core only know that the peer does not answer?  The link may know
 * why. */
static bool unexplained(enum tux_reason why)
{
	return why == TUX_REASON_STALLED || why == TUX_REASON_PEER_SILENT;
}

static void decide(struct tux_loop *l, struct tux_end *e, enum tux_reason why)
{
	bool tux = tux_conn_tx_on_tux(e->conn) && tux_conn_rx_on_tux(e->conn);
	enum tux_reason link;

	if (why == TUX_REASON_NO_FD && e->late)
		why = TUX_REASON_CLOSED;
	if (unexplained(why) && (link = closed(l, e)))
		why = link;
	tell(l, e, tux, why);
}

/* The latch keeps the application from closing its descriptor just before the
 * duplicate is made: another file could have the number by then. */
static void own(struct tux_loop *l, struct tux_end *e)
{
	int err = -EBADF;

	tux_latch_take(&e->fd_latch);
	if (e->leaves)
		err = 0;		/* no frame will have to go over TCP */
	else if (e->fd >= 0)
		err = tux_lifeline_open(&e->line, e->fd, e->lent >= 0);
	atomic_store(&e->copied, e->line.fd >= 0 && e->lent < 0);
	tux_latch_drop(&e->fd_latch);
	e->late = err == -EBADF;	/* also closed past tux_end_close() */
	tux_conn_owned(e->conn, err, l->now);
}

/* The application may leave the calls of @e to the kernel, until it is called
 * back: by the peer (duplex->called), by the time, or by short bursts. */
static void look_at_return(struct tux_loop *l, struct tux_end *e)
{
	bool told = e->returned;
	tux_time until;

	if (!e->returns || !l->o.returned)
		return;
	e->returned = tux_conn_returned(e->conn, &until);
	if (e->returned && !told)
		l->o.returned(e->user, until);
}

static void carry_out(struct tux_loop *l, struct tux_end *e, uint32_t effects)
{
	if (effects & TUX_EFFECT_OWN)
		own(l, e);
	if (effects & TUX_EFFECT_PATH) {
		decide(l, e, tux_conn_reason(e->conn));
		look_at_return(l, e);
	}
	if (effects & TUX_EFFECT_READY)
		l->o.ready(e->user, &l->wakes);
	if (effects & TUX_EFFECT_TCP) {
		tux_lifeline_write(&e->line, e->conn, l->buf, l->now);
		watch(l, e);
	}
	if (effects & TUX_EFFECT_PATH)
		tux_lifeline_acknowledge(&e->line,
					 tux_conn_tx_on_tux(e->conn) &&
					 !tux_conn_rx_on_tux(e->conn));
	if (effects & TUX_EFFECT_SHUT)
		tux_lifeline_shut(&e->line);
	if (effects & TUX_EFFECT_GONE)
		finish(l, e, effects & TUX_EFFECT_RESET);
	else if (effects & TUX_EFFECT_PATH && gives_up(e, e->why))
		give_up(l, e);
}

unsigned tux_loop_effects(struct tux_loop *l)
{
	struct tux_conn *c;
	uint32_t effects;
	unsigned n = 0;

	for (; (c = tux_core_effects(l->core, &effects)) != NULL; n++)
		carry_out(l, tux_conn_user(c), effects);
	return n;
}

/* The connection of @e leaves Tux when the link cannot carry it, and returns
 * when the link can.  @e may be gone then.  @rerouted: its datagrams take another
 * way. */
static void follow(struct tux_loop *l, struct tux_end *e, bool rerouted)
{
	enum tux_reason why = closed(l, e);
	bool was = e->blocked;

	tux_conn_set_mtu(e->conn, mtu(l, e), l->now);
	tux_conn_bar(e->conn, barred(l, e) != TUX_REASON_NONE);
	e->blocked = why != TUX_REASON_NONE;
	if (e->blocked)
		tux_conn_stall(e->conn, l->now);
	else if (was)
		tux_conn_unstall(e->conn, l->now);
	else if (rerouted)
		tux_conn_rerouted(e->conn, l->now);
	if (was && !e->blocked)
		atomic_store(&e->dx->called, 1);
	/* The reason changes if the interface is removed after it went down. */
	if (!e->blocked || !unexplained(tux_conn_reason(e->conn)))
		return;
	decide(l, e, tux_conn_reason(e->conn));
	if (gives_up(e, e->why))
		give_up(l, e);
}

void tux_loop_link_changed(struct tux_loop *l)
{
	uint32_t i, n = atomic_load(&l->o.ends->used);
	bool rerouted = l->way != l->link->way;

	l->way = l->link->way;
	for (i = 0; i < n; i++) {
		struct tux_end *e = tux_ends_at(l->o.ends, i);

		if (atomic_load(&e->loop) != l || e->closed)
			continue;
		if (e->stage == TUX_END_FRESH)
			open_end(l, e);
		else if (e->conn)
			follow(l, e, rerouted);
	}
}
