/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One turn of the network thread: the loop, on its own stack, rings, epoll, and
 * a slice of callbacks, in routines.
 *
 * Where callbacks are preempted, slices are short, and the thread keeps the
 * loop. Where they are not, it leaves its loops to their helpers before each slice,
 * so that a long callback delays no acknowledgments and no timers.
 */
#include "api/turn.h"

#include <errno.h>

#include "api/closing.h"
#include "api/connect.h"
#include "api/connection.h"
#include "api/listen.h"
#include "api/request.h"
#include "api/ring.h"
#include "api/routine.h"
#include "api/threads.h"
#include "stack/driver.h"
#include "sys/clock.h"
#include "sys/sys.h"

enum {
	RINGS = 1024,			/* in one turn */
	EVENTS = 64,
	LOOK_IDLE_US = 20,		/* between two looks at epoll: idle, */
	LOOK_BUSY_US = 100,		/* and with work */
};

/* ---- taking and leaving the stack ---- */

int tux_api_begin(struct tux *t)
{
	uint32_t none = 0;
	struct tux *x;

	if (t->forked)
		return -EOWNERDEAD;
	/* A turn must not be preempted while it has the loop.  A call that a callback
	 * makes by tux_block() counts as the callback. */
	if (tux_sched_inside() || tux_sched_is_lent())
		return -EBUSY;
	if (!atomic_compare_exchange_strong(&t->run_by, &none, 1))
		return -EBUSY;
	for (x = t->next_run; x; x = x->next_run)
		atomic_store(&x->run_by, 1);
	tux_sched_back(t->sched);
	return 0;
}

void tux_api_release(struct tux *t)
{
	if (t->acquired)
		tux_driver_release(t->d, false);
	t->acquired = false;
}

void tux_api_release_all(struct tux *t)
{
	for (t = tux_api_runs(t); t; t = t->next_run)
		tux_api_release(t);
}

void tux_api_end(struct tux *t)
{
	tux_sched_drain(t->sched);
	for (; t; t = t->next_run) {
		tux_api_release(t);
		atomic_store(&t->run_by, 0);
	}
}

/* ---- a turn ---- */

/* While the helper has the loop, there is nothing to be done with it. */
static unsigned take_network(struct tux *t)
{
	unsigned n;

	if (t->l && !t->acquired)
		t->acquired = tux_driver_acquire(t->d);
	if (!t->acquired) {
		t->now = tux_clock_read();
		return 0;
	}
	t->in_turn = true;
	n = tux_loop_take(t->l);
	t->in_turn = false;
	t->now = t->l->now;
	return n;
}

/* The second half of the loop's turn: tux_loop_send(), or tux_loop_flush(). */
static unsigned end_network(struct tux *t, unsigned (*half)(struct tux_loop *l))
{
	unsigned n;

	if (!t->acquired)
		return 0;
	t->in_turn = true;
	n = half(t->l);
	t->in_turn = false;
	return n;
}

static unsigned turn_take_rings(struct tux *t)
{
	unsigned n = 0;
	uint32_t i;

	while (n < RINGS && tux_bell_take(t->w.bell, &i)) {
		if (i) {
			tux_api_rung(t, i);
		} else {
			atomic_store(&t->rung, 0);
			tux_api_start(t);
			tux_api_requests_do(t);
			tux_api_accept_given(t);
		}
		n++;
	}
	return n;
}

static uint32_t events_of(uint32_t epoll)
{
	uint32_t events = 0;

	if (epoll & (EPOLLIN | EPOLLRDHUP | EPOLLHUP))
		events |= TUX_EVENT_IN;
	if (epoll & EPOLLOUT)
		events |= TUX_EVENT_OUT;
	/* A reset ends both directions, too. */
	if (epoll & EPOLLRDHUP && !(epoll & EPOLLERR))
		events |= TUX_EVENT_FIN;
	if (epoll & EPOLLERR)
		events |= TUX_EVENT_BREAK | TUX_EVENT_IN;
	return events;
}

static void turn_on_event(struct tux *t, const struct epoll_event *e)
{
	struct tux_connection *c;

	if (e->data.u64 >= TUX_CONNECTIONS_MAX) {
		tux_api_accept(e->data.ptr);
		return;
	}
	if (!e->data.u64)		/* the ring, which each turn looks at */
		return;
	c = &t->at[e->data.u64];
	if (atomic_load(&c->t) != t)	/* it has gone meanwhile */
		return;
	if (atomic_load(&c->stage) == TUX_STAGE_CONNECTING && c->active &&
	    !atomic_load(&c->err))
		tux_api_connecting(c);
	/* One that closes waits for its messages: a reset ends the wait. */
	if (atomic_load(&c->stage) == TUX_STAGE_OPEN ||
	    atomic_load(&c->stage) == TUX_STAGE_CLOSING)
		tux_api_raise_here(c, events_of(e->events));
}

static bool turn_must_look(const struct tux *t, bool busy)
{
	tux_time since = tux_time_since(t->looked_at, t->now);

	return t->look || since >= (busy ? TUX_USEC(LOOK_BUSY_US) :
				    TUX_USEC(LOOK_IDLE_US));
}

static unsigned turn_take_events(struct tux *t)
{
	struct epoll_event e[EVENTS];
	int i, n = tux_sys_epoll_look(t->epfd, e, EVENTS);

	/* Where something came, more may. */
	t->look = n > 0;
	t->looked_at = t->now;
	for (i = 0; i < n; i++)
		turn_on_event(t, &e[i]);
	return n > 0 ? (unsigned)n : 0;
}

static void tend(struct tux *t)
{
	tux_api_expire(t);
	tux_api_unpause(t);
	if (!tux_list_empty(&t->dead))
		tux_api_bury(t);
}

/* Sends what the callbacks have written, before the loop takes in anything else.
 * @due: the second half of the loop's turn has not run yet. */
static unsigned send_answers(struct tux *t, bool due)
{
	tux_tick from;
	unsigned n;

	if (!t->l || (!due && tux_bell_quiet(t->l->bell)))
		return 0;
	if (!t->acquired)
		t->acquired = tux_driver_acquire(t->d);
	from = tux_tick_read();
	n = end_network(t, tux_loop_flush);
	t->network_spent += tux_tick_read() - from;
	return n;
}

/* Brief callbacks run before anything is sent: what they answer and the
 * acknowledgment of what they were asked share a datagram. */
static bool turn_is_brief(const struct tux *t)
{
	return t->acquired && tux_sched_preempts(t->sched) &&
	       tux_sched_is_brief(t->sched);
}

/* Tells hand_over.c, in whichever thread it looks, what the loop has taken of the
 * time. */
static void tell_spent(struct tux *t)
{
	atomic_store_explicit(&t->spent, t->network_spent +
			      tux_sched_stats(t->sched)->spent,
			      memory_order_relaxed);
	atomic_store_explicit(&t->slice_since, 0, memory_order_relaxed);
}

/* In a turn since @from. */
static void run_slice(struct tux *t, tux_tick from)
{
	if (!tux_sched_preempts(t->sched)) {
		tux_api_release_all(t);
		atomic_store_explicit(&t->slice_since, from,
				      memory_order_relaxed);
	}
	t->ready_n = tux_sched_run(t->sched);
}

unsigned tux_api_turn(struct tux *t)
{
	tux_tick from = tux_tick_read();
	unsigned n = take_network(t);
	bool brief;

	if (atomic_load_explicit(&t->exits, memory_order_relaxed))
		return n + end_network(t, tux_loop_send);
	n += turn_take_rings(t) + tux_api_ring_take(t);
	if (turn_must_look(t, n > 0))
		n += turn_take_events(t);
	tend(t);
	brief = turn_is_brief(t);
	if (!brief)
		n += end_network(t, tux_loop_send);
	if (n)
		t->network_spent += tux_tick_read() - from;
	run_slice(t, from);
	n += send_answers(t, brief);
	t->turns++;
	tell_spent(t);
	return n + t->ready_n;
}

bool tux_api_goes_on(struct tux *t, bool busy)
{
	if (!busy)
		return tux_spin_more(&t->spin, t->now);
	tux_spin_end(&t->spin, t->now);
	tux_spin_begin(&t->spin, t->now);
	return true;
}
