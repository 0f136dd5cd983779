/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/channel.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "afxdp/nic.h"
#include "loop/recall.h"
#include "stack/bound.h"
#include "stack/drive.h"
#include "stack/loops.h"
#include "stack/stack_in.h"
#include "sys/clock.h"
#include "sys/sys.h"
#include "sys/take.h"
#include "wire/wire.h"

enum {
	UDP_MAX = 65507,		/* the longest datagram there is */
	MTU_MIN = 1280,
	MSS_MIN = 536,			/* RFC 9293, 3.7.1 */
	LATCH_MS = 100,			/* for a latch whose holder may have ended */
	RECALL_S = 2,			/* the loop answers before */
	V4_HEADERS = 28, V6_HEADERS = 48,	/* with UDP's */
	V4_HEADER = 20, V6_HEADER = 40,
	TCP_HEADER = 20, TCP_TIMESTAMPS = 12,
};

/* ---- claiming --------------------------------------------------------- */

static bool channel_is_loopback(const struct tux_tuple *t)
{
	static const uint8_t one[16] = { [15] = 1 };
	const struct tux_addr *a = &t->active, *p = &t->passive;

	return tux_addr_same_ip(a, p) ||
	       (tux_addr_is_v4(a) ? a->ip[12] == 127 || p->ip[12] == 127 :
		memcmp(a->ip, one, sizeof(one)) == 0);
}

static enum tux_reason why_not(const struct tux_stack *s,
			       const struct tux_tuple *t)
{
	bool lo = s->o.ifname && strcmp(s->o.ifname, "lo") == 0;

	if (s->forked)
		return TUX_REASON_NOT_OWNER;
	if (channel_is_loopback(t) == lo)
		return s->lacks;
	return lo ? TUX_REASON_OTHER_INTERFACE : TUX_REASON_LOOPBACK;
}

/* The MTU that follows from the segments that the peer accepts.  It may be
 * smaller than ours, and over AF_XDP nothing fragments a datagram. */
static int peer_mtu(int fd, bool v4)
{
	struct tcp_info t = { 0 };
	socklen_t len = sizeof(t);
	uint32_t mtu;

	if (tux_sys_getsockopt(fd, IPPROTO_TCP, TCP_INFO, &t, &len) < 0)
		return 0;
	mtu = t.tcpi_snd_mss + TCP_HEADER + (v4 ? V4_HEADER : V6_HEADER);
	if (t.tcpi_options & TCPI_OPT_TIMESTAMPS)
		mtu += TCP_TIMESTAMPS;
	return (int)mtu;
}

/* The longest datagram of the path that TCP has found. */
static uint32_t datagram_max(const struct tux_stack *s,
			     const struct tux_end_opts *o)
{
	bool v4 = tux_addr_is_v4(&o->tuple.passive);
	int mtu = 0, peer;
	socklen_t len = sizeof(mtu);

	if (tux_sys_getsockopt(o->fd, IPPROTO_IP, IP_MTU, &mtu, &len) < 0)
		tux_sys_getsockopt(o->fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &len);
	peer = s->o.io == TUX_IO_UDP ? mtu : peer_mtu(o->fd, v4);
	if (peer < mtu)
		mtu = peer;
	if (mtu < MTU_MIN)
		mtu = MTU_MIN;
	mtu -= v4 ? V4_HEADERS : V6_HEADERS;
	return mtu < UDP_MAX ? (uint32_t)mtu : UDP_MAX;
}

/* The payload of a segment of TCP, at least MSS_MIN. */
static uint32_t tcp_segment(int fd)
{
	int mss = 0;
	socklen_t len = sizeof(mss);

	if (tux_sys_getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, &len) < 0 ||
	    mss < MSS_MIN)
		return MSS_MIN;
	return (uint32_t)mss;
}

/* The kernel is asked once: the question comes up again and again. */
void tux_end_segment(struct tux_candidate *y, enum tux_io io, int fd)
{
	const uint32_t most = io == TUX_IO_UDP ? TUX_PKT_MAX : TUX_NIC_MTU;
	uint32_t mss;

	if (atomic_load_explicit(&y->packet, memory_order_relaxed))
		return;
	mss = tcp_segment(fd);
	atomic_store_explicit(&y->packet, mss < most ? mss : most,
			      memory_order_relaxed);
}

/* Back to where they came from; NULL is fine. */
static void put_memory(struct tux_stack *s, struct tux_duplex *dx,
		       struct tux_msgbox *box)
{
	if (dx)
		tux_arena_put(&s->arena, dx);
	if (box)
		tux_arena_put(&s->boxes, box);
}

static struct tux_end *new_end(struct tux_stack *s, bool messages, bool asks)
{
	struct tux_duplex *dx = tux_arena_get(&s->arena);
	struct tux_msgbox *box = messages ? tux_arena_get(&s->boxes) : NULL;
	struct tux_end *e = NULL;

	if (dx && (box || !messages))
		e = tux_ends_get(&s->ends);
	if (!e) {
		put_memory(s, dx, box);
		return NULL;
	}
	tux_duplex_init(dx, TUX_RING_LEN);
	if (box) {
		tux_msgbox_init(box, TUX_SMALL_LEN, s->bulk_len);
		box->asks = asks;
	}
	e->dx = dx;
	e->box = box;
	if (s->recall)
		tux_recall_follow(s->recall, e);
	return e;
}

/* The end @e, which no loop has. */
static void put_end(struct tux_stack *s, struct tux_end *e)
{
	struct tux_duplex *dx = e->dx;
	struct tux_msgbox *box = e->box;

	tux_ends_put(&s->ends, e);
	put_memory(s, dx, box);
}

int tux_end_claim(struct tux_stack *s, const struct tux_end_opts *o,
		  struct tux_end **ep)
{
	enum tux_reason why = why_not(s, &o->tuple);
	struct tux_mark_peer peer = { .port = 0 };
	struct tux_driver *d;
	struct tux_end *e;
	int r = 0;

	if (why)
		return -(int)why;
	if (tux_stack_keyed(s))
		r = tux_announce_look(&s->announce, o->fd, o->active, &peer);
	if (r)
		return r;
	e = new_end(s, o->messages && s->bulk_len, o->asks);
	if (!e)
		return -TUX_REASON_NO_MEMORY;
	d = tux_loops_choose(s, o->loop);
	if (!d) {
		put_end(s, e);
		return -TUX_REASON_NOT_STARTED;
	}
	if (o->candidate)
		tux_duplex_begin(e->dx, &o->candidate->sent,
				 &o->candidate->received);
	e->dx->tx.segment = tcp_segment(o->fd);
	tux_end_bound(e, o->fd);
	e->user = o->user;
	e->mode = e->box ? TUX_PATH_MODE_TUX : o->mode;
	e->returns = o->returns;
	e->tuple = o->tuple;
	e->active = o->active;
	e->key = peer.key;
	e->peer_port = peer.port;
	e->mtu = datagram_max(s, o);
	e->fd = o->fd;
	e->lent = o->lent ? o->fd : -1;
	*ep = e;
	atomic_store(&e->loop, d->loop);
	tux_end_ring(e, 0, false);
	return 0;
}

/* ---- ends ------------------------------------------------------------- */

static struct tux_driver *driver_of(const struct tux_end *e)
{
	return atomic_load(&e->loop)->o.arg;
}

struct tux_duplex *tux_end_duplex(const struct tux_end *e)
{
	return e->dx;
}

void tux_end_set_fd(struct tux_end *e, int fd)
{
	tux_latch_take(&e->fd_latch);
	e->fd = fd;
	tux_latch_drop(&e->fd_latch);
}

void tux_end_with_fd(struct tux_end *e, void (*fn)(void *arg, int fd), void *arg)
{
	tux_latch_take(&e->fd_latch);
	if (e->fd >= 0)
		fn(arg, e->fd);
	tux_latch_drop(&e->fd_latch);
}

void tux_end_ring(struct tux_end *e, uint32_t bits, bool now)
{
	struct tux_driver *d = driver_of(e);

	if (d->stack->forked || atomic_load(&e->over))
		return;
	if (tux_duplex_rings(e->dx, bits))
		tux_loop_ring(d->loop, e->index);
	if (now)
		tux_driver_turn(d);
	else
		tux_driver_notice(d);
}

/* A turn of @d's loop, by the calling thread; none if threads of the library's run
 * the loops. */
static void channel_turn_of(struct tux_driver *d)
{
	if (!d->stack->forked && !d->stack->o.threads && d->started)
		tux_driver_turn(d);
}

void tux_end_turn(struct tux_end *e)
{
	channel_turn_of(driver_of(e));
}

void tux_end_flush(struct tux_end *e, bool now)
{
	uint32_t rung = atomic_load_explicit(&e->dx->rung,
					     memory_order_relaxed);

	/* Not in the bell, or in it and in a hurry. */
	if (rung && (now || !(rung & TUX_DOORBELL_QUEUED)))
		tux_end_ring(e, 0, now);
}

/* What was written goes out, and then the end of it.  A thread that died in the
 * middle of a write, at exit, is not waited for. */
static void channel_shut(struct tux_duplex *d)
{
	if (!tux_latch_take_within(&d->tx.latch, TUX_MSEC(LATCH_MS))) {
		atomic_store(&d->tx.shut, 1);
		return;
	}
	tux_duplex_shut(d);
	tux_latch_drop(&d->tx.latch);
}

void tux_end_close(struct tux_end *e, bool abort)
{
	int fd;

	tux_latch_take(&e->fd_latch);
	fd = e->fd >= 0 && e->lent_back ? e->lent : -1;
	e->fd = -1;
	tux_latch_drop(&e->fd_latch);
	if (!abort)
		channel_shut(e->dx);
	tux_end_ring(e, abort ? TUX_DOORBELL_ABORT : TUX_DOORBELL_CLOSE, false);
	if (fd >= 0)
		tux_sys_close(fd);
}

void tux_end_keep_fd(struct tux_end *e)
{
	tux_latch_take(&e->fd_latch);
	e->lent = -1;
	tux_latch_drop(&e->fd_latch);
}

bool tux_end_over(const struct tux_end *e)
{
	return atomic_load(&e->over);
}

void tux_end_free(struct tux_end *e)
{
	put_end(driver_of(e)->stack, e);
}

/* ---- waiting ---------------------------------------------------------- */

void tux_waiter_follow(struct tux_waiter *w, const struct tux_end *e)
{
	const struct tux_driver *d = driver_of(e);

	atomic_store_explicit(&w->loop, (uint32_t)(d - d->stack->driver) + 1,
			      memory_order_relaxed);
}

/* Waits, and runs the loop of @d meanwhile. */
static int channel_wait_with(struct tux_driver *d, struct tux_poll *x,
			     tux_time until)
{
	const struct tux_stack *s = d->stack;

	if (s->forked || s->o.threads || !d->started)
		return tux_passive_wait(x, until);
	return tux_driver_wait(d, x, until);
}

int tux_channel_wait(struct tux_stack *s, struct tux_waiter *w,
		     struct pollfd *fds, unsigned n, tux_time until,
		     const sigset_t *mask)
{
	struct tux_poll x = {
		.w = w, .fds = fds, .n = n, .mask = mask,
	};

	return s ? channel_wait_with(tux_loops_run(s, w), &x, until) :
		   tux_passive_wait(&x, until);
}

void tux_channel_turn(struct tux_stack *s, const struct tux_waiter *w)
{
	if (s && !s->forked && !s->o.threads)
		channel_turn_of(tux_loops_run(s, w));
}

/* ---- going raw -------------------------------------------------------- */

/* The core may have no connection that would pin what has not moved.  At exit, the
 * holder of a latch may not run any more. */
static bool end_is_raw(struct tux_duplex *d, const struct tux_tcp *tcp)
{
	bool raw = false;

	if (!tux_latch_take_within(&d->tx.latch, TUX_MSEC(LATCH_MS)))
		return false;
	if (tux_latch_take_within(&d->rx.latch, TUX_MSEC(LATCH_MS))) {
		raw = tux_duplex_go_raw(d, tcp);
		tux_latch_drop(&d->rx.latch);
	}
	tux_latch_drop(&d->tx.latch);
	return raw;
}

void tux_end_ask_raw(struct tux_end *e, enum tux_reason why, bool now)
{
	atomic_store(&e->dx->raw_why, (uint8_t)why);
	tux_end_ring(e, TUX_DOORBELL_RAW, now);
}

bool tux_end_is_raw(struct tux_end *e, const struct tux_tcp *tcp,
		    enum tux_reason why)
{
	bool raw;

	/* The peer is to know, also if nothing has moved. */
	tux_end_ask_raw(e, why, true);
	raw = end_is_raw(e->dx, tcp);
	if (raw)
		tux_recall_plain(e);
	return raw;
}

bool tux_end_unread(const struct tux_end *e)
{
	return atomic_load(&e->dx->rx.state) == TUX_RX_RAW &&
	       tux_duplex_readable(e->dx);
}

/* Is there nothing to wait for? */
static bool end_stays(const struct tux_end *e)
{
	return tux_end_unread(e) || tux_duplex_hopeless(e->dx);
}

int tux_end_raw(struct tux_end *e, const struct tux_tcp *tcp,
		enum tux_reason why, tux_time for_ns)
{
	tux_time until = tux_time_add(tux_clock_read(), for_ns);

	if (driver_of(e)->stack->forked)
		return -EBUSY;
	while (!tux_end_is_raw(e, tcp, why)) {
		if (end_stays(e) || tux_clock_read() >= until)
			return -EBUSY;
		tux_end_pause(e, until);
	}
	return 0;
}

int tux_end_recalled(struct tux_end *e)
{
	tux_time until = tux_time_add(tux_clock_read(), TUX_SEC(RECALL_S));

	while (atomic_load(&e->recalled) == TUX_RECALL_OPEN &&
	       !end_stays(e) && tux_clock_read() < until)
		tux_end_pause(e, until);
	return atomic_load(&e->recalled) == TUX_RECALL_DONE ? 0 : -EBUSY;
}

unsigned tux_end_copies(const struct tux_end *e)
{
	return atomic_load(&e->copied);
}

bool tux_end_has_left(struct tux_end *e)
{
	bool first;

	tux_latch_take(&e->fd_latch);
	first = !e->leaves;
	e->leaves = true;
	e->fd = e->lent = -1;
	tux_latch_drop(&e->fd_latch);
	if (first)
		tux_end_ring(e, TUX_DOORBELL_LEAVE, true);
	return atomic_load(&e->left) || atomic_load(&e->over);
}

void tux_end_pause(struct tux_end *e, tux_time until)
{
	struct tux_poll x = { .w = NULL };
	tux_time soon = tux_clock_read() + TUX_MSEC(1);

	channel_wait_with(driver_of(e), &x, tux_time_min(until, soon));
}

/* ---- the end ----------------------------------------------------------- */

static uint32_t channel_left(const struct tux_stack *s)
{
	uint32_t n = 0;
	unsigned i;

	for (i = 0; i < tux_loops_n(s); i++)
		n += atomic_load(&s->driver[i].loop->end_n);
	return n;
}

/* Goes on without the latch if its holder died, or is this thread, interrupted:
 * the latch stays held then, so that no other thread can free an end. */
static void close_ends(struct tux_stack *s)
{
	bool latched = tux_latch_take_within(&s->ends.latch, TUX_MSEC(LATCH_MS));
	uint32_t i, n = atomic_load(&s->ends.used);

	for (i = 0; i < n; i++)
		if (atomic_load(&s->ends.at[i].loop))
			tux_end_close(&s->ends.at[i], false);
	if (latched)
		tux_latch_drop(&s->ends.latch);
}

void tux_channel_drain(struct tux_stack *s, tux_time for_ns)
{
	tux_time now = tux_clock_read(), until = tux_time_add(now, for_ns);

	if (s->forked)
		return;
	close_ends(s);
	while (channel_left(s) && now < until) {
		tux_channel_wait(s, NULL, NULL, 0,
				 tux_time_min(until, now + TUX_MSEC(1)), NULL);
		now = tux_clock_read();
	}
}
