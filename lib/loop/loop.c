/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One turn.  The bell comes first: what applications have written then shares
 * datagrams with the acknowledgments that arrivals cause, with one recvmmsg and
 * one sendmmsg for all connections.  epoll, which only knows of TCP and of new
 * connections, is asked when nothing has arrived or a while has passed.
 */
#include "loop/loop.h"

#include "loop/loop_busy.h"
#include "loop/loop_end.h"
#include "loop/loop_pass.h"
#include "loop/recall.h"
#include "sys/area.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"

enum {
	BELL = 2 * TUX_ENDS_MAX,	/* an end may ring again when reused */
	RINGS = 1024,			/* in one turn */
	EVENTS = 64,
	FLUSHES = 8,			/* full batches sent in one turn */
	LOOK_IDLE_US = 50,		/* between two looks at epoll: idle, */
	LOOK_BUSY_US = 200,		/* and with datagrams coming in */
	BLOCKED_US = 200,		/* until a full socket is tried again */
};

/* ---- birth and death ---- */

int tux_loop_hold(struct tux_loop_held *h)
{
	struct epoll_event e = { .events = EPOLLIN };

	h->bell_fd = -1;
	h->epfd = tux_fd_lift(tux_sys_epoll_create());
	if (h->epfd < 0)
		return h->epfd;
	h->bell_fd = tux_wake_open();
	if (h->bell_fd < 0)
		return h->bell_fd;
	e.data.u64 = TUX_LOOP_BELL;
	return tux_sys_epoll_ctl(h->epfd, EPOLL_CTL_ADD, h->bell_fd, &e);
}

void tux_loop_let_go(struct tux_loop_held *h)
{
	tux_fd_close(h->bell_fd);
	tux_fd_close(h->epfd);
}

void tux_loop_held_forked(struct tux_loop_held *h, bool recalls)
{
	if (!recalls)
		tux_fd_close(h->bell_fd);
	tux_fd_close(h->epfd);
}

static int open_wakeup(struct tux_loop *l)
{
	int err = 0;

	if (l->o.held)
		l->held = *l->o.held;
	else
		err = tux_loop_hold(&l->held);
	return err ? err : tux_wake_map(&l->bell, BELL);
}

static void close_wakeup(struct tux_loop *l)
{
	if (!l->o.held)
		tux_loop_let_go(&l->held);
}

static int open_core(struct tux_loop *l)
{
	struct tux_core_opts o = {
		.mem = &l->slab.mem,
		.port = l->link->port,
		.ack_delay = l->o.ack_delay,
		.pkt_max = l->link->pkt_max,
		.cc = l->o.cc,
		.number = l->o.link->one_port ? l->o.number + 1 : 0,
	};
	int err = tux_clock_seed(&o.seed);

	return err ? err : tux_core_new(&l->core, &o);
}

static int loop_open_all(struct tux_loop *l)
{
	int err;

	err = tux_area_map((void **)&l->buf, TUX_LIFELINE_BUF, TUX_AREA_OWN);
	if (!err)
		err = open_wakeup(l);
	if (!err)
		err = l->o.link->open(&l->link, &l->o.link_opts, l->held.epfd,
				      TUX_LOOP_LINK);
	if (!err)
		err = open_core(l);
	return err;
}

int tux_loop_new(struct tux_loop **lp, const struct tux_loop_opts *o)
{
	struct tux_loop *l;
	int err;

	err = tux_area_map((void **)&l, sizeof(*l), TUX_AREA_PRIVATE);
	if (err)
		return err;
	l->o = *o;
	l->held = (struct tux_loop_held){ -1, -1 };
	l->xfrm.notify.fd = -1;
	tux_slab_init(&l->slab);
	tux_cpu_busy_init(&l->busy);
	err = loop_open_all(l);
	if (err) {
		tux_loop_free(l);
		return err;
	}
	*lp = l;
	return 0;
}

void tux_loop_free(struct tux_loop *l)
{
	if (!l)
		return;
	tux_core_free(l->core);
	tux_slab_fini(&l->slab);
	if (l->link)
		l->link->ops->close(l->link);
	tux_xfrm_close(&l->xfrm);
	tux_wake_fini(l->bell, -1);
	close_wakeup(l);
	tux_area_unmap(l->buf, TUX_LIFELINE_BUF);
	tux_area_unmap(l, sizeof(*l));
}

void tux_loop_forked(struct tux_loop *l)
{
	l->link->ops->forked(l->link);
	tux_fd_close(l->xfrm.notify.fd);
	if (!l->o.held)
		tux_loop_held_forked(&l->held, l->o.recall);
}

void tux_loop_leave(struct tux_loop *l)
{
	l->link->ops->close(l->link);
	l->link = NULL;
	tux_xfrm_close(&l->xfrm);
	close_wakeup(l);
}

/* ---- the turn ---- */

static unsigned take_rings(struct tux_loop *l)
{
	unsigned n = 0;
	uint32_t i;

	while (n < RINGS && tux_bell_take(l->bell, &i)) {
		struct tux_end *e = tux_ends_at(l->o.ends, i);

		if (e)
			tux_loop_take_ring(l, e);
		n++;
	}
	return n;
}

/* A datagram goes to stranger(), for other loops, if one of its packets is of no
 * connection of this loop: several loops may have one port, and only the first one's
 * is announced. */
static unsigned take_datagrams(struct tux_loop *l, unsigned source)
{
	const struct tux_dgram *d;
	unsigned i, n = l->link->ops->rx(l->link, source, &d, l->now);

	l->packets += n;
	for (i = 0; i < n; i++) {
		const struct tux_end *e;

		e = tux_core_input(l->core, &d[i].from, d[i].p, d[i].len,
				   d[i].ecn, l->now);
		if (e && l->link->ops->heard)
			l->link->ops->heard(l->link, e->flow, d[i].queue);
		if (tux_core_strange(l->core))
			l->o.stranger(l->o.arg, l, &d[i]);
	}
	return n;
}

static void loop_on_event(struct tux_loop *l, const struct epoll_event *e)
{
	uint64_t at = e->data.u64;

	if (at >= TUX_LOOP_END) {
		struct tux_end *end = tux_ends_at(l->o.ends,
						  (uint32_t)(at - TUX_LOOP_END));

		if (end && atomic_load(&end->loop) == l)
			tux_loop_tcp(l, end, e->events);
	} else if (at > TUX_LOOP_LINK) {
		take_datagrams(l, (unsigned)(at - TUX_LOOP_LINK));
	} else if (at == TUX_LOOP_BELL) {
		tux_wake_clear(l->held.bell_fd);
	} else if (at == TUX_LOOP_XFRM) {
		l->link->changed |= tux_xfrm_read(&l->xfrm);
	}
}

static unsigned loop_take_events(struct tux_loop *l)
{
	struct epoll_event e[EVENTS];
	int i, n = tux_sys_epoll_look(l->held.epfd, e, EVENTS);

	l->woken = n == EVENTS;
	l->looked_at = l->now;
	for (i = 0; i < n; i++)
		loop_on_event(l, &e[i]);
	return n > 0 ? (unsigned)n : 0;
}

/* Is epoll to be asked?  A sleep that found it empty counts as a look. */
static bool loop_must_look(struct tux_loop *l, bool busy)
{
	tux_time since;

	if (l->looked)
		l->looked_at = l->now;
	l->looked = false;
	since = tux_time_since(l->looked_at, l->now);

	if (busy)
		return since >= TUX_USEC(LOOK_BUSY_US);
	return l->woken || since >= TUX_USEC(LOOK_IDLE_US);
}

/* Not over AF_XDP, where the cost of a packet was not measured.  While the loop
 * leaves connections to TCP, it looks even without ends, to end the hold. */
static bool may_be_busy(const struct tux_loop *l)
{
	return l->busy.away || (!l->link->bypass && atomic_load(&l->end_n));
}

/* What the link wants for itself, seldom. */
static unsigned tend_link(struct tux_loop *l)
{
	unsigned n = 0;

	if (l->now >= l->link->due_at) {
		l->link->ops->tick(l->link, l->now);
		n++;
	}
	if (l->now >= l->busy.next && may_be_busy(l))
		l->link->changed |= tux_loop_look_busy(l);
	if (l->link->changed) {
		l->link->changed = false;
		tux_loop_link_changed(l);
		n++;
	}
	return n;
}

static void send_datagrams(struct tux_loop *l)
{
	const struct tux_link_ops *ops = l->link->ops;
	unsigned flushes = 0;
	struct tux_out o;

	l->more = false;
	while (tux_core_lead(l->core, &o)) {
		const struct tux_end *lead = o.user;
		uint32_t flow = lead ? lead->flow : TUX_LINK_NO_FLOW;
		size_t cap, len;
		uint8_t *p = ops->tx(l->link, flow, &cap);

		if (p) {
			len = tux_core_output(l->core, p, cap, &o, l->now);
			if (len)
				ops->send(l->link, flow, len, &o.to, &o.from,
					  o.ecn);
			continue;
		}
		ops->flush(l->link);
		l->more = ++flushes == FLUSHES;
		if (l->more || l->link->blocked)
			return;
	}
	ops->flush(l->link);
}

unsigned tux_loop_send(struct tux_loop *l)
{
	unsigned n = tend_link(l);

	tux_loop_recalled(l);
	n += tux_loop_effects(l);
	do
		send_datagrams(l);
	while (tux_loop_effects(l));
	atomic_store_explicit(&l->tends, l->link->due_at != TUX_NEVER,
			      memory_order_relaxed);
	tux_wakes_go(&l->wakes);
	return n;
}

unsigned tux_loop_take(struct tux_loop *l)
{
	unsigned n, rx;

	l->now = tux_clock_read();
	n = take_rings(l) + tux_loop_take_forwarded(l) + tux_loop_recalls(l);
	rx = take_datagrams(l, 0);
	n += rx;
	if (loop_must_look(l, rx > 0))
		n += loop_take_events(l);
	n += tux_core_expire(l->core, l->now);
	return n + tux_loop_effects(l);
}

unsigned tux_loop_turn(struct tux_loop *l)
{
	unsigned n = tux_loop_take(l);

	return n + tux_loop_send(l);
}

unsigned tux_loop_flush(struct tux_loop *l)
{
	unsigned n;

	l->now = tux_clock_read();
	n = take_rings(l) + tux_loop_recalls(l);
	return n + tux_loop_send(l);
}

unsigned tux_loop_fds(const struct tux_loop *l, struct pollfd *p)
{
	unsigned i, n = l->link->fd_n;

	p[0] = (struct pollfd){ l->held.epfd, POLLIN, 0 };
	for (i = 0; i < n; i++)
		p[1 + i] = (struct pollfd){ l->link->fd[i], POLLIN, 0 };
	return 1 + n;
}

tux_time tux_loop_deadline(const struct tux_loop *l)
{
	tux_time at = tux_time_min(tux_core_deadline(l->core),
				   l->link->due_at);

	if (l->more || l->link->changed)
		at = l->now;
	if (l->busy.away)
		at = tux_time_min(at, l->busy.next);
	if (l->link->blocked)
		at = tux_time_min(at, l->now + TUX_USEC(BLOCKED_US));
	if (l->recalled_n)
		at = tux_time_min(at, l->recalled_at);
	return at;
}

bool tux_loop_quiet(const struct tux_loop *l)
{
	return tux_bell_quiet(l->bell) && tux_forward_empty(&l->forward) &&
	       tux_loop_unasked(l);
}

bool tux_loop_prepare_sleep(struct tux_loop *l)
{
	tux_bell_set_asleep(l->bell, true);
	return tux_loop_quiet(l);
}

void tux_loop_finish_sleep(struct tux_loop *l, enum tux_loop_told told)
{
	/* What epoll saw of the bell, loop_on_event() clears. */
	tux_wake_finish_sleep(l->bell, l->held.bell_fd, false);
	l->woken |= told == TUX_LOOP_READABLE;
	l->looked = told == TUX_LOOP_NOTHING;
	l->sleeps += told != TUX_LOOP_UNTOLD;
}

void tux_loop_count(struct tux_loop *l)
{
	if (l->link->ops->count)
		l->link->ops->count(l->link);
}
