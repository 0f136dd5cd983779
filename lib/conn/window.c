/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/window.h"

#include "conn/conn_in.h"

/* ---- the direction that this end receives ---- */

/* Is the window told in ROOM, should the peer send in frames? */
static bool tells_in_room(const struct tux_conn *c)
{
	return c->msg && c->peer_messages && c->peer_bounds &&
	       !tux_path_plain(c->rx.path);
}

static void tell_in_room(struct tux_conn *c)
{
	tux_conn_do(c, TUX_DO_ROOM);
	tux_conn_mark(c, TUX_DIRTY_ROOM);
}

/* When the application has read up to here, telling the window is worth it.  While the
 * peer sends in frames, packets tell it as well, but may be lost: only what ROOM has
 * told counts. */
static uint64_t opens_at(const struct tux_conn *c)
{
	uint32_t half;

	if (c->rx.path != TUX_PATH_FRAMES || !tells_in_room(c))
		return tux_recvbuf_wake_at(&c->rx.buf);
	half = tux_pipe_most(&c->dx->rxp) / 2;
	return c->rx.room_end > half ? c->rx.room_end - half : 0;
}

static uint32_t window_now(struct tux_conn *c)
{
	c->rx.buf.taken = atomic_load(&c->dx->rx.taken);
	return tux_recvbuf_window(&c->rx.buf);
}

static void have_it_ring(struct tux_conn *c)
{
	if (!c->in.starved)
		atomic_store_explicit(&c->dx->wake_at, opens_at(c),
				      memory_order_relaxed);
}

uint32_t tux_window_tell(struct tux_conn *c, uint64_t *got)
{
	uint32_t window;

	*got = tux_recvbuf_got(&c->rx.buf);
	window = window_now(c);
	have_it_ring(c);
	return window;
}

void tux_window_opened(struct tux_conn *c, uint64_t tail)
{
	if (c->rx.path == TUX_PATH_PLAIN || tail < opens_at(c))
		return;
	if (c->rx.path == TUX_PATH_FRAMES && tells_in_room(c))
		tell_in_room(c);
	else
		tux_conn_do(c, TUX_DO_ACK);
}

void tux_window_in_frames(struct tux_conn *c)
{
	if (tells_in_room(c))
		tell_in_room(c);
}

uint64_t tux_window_end(struct tux_conn *c)
{
	if (!tells_in_room(c))
		return 0;
	window_now(c);
	c->rx.room_end = c->rx.buf.limit;
	have_it_ring(c);
	return c->rx.room_end;
}

/* ---- the direction that this end sends ---- */

void tux_window_heard(struct tux_conn *c, uint64_t end)
{
	if (tux_path_plain(c->tx.path) || end <= c->tx.buf.limit)
		return;
	c->tx.buf.limit = end;
	tux_conn_mark(c, TUX_DIRTY_ROOM);
}

/* The peer can tell its window on TCP only once it has switched its direction, and
 * until that has ended; and this end hears it only while it reads TCP. */
static bool is_bound(const struct tux_conn *c)
{
	return c->msg && c->peer_messages && c->peer_bounds &&
	       !tux_path_plain(c->rx.path) && !c->rx.tcp_ended &&
	       !c->in.starved && !c->tx.raw_wanted;
}

/* A first frame at N is the rest of a write, and says nothing of the path.  So it does
 * not fill the window: a second one follows. */
static uint64_t bound_of(const struct tux_conn *c)
{
	return c->tx.buf.limit - (c->out.off == c->dx->tx.at);
}

uint64_t tux_window_frames(const struct tux_conn *c)
{
	uint64_t off = c->out.off, end = tux_pipe_head(&c->dx->txp);

	if (c->tx.path != TUX_PATH_FRAMES)
		return 0;
	if (is_bound(c) && bound_of(c) < end)
		end = bound_of(c);
	return end > off ? end - off : 0;
}

bool tux_window_spent(const struct tux_conn *c)
{
	return is_bound(c) && bound_of(c) <= c->out.off;
}

bool tux_window_shut(const struct tux_conn *c)
{
	return c->tx.path == TUX_PATH_FRAMES && !tux_window_frames(c) &&
	       c->out.off < tux_pipe_head(&c->dx->txp);
}
