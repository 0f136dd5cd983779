/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection in its loop.  What the core tells is only noted; it is done
 * when the core has returned, because doing it calls the core again.
 */
#include "io/loop.h"

#include <errno.h>

#include "io/sys.h"
#include "io/take.h"

enum {
	READY = 0x01,		/* the application may look */
	TCP = 0x02,		/* to write, or another wish to read */
	SHUT = 0x04,		/* shutdown(SHUT_WR) */
	GONE = 0x08,		/* close it, forget it */
	RESET = 0x10,		/* ... with RST */
};

static void note(struct tux_loop *l, struct tux_end *e, uint32_t what)
{
	e->notes |= what;
	if (tux_list_empty(&e->noted))
		tux_list_push(&l->noted, &e->noted);
}

/* ---- what the core tells ---- */

static void on_ready(void *arg, struct tux_conn *c)
{
	note(arg, tux_conn_user(c), READY);
}

static void on_tcp(void *arg, struct tux_conn *c)
{
	note(arg, tux_conn_user(c), TCP);
}

static void on_tcp_shut(void *arg, struct tux_conn *c)
{
	note(arg, tux_conn_user(c), SHUT);
}

static void on_gone(void *arg, struct tux_conn *c, bool reset)
{
	note(arg, tux_conn_user(c), GONE | (reset ? RESET : 0));
}

/* The latch keeps the application from closing its descriptor just before the
 * duplicate is made: the number might be somebody else's by then. */
static int on_own(void *arg, struct tux_conn *c)
{
	struct tux_end *e = tux_conn_user(c);
	int err = -EBADF;

	(void)arg;
	tux_latch_take(&e->fd_latch);
	if (e->fd >= 0)
		err = tux_lifeline_open(&e->line, e->fd);
	tux_latch_drop(&e->fd_latch);
	return err;
}

const struct tux_core_events tux_loop_events = {
	.ready = on_ready,
	.own = on_own,
	.tcp = on_tcp,
	.tcp_shut = on_tcp_shut,
	.gone = on_gone,
};

/* ---- doing it ---- */

/* The core is done with @e.  The application may not be: it still reads what is
 * in the ring, and sees the error behind it. */
static void finish(struct tux_loop *l, struct tux_end *e, bool reset)
{
	tux_lifeline_close(&e->line, l->epfd, reset);
	if (e->conn)
		tux_conn_close(e->conn);
	e->conn = NULL;
	if (e->stage != TUX_END_OVER)
		atomic_fetch_sub(&l->end_n, 1);
	e->stage = TUX_END_OVER;
	e->notes = 0;
	tux_list_remove(&e->noted);
	if (e->closed)
		l->o.gone(e->user);	/* @e may be gone, too */
	else
		l->o.ready(e->user);
}

static void open_end(struct tux_loop *l, struct tux_end *e)
{
	struct tux_conn_opts o = {
		.tuple = e->tuple,
		.active = e->active,
		.dx = e->dx,
		.user = e,
		.mtu = e->mtu,
	};
	int err = tux_core_open(l->core, &o, &e->conn, l->now);

	/* The one before it, on the same addresses, is still ending: the next
	 * touch tries again. */
	if (err == -EEXIST)
		return;
	if (!err) {
		e->stage = TUX_END_OPEN;
	} else {
		l->o.decided(e->user, false, TUX_REASON_NO_MEMORY);
		finish(l, e, false);
	}
}

void tux_loop_rung(struct tux_loop *l, struct tux_end *e)
{
	uint32_t bits = atomic_exchange(&e->dx->rung, 0);
	bool was_closed = e->closed;

	bits &= ~(uint32_t)TUX_RING_QUEUED;
	if (bits & (TUX_RING_CLOSE | TUX_RING_ABORT))
		e->closed = true;
	if (e->stage == TUX_END_FRESH && !e->closed)
		open_end(l, e);
	if (e->conn) {
		tux_conn_rung(e->conn, bits, l->now);
	} else if (e->closed && !was_closed) {
		if (e->stage == TUX_END_FRESH)
			l->o.decided(e->user, false, TUX_REASON_CLOSED);
		finish(l, e, false);
	}
}

static void watch(struct tux_loop *l, struct tux_end *e)
{
	tux_lifeline_watch(&e->line, e->conn, l->epfd,
			   TUX_LOOP_END + (uint64_t)e->index);
}

void tux_loop_tcp(struct tux_loop *l, struct tux_end *e, uint32_t events)
{
	if (!e->conn)
		return;
	tux_lifeline_event(&e->line, e->conn, events, l->buf, l->now);
	watch(l, e);
}

/* Tells where the connection goes, if that is known and news. */
static void decide(struct tux_loop *l, struct tux_end *e, enum tux_reason why)
{
	bool tux = tux_conn_tx_on_tux(e->conn) || tux_conn_rx_on_tux(e->conn);

	if (tux == e->tux && why == e->why)
		return;
	e->tux = tux;
	e->why = (uint8_t)why;
	if (tux || why)
		l->o.decided(e->user, tux, why);
}

static void settle(struct tux_loop *l, struct tux_end *e)
{
	uint32_t notes = e->notes;

	e->notes = 0;
	if (notes & READY) {
		decide(l, e, tux_conn_reason(e->conn));
		l->o.ready(e->user);
	}
	if (notes & TCP) {
		tux_lifeline_write(&e->line, e->conn, l->buf, l->now);
		watch(l, e);
	}
	if (notes & SHUT)
		tux_lifeline_shut(&e->line);
	if (notes & GONE)
		finish(l, e, notes & RESET);
}

unsigned tux_loop_settle(struct tux_loop *l)
{
	unsigned n = 0;

	while (!tux_list_empty(&l->noted)) {
		struct tux_end *e = TUX_CONTAINER(l->noted.next,
						  struct tux_end, noted);

		tux_list_remove(&e->noted);
		settle(l, e);
		n++;
	}
	return n;
}
