/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/edge.h"

#include "sock/path.h"

#define NEVER_TOLD UINT64_MAX

static bool claimed(const struct sock *s)
{
	return atomic_load_explicit(&s->stage, memory_order_acquire) ==
	       SOCK_CLAIMED;
}

/* Bytes that have left, by TCP or from the ring: more of them is more room. */
static uint64_t edge_left(struct sock *s)
{
	struct tux_duplex *d = s->dx;
	uint64_t n = NEVER_TOLD;

	if (!claimed(s))
		return 0;
	if (atomic_load(&d->tx.state) == TUX_TX_SWITCHED)
		return tux_pipe_tail(&d->txp);
	if (path_lock_tx(s)) {
		n = d->tx.off;
		path_unlock_tx(s);
	}
	return n;
}

bool edge_wrote(const struct edge *e, struct sock *s)
{
	return e->tx == NEVER_TOLD || edge_left(s) != e->tx;
}

void edge_told(struct edge *e, struct sock *s, uint32_t told)
{
	if (told & READY_OUT)
		e->tx = edge_left(s);
}

/* Bytes that have been read since are an edge, too: of the room that there is.
 * If others have come since @now was made, the edge is theirs.  While reads have
 * stopped, nobody has read. */
static bool ring_bytes(struct edge *e, const struct tux_duplex *d, uint32_t now)
{
	uint64_t before = e->rx;

	if (!tux_end_ring_grew(d, &e->rx))
		return false;
	if ((now & READY_BYTES) ||
	    (!atomic_load(&d->rx.stopped) && !tux_duplex_readable(d)))
		return true;
	e->rx = before;
	return false;
}

/* Reads had stopped, and go on: what one did not find can be read again. */
static bool edge_resumed(struct edge *e, const struct tux_duplex *d)
{
	uint8_t resumes = atomic_load(&d->rx.resumes);
	bool news = resumes != e->resumes;

	e->resumes = resumes;
	return news;
}

static bool new_bytes(struct edge *e, const struct tux_duplex *d, uint32_t now)
{
	if (edge_resumed(e, d) && now & READY_BYTES)
		return true;
	if (atomic_load(&d->rx.state) == TUX_RX_SWITCHED)
		return ring_bytes(e, d, now);
	return now & READY_BYTES;	/* left over where the ring is not in use */
}

/* shutdown() wakes all who wait, and so does the peer's end, also if there is
 * nothing to be read any more. */
static uint8_t shuts_of(const struct sock *s)
{
	bool end = atomic_load(&s->rdshut) && atomic_load(&s->dx->rx.eof);

	return (uint8_t)(atomic_load(&s->shuts) + end);
}

static bool edge_shut(struct edge *e, const struct sock *s)
{
	uint8_t was = e->shuts;

	e->shuts = shuts_of(s);
	return e->shuts != was;
}

/* What has come after @now was made is for the next time: it rings again. */
bool edge_new(struct edge *e, struct sock *s, uint32_t asked, uint32_t now)
{
	uint32_t end = e->end;
	bool shut;

	if (!claimed(s))
		return true;
	shut = edge_shut(e, s);
	e->end |= now & (EPOLLRDHUP | READY_ALWAYS);
	if ((asked & READY_BYTES) && new_bytes(e, s->dx, now))
		return true;
	return shut || e->end != end || ((now & READY_OUT) && edge_wrote(e, s));
}

static bool came_behind(struct edge *e, struct sock *s)
{
	bool yes = false;

	if (atomic_load(&s->dx->rx.state) != TUX_RX_ARMED || !path_lock_rx(s))
		return false;
	if (atomic_load(&s->dx->rx.state) == TUX_RX_ARMED)
		yes = tux_end_ring_grew(s->dx, &e->behind);
	path_unlock_rx(s);
	return yes;
}

static bool edge_became_plain(struct edge *e, const struct tux_duplex *d)
{
	uint32_t turns = tux_duplex_tx_turns(d) + tux_duplex_rx_turns(d);
	bool news = turns != e->turns;

	e->turns = turns;
	return news;
}

/* A write has waited while TCP had room, and could go on since: no new edge of
 * the kernel's says so. */
static bool was_barred(struct edge *e, const struct tux_duplex *d)
{
	uint8_t bars = atomic_load(&d->tx.bars);

	if (bars == e->bars || bars & 1)
		return false;
	e->bars = bars;
	return true;
}

static bool was_shut(struct edge *e, const struct sock *s)
{
	uint8_t was = e->hidden_shuts;

	e->hidden_shuts = atomic_load(&s->hidden_shuts);
	return e->hidden_shuts != was;
}

bool edge_hidden(struct edge *e, struct sock *s)
{
	return claimed(s) && (came_behind(e, s) || edge_became_plain(e, s->dx) ||
			      was_barred(e, s->dx) || was_shut(e, s));
}

void edge_init(struct edge *e, struct sock *s)
{
	*e = (struct edge){ .tx = NEVER_TOLD };
	if (!claimed(s))
		return;
	e->shuts = shuts_of(s);
	e->hidden_shuts = atomic_load(&s->hidden_shuts);
	e->turns = tux_duplex_tx_turns(s->dx) + tux_duplex_rx_turns(s->dx);
	e->bars = atomic_load(&s->dx->tx.bars);
}
