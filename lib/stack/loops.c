/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack/loops.h"

#include "stack/drive_helper.h"
#include "stack/stack_in.h"
#include "sys/take.h"

enum {
	/* A helper comes after two ticks of two milliseconds. */
	ACK_INLINE_US = 5000,
	ACK_DEDICATED_US = 1000,
};

/* The loop that the thread's connections get, counted from 1; 0: none yet. */
static __thread unsigned home;

/* ---- what a loop tells ------------------------------------------------ */

/* If @q asks for a connection that stays on TCP: loop @l answers with the reason. */
static bool stack_answer(struct tux_stack *s, struct tux_loop *l,
			 const struct tux_addr *from,
			 const struct tux_question *q)
{
	struct tux_refused x;

	return tux_refusals_find(&s->refusals, &q->tuple, q->active, &x) &&
	       tux_core_refuse(l->core, from, q->p, q->len, &x.key,
			       (enum tux_reason)x.why);
}

/* Answers what the datagram asks for.  False: another loop may know the rest. */
static bool stack_answers(struct tux_stack *s, struct tux_loop *l,
			  const struct tux_addr *from, const uint8_t *p,
			  size_t len)
{
	struct tux_question q;
	bool all = true;
	unsigned n = 0;

	if (tux_refusals_empty(&s->refusals))
		return false;
	for (; tux_core_asked(&p, &len, &q); n++)
		all &= stack_answer(s, l, from, &q);
	return n && all;
}

_Static_assert((int)TUX_LOOPS_MAX <= (int)TUX_LINK_LOOPS &&
	       (int)TUX_LOOPS_MAX <= (int)TUX_PORT_CORES,
	       "the number of a loop fits into an id, and has a share");

static unsigned number_of(const struct tux_driver *d)
{
	return (unsigned)(d - d->stack->driver) + 1;
}

static void forward_to(struct tux_driver *d, const struct tux_dgram *what)
{
	tux_loop_forward(d->loop, what);
	tux_driver_notice(d);
}

/* Loop @l has no connection for a packet of this datagram; the other loops may
 * have one.  If all have one port, the ids of the packets say which. */
static void on_stranger(void *arg, struct tux_loop *l,
			const struct tux_dgram *d)
{
	const struct tux_driver *from = arg;
	struct tux_stack *s = from->stack;
	unsigned i, n = tux_loops_n(s);
	struct tux_dgram what = *d;
	uint32_t owners = UINT32_MAX, passed = 0;

	if (stack_answers(s, l, &d->from, d->p, d->len))
		return;
	if (n > 1 && s->link->one_port)
		owners = tux_core_owners(d->p, d->len);
	what.via = d->queue >= 0 ? number_of(from) : 0;
	for (i = 0; i < n; i++) {
		if (s->driver[i].loop == l || !(owners >> i & 1))
			continue;
		forward_to(&s->driver[i], &what);
		passed = 1;
	}
	l->passed += passed;
}

/* The first packet of the peer of @e came to loop @via: does @e go there? */
static struct tux_loop *on_moves(void *arg, const struct tux_end *e, unsigned via)
{
	struct tux_driver *to = &((struct tux_driver *)arg)->stack->driver[via - 1];
	const struct tux_stack_opts *o = &to->stack->o;

	return o->moves && o->moves(e->user, via) ? to->loop : NULL;
}

static void on_passed(void *arg, struct tux_loop *to)
{
	(void)arg;
	tux_driver_notice(to->o.arg);
}

/* The link cannot carry @e, or now it can. */
static void on_refused(void *arg, const struct tux_end *e, enum tux_reason why)
{
	struct tux_stack *s = ((struct tux_driver *)arg)->stack;
	struct tux_refused x = {
		.tuple = e->tuple, .active = e->active, .why = (uint8_t)why,
		.key = e->key,
	};

	if (why) {
		tux_refusals_add(&s->refusals, &x);
		atomic_store(&((struct tux_driver *)arg)->loop->hears, true);
	} else {
		tux_refusals_remove(&s->refusals, &x.tuple, x.active);
	}
}

/* ---- opening ---------------------------------------------------------- */

static int open_loop(struct tux_stack *s, struct tux_driver *d)
{
	bool reserved = d == &s->driver[0] && s->queue.fd >= 0;
	struct tux_loop_opts o = {
		.link = s->link,
		.held = reserved ? &s->held : NULL,
		.link_opts = {
			.ifname = s->o.ifname,
			.attach_start = s->o.attach_start,
			.yields = s->o.yields,
			.mixed = s->mixed,
			.zerocopy = s->o.zerocopy,
			.said = s->o.said,
			.queue = reserved ? &s->queue : NULL,
			.first = d == &s->driver[0] ? NULL :
				 s->driver[0].loop->link,
			.number = (unsigned)(d - s->driver),
			.port_low = s->announce.conf.low,
			.port_high = s->announce.conf.high,
		},
		.ends = &s->ends,
		.recall = s->recall,
		.number = (unsigned)(d - s->driver),
		.ack_delay = s->o.threads ? TUX_USEC(ACK_DEDICATED_US) :
			     TUX_USEC(ACK_INLINE_US),
		.cc = s->o.cc,
		.ready = s->o.ready,
		.decided = s->o.decided,
		.gone = s->o.gone,
		.returned = s->o.returned,
		.sleeps = s->o.sleeps,
		.recalled = s->o.recalled,
		.stranger = on_stranger,
		.refused = on_refused,
		.moves = on_moves,
		.passed = on_passed,
		.arg = d,
	};

	/* In a stack that reserved its queue, threads may wait with the driver
	 * already. */
	if (!reserved)
		tux_driver_init(d, s, s->o.threads > 0);
	return tux_loop_new(&d->loop, &o);
}

/* How many loops pick() may open.  With one port it is one loop: a packet may come to
 * a loop that no thread waits for, and wait for that loop's helper. */
static unsigned pick_max(const struct tux_stack *s)
{
	unsigned max = s->o.threads ? s->o.threads : s->o.loops;

	if (!max || s->link->one_port)
		return 1;
	return max < TUX_LOOPS_MAX ? max : TUX_LOOPS_MAX;
}

unsigned tux_loops_max(const struct tux_stack *s)
{
	unsigned n = TUX_LOOPS_MAX;

	if (s->link->one_port)
		n = s->link->loops_max(s->driver[0].loop->link);
	return n < TUX_LOOPS_MAX ? n : TUX_LOOPS_MAX;
}

static int open_next(struct tux_stack *s)
{
	unsigned n = tux_loops_n(s);
	int err = open_loop(s, &s->driver[n]);

	if (!err)
		atomic_store_explicit(&s->loop_n, n + 1, memory_order_release);
	return err;
}

/* Opens the descriptors of the first loop: its port can be announced from then
 * on, and a program that has no more of them can tell the peers that asked. */
static int reserve_first(struct tux_stack *s)
{
	const struct tux_mark_conf *c = &s->announce.conf;
	int err;

	tux_driver_init(&s->driver[0], s, false);
	err = tux_udp_queue_open(&s->queue, c->low, c->high);
	return err ? err : tux_loop_hold(&s->held);
}

int tux_loops_open(struct tux_stack *s)
{
	unsigned n = s->o.threads ? pick_max(s) : 1;
	int err = 0;

	if (!s->o.threads && !s->link->one_port && s->announce.shared)
		return reserve_first(s);
	while (!err && tux_loops_n(s) < n)
		err = open_next(s);
	return err;
}

unsigned tux_loops_n(const struct tux_stack *s)
{
	return atomic_load_explicit(&s->loop_n, memory_order_acquire);
}

uint16_t tux_loops_port(const struct tux_stack *s)
{
	return s->queue.fd >= 0 ? s->queue.port : s->driver[0].loop->link->port;
}

/* ---- choosing --------------------------------------------------------- */

unsigned tux_loops_pick(const uint32_t *ends, unsigned n, unsigned max)
{
	unsigned i, best = 0;

	for (i = 1; i < n; i++)
		if (ends[i] < ends[best])
			best = i;
	return !n || (ends[best] && n < max) ? n : best;
}

/* The loop for a connection, or for the first of a thread.  If a new one cannot
 * be opened, the first loop gets it, which may not be there either. */
static unsigned pick(struct tux_stack *s)
{
	uint32_t ends[TUX_LOOPS_MAX] = { 0 };
	unsigned i, n = tux_loops_n(s);

	for (i = 0; i < n; i++)
		ends[i] = atomic_load(&s->driver[i].loop->end_n);
	i = tux_loops_pick(ends, n, pick_max(s));
	return i == n && open_next(s) ? 0 : i;
}

static void count_end(const struct tux_driver *d)
{
	atomic_fetch_add(&d->loop->end_n, 1);
}

/* Counts at once: the next thread picks another loop.  Counted from 1; 0: there
 * is no loop. */
static unsigned pick_and_count(struct tux_stack *s)
{
	unsigned i;

	tux_latch_take(&s->loop_latch);
	i = pick(s) + 1;
	if (i <= tux_loops_n(s))
		count_end(&s->driver[i - 1]);
	else
		i = 0;
	tux_latch_drop(&s->loop_latch);
	return i;
}

/* @loop, or else the thread's home.  0: it has none.  Both may be of a stack that
 * this process had before it was forked, and so tell nothing. */
static unsigned loops_known(const struct tux_stack *s, unsigned loop)
{
	unsigned i = loop ? loop : home;

	return i <= tux_loops_n(s) ? i : 0;
}

/* Starts what runs @d when no thread waits.  The first loop hears for the
 * others. */
static bool loops_start(struct tux_stack *s, struct tux_driver *d)
{
	unsigned i, n = s->o.threads ? tux_loops_n(s) : 1;

	for (i = 0; i < n; i++)
		if (tux_driver_start(&s->driver[i]))
			return false;
	if (d != &s->driver[0])
		atomic_store(&s->driver[0].loop->hears, true);
	return !tux_driver_start(d);
}

struct tux_driver *tux_loops_first(struct tux_stack *s)
{
	bool there;

	tux_latch_take(&s->loop_latch);
	there = tux_loops_n(s) || !open_next(s);
	tux_latch_drop(&s->loop_latch);
	return there && !tux_driver_start(&s->driver[0]) ? &s->driver[0] : NULL;
}

/* The loop of @d receives from now on, also what is for others: its helper has to run
 * it even without connections, and at once, as others may wait for it. */
static void loop_joins(struct tux_driver *d)
{
	const struct tux_link_ops *ops = d->loop->link->ops;

	atomic_store(&d->loop->hears, true);
	ops->join(d->loop->link);
	tux_driver_notice(d);
}

/* Its number, counted from 1, or 0. */
static unsigned spare_loop(struct tux_stack *s)
{
	unsigned i, n = tux_loops_n(s);

	for (i = 0; i < n && !s->driver[i].spare; i++)
		;
	if (i == n)
		return 0;
	s->driver[i].spare = false;
	return i + 1;
}

/* Starts loop @n, which nobody runs yet; harmless if that was tried before. */
static struct tux_driver *loops_begin(struct tux_stack *s, unsigned n)
{
	struct tux_driver *d = &s->driver[n - 1];

	if (!loops_start(s, d)) {
		d->spare = true;
		return NULL;
	}
	if (s->link->one_port)
		loop_joins(d);
	/* The first loop receives for this one, too.  The thread that runs the first
	 * loop, or its helper, may be asleep. */
	tux_driver_notice(&s->driver[0]);
	return d;
}

struct tux_driver *tux_loops_add(struct tux_stack *s, unsigned max, unsigned *n)
{
	struct tux_driver *d = NULL;

	tux_latch_take(&s->loop_latch);
	*n = spare_loop(s);
	if (!*n && tux_loops_n(s) < max && !open_next(s))
		*n = tux_loops_n(s);
	if (*n)
		d = loops_begin(s, *n);
	tux_latch_drop(&s->loop_latch);
	return d;
}

void tux_loops_spare(struct tux_stack *s, unsigned n)
{
	tux_latch_take(&s->loop_latch);
	s->driver[n - 1].spare = true;
	tux_latch_drop(&s->loop_latch);
}

struct tux_driver *tux_loops_choose(struct tux_stack *s, unsigned loop)
{
	unsigned i = s->o.threads ? 0 : loops_known(s, loop);
	struct tux_driver *d;

	if (i)
		count_end(&s->driver[i - 1]);
	else
		i = home = pick_and_count(s);
	if (!i)
		return NULL;
	d = &s->driver[i - 1];
	if (loops_start(s, d))
		return d;
	atomic_fetch_sub(&d->loop->end_n, 1);
	return NULL;
}

bool tux_loops_away(const struct tux_stack *s, unsigned loop, tux_time now)
{
	unsigned first = 0, n = tux_loops_n(s), i;

	if (!s->o.threads) {
		n = loops_known(s, loop);
		first = n - 1;
	}
	for (i = first; i < n; i++)
		if (now >= atomic_load_explicit(&s->driver[i].loop->away_until,
						memory_order_relaxed))
			return false;
	return n;
}

struct tux_driver *tux_loops_run(struct tux_stack *s,
				 const struct tux_waiter *w)
{
	unsigned i = loops_known(s, w ? atomic_load_explicit(&w->loop,
						memory_order_relaxed) : 0);

	return &s->driver[i ? i - 1 : 0];
}
