/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes that a connection receives.  They come through its duplex, or,
 * without one, straight from TCP; the caller cannot tell.
 */
#include "api/stream.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "api/ask.h"
#include "api/connection.h"
#include "stack/post.h"
#include "sys/sys.h"
#include "sys/take.h"

enum {
	DISCARD = 16384,
	DISCARDS = 64,		/* of those, at most */
};

static ssize_t stream_read_some(struct tux_connection *c,
				const struct iovec *iov, bool peek)
{
	struct tux_tcp tcp = tux_api_tcp(c);
	ssize_t k;

	if (c->end)
		return tux_duplex_read(c->dx, iov, 1, peek, &tcp);
	k = tcp.recv(tcp.arg, iov, 1, peek);
	if (k > 0 && !peek)
		tux_candidate_moved(&c->candidate, false, (uint64_t)k);
	return k;
}

/* As much as there is; the latch is held.  What ends it in *@end: 0 at the end
 * of the stream, -errno. */
static size_t stream_take(struct tux_connection *c, char *p, size_t n,
			  bool peek, ssize_t *end)
{
	size_t done = 0;

	*end = -EAGAIN;
	while (done < n) {
		struct iovec v = { p + done, n - done };
		bool last = !c->end || tux_duplex_from_tcp(c->dx);
		ssize_t k = stream_read_some(c, &v, peek);

		if (k <= 0) {
			*end = k;
			return done;
		}
		done += (size_t)k;
		if (peek || ((size_t)k < v.iov_len && last &&
			     !(c->end && tux_duplex_at_switch(c->dx))))
			return done;
	}
	return done;
}

static ssize_t stream_outcome(struct tux_connection *c, size_t done,
			      ssize_t end)
{
	uint32_t err;

	if (end < 0 && end != -EAGAIN && end != -EINTR)
		tux_api_broke(c, (int)-end);
	if (done) {
		atomic_store_explicit(&c->stream_rx,
				      atomic_load_explicit(&c->stream_rx,
							   memory_order_relaxed)
				      + done, memory_order_relaxed);
		return (ssize_t)done;
	}
	err = atomic_load(&c->err);
	if (err) {
		c->err_told = c->err_read = true;
		return -(ssize_t)err;
	}
	return end == -EINTR ? -EAGAIN : end;
}

/* The end comes behind all messages, also those that came with it while the
 * stream was looked at. */
static bool is_early(struct tux_connection *c, ssize_t end)
{
	if (end || !c->messages || !tux_post_any(c->end))
		return false;
	tux_api_raise(c, TUX_EVENT_AGAIN);
	return true;
}

/* Would a read find nothing, after one that gave @done of @n bytes and then met
 * @end?  The end that comes behind bytes is told by the next one. */
static bool has_all(const struct tux_connection *c, size_t done, size_t n,
		    ssize_t end, bool peek)
{
	if (!end)
		return !done;
	return end == -EAGAIN && !(done && c->ended) &&
	       (peek ? !done : done < n);
}

static ssize_t stream_receive(struct tux_connection *c, void *p, size_t n,
			      bool peek)
{
	struct tux_latch *latch = tux_api_take_rx(c);
	ssize_t end = 0;
	size_t done;

	done = stream_take(c, p, n, peek, &end);
	c->looked = true;
	c->took |= done && !peek;
	tux_latch_drop(latch);
	if (has_all(c, done, n, end, peek))
		c->unread = false;
	if (c->end)
		tux_end_flush(c->end, false);
	if (!done && is_early(c, end))
		return -EAGAIN;
	c->ended |= !done && !end;
	return peek && done ? (ssize_t)done : stream_outcome(c, done, end);
}

ssize_t tux_read(struct tux_connection *c, void *p, size_t n)
{
	ssize_t k;

	if (!n)
		return 0;
	tux_sched_enter();
	k = tux_api_unusable(c);
	if (!k)
		k = stream_receive(c, p, n, false);
	tux_sched_leave();
	return k;
}

ssize_t tux_peek(struct tux_connection *c, void *p, size_t n)
{
	ssize_t k;

	if (!n)
		return 0;
	tux_sched_enter();
	k = tux_api_unusable(c);
	if (!k)
		k = stream_receive(c, p, n, true);
	tux_sched_leave();
	return k;
}

static bool duplex_has_ended(struct tux_connection *c)
{
	struct tux_tcp tcp = tux_api_tcp(c);
	bool yes;

	if (!c->fin && !(tux_duplex_poll(c->dx) & TUX_IS_EOF))
		return false;
	tux_latch_take(&c->dx->rx.latch);
	yes = tux_duplex_ended(c->dx, c->fin, &tcp);
	tux_latch_drop(&c->dx->rx.latch);
	return yes;
}

bool tux_api_find_end(struct tux_connection *c)
{
	if (c->ended || atomic_load(&c->err) ||
	    !(c->end ? duplex_has_ended(c) : c->fin) || is_early(c, 0))
		return false;
	return c->ended = true;
}

int tux_ended(const struct tux_connection *c)
{
	return tux_api_usable(c) && c->ended && !atomic_load(&c->err);
}

static size_t in_tcp(const struct tux_connection *c)
{
	int n = 0;

	return TUX_SYS(SYS_ioctl, c->fd, FIONREAD, &n, 0, 0, 0) < 0 ? 0 :
	       (size_t)n;
}

/* All of it, however it is spread. */
static size_t readable(struct tux_connection *c)
{
	struct tux_tcp tcp = tux_api_tcp(c);

	if (!c->end)
		return in_tcp(c);
	if (atomic_load(&c->dx->rx.state) == TUX_RX_SWITCHED)
		return tux_duplex_readable(c->dx);
	return tux_duplex_unread(c->dx, in_tcp(c), &tcp);
}

size_t tux_readable(const struct tux_connection *c)
{
	struct tux_connection *own = (struct tux_connection *)(uintptr_t)c;
	struct tux_latch *latch;
	size_t n = 0;

	tux_sched_enter();
	if (tux_api_usable(c)) {
		latch = tux_api_take_rx(own);
		if (!atomic_load(&c->closed))
			n = readable(own);
		tux_latch_drop(latch);
	}
	tux_sched_leave();
	return n;
}

bool tux_api_ring_grew(struct tux_connection *c)
{
	bool yes;

	if (atomic_load(&c->dx->rx.state) != TUX_RX_ARMED)
		return false;
	tux_latch_take(&c->dx->rx.latch);
	yes = atomic_load(&c->dx->rx.state) == TUX_RX_ARMED &&
	      tux_end_ring_grew(c->dx, &c->rx_told);
	tux_latch_drop(&c->dx->rx.latch);
	return yes;
}

bool tux_api_advance(struct tux_connection *c)
{
	struct tux_tcp tcp = tux_api_tcp(c);
	bool yes;

	/* In the middle of it, or at N?  The rest needs no latch. */
	if (atomic_load(&c->dx->rx.state) == TUX_RX_PLAIN)
		return true;
	tux_latch_take(&c->dx->rx.latch);
	yes = tux_duplex_advance(c->dx, &tcp);
	tux_latch_drop(&c->dx->rx.latch);
	tux_end_flush(c->end, false);
	return yes;
}

void tux_api_discard(struct tux_connection *c)
{
	struct tux_latch *latch = tux_api_rx(c);
	char buf[DISCARD];
	ssize_t end = -EAGAIN;
	unsigned i;

	if (c->end && atomic_load(&c->dx->rx.state) == TUX_RX_SWITCHED)
		return;
	tux_latch_take(latch);
	for (i = 0; i < DISCARDS; i++)
		if (stream_take(c, buf, sizeof(buf), false, &end) < sizeof(buf))
			break;
	tux_latch_drop(latch);
	if (c->end)
		tux_end_flush(c->end, false);
	/* Reading takes the error from TCP. */
	if (end < 0 && end != -EAGAIN && end != -EINTR)
		tux_api_broke(c, (int)-end);
}
