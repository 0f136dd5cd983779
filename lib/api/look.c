/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Statistics. What the core counts belongs to the thread that runs its loop, so
 * the caller takes the loop while it copies that.
 */
#include "api/api_in.h"

#include <errno.h>
#include <string.h>

#include "api/request.h"
#include "api/threads.h"
#include "api/users.h"
#include "stack/driver.h"
#include "stack/post.h"

enum { TRIES = 1000 };		/* to take a loop that another stack runs */

/* As much as the caller knows of. */
static int stats_copy(void *to, size_t size, const void *from, size_t len)
{
	if (size < sizeof(uint64_t) || size % sizeof(uint64_t))
		return -EINVAL;
	memset(to, 0, size);
	memcpy(to, from, size < len ? size : len);
	return 0;
}

/* Takes the loop, *@took, if the network thread has not got it: the helper keeps
 * it for no longer than a turn.  False: another stack's thread keeps it. */
static bool stats_get_on(const struct tux *t, bool *took)
{
	unsigned tries = TRIES;

	*took = false;
	if (!t->d || t->acquired)
		return true;
	while (!tux_driver_acquire(t->d))
		if (!t->l && !--tries)
			return false;
	*took = true;
	return true;
}

static void stats_get_off(const struct tux *t, bool took)
{
	if (took)
		tux_driver_release(t->d, false);
}

/* ---- a connection ---- */

static uint64_t stats_load(const _Atomic uint64_t *n)
{
	return atomic_load_explicit(n, memory_order_relaxed);
}

static void look_at_end(const struct tux_connection *c,
			struct tux_connection_stats *st)
{
	const struct tux_end *e = c->end;
	const struct tux_conn_stats *s = tux_end_stats(e);

	if (atomic_load(&c->dx->tx.state) >= TUX_TX_SWITCHED)
		st->tcp_tx = s->tcp_tx;
	if (atomic_load(&c->dx->rx.state) >= TUX_RX_SWITCHED)
		st->tcp_rx = s->tcp_rx;
	st->frame_tx = s->frame_tx;
	st->frame_rx = s->frame_rx;
	st->tux_tx = s->tux_tx;
	st->tux_rx = s->tux_rx;
	st->message_tx = s->msg_tx;
	st->message_rx = s->msg_rx;
	st->messages_tx = s->msgs_tx;
	st->messages_rx = s->msgs_rx;
	st->packets_tx = s->pkts_tx;
	st->packets_rx = s->pkts_rx;
	st->lost = s->lost;
	st->resent = s->resent;
	st->timeouts = s->timeouts;
	st->backs = s->backs;
	st->tx_on_tux = e->conn && tux_conn_tx_on_tux(e->conn);
	st->rx_on_tux = e->conn && tux_conn_rx_on_tux(e->conn);
	st->messages = c->messages && !atomic_load(&e->box->err);
}

static enum tux_reason stats_reason(const struct tux_connection *c)
{
	enum tux_reason why = (enum tux_reason)atomic_load(&c->why);

	return c->is_candidate ?
	       tux_candidate_why(&c->candidate, c->active, why) : why;
}

unsigned tux_reason(const struct tux_connection *c)
{
	return stats_reason(c);
}

static void look_at_grounds(const struct tux_connection *c,
			    struct tux_connection_stats *st)
{
	const struct tux_grounds g = c->end ? tux_end_grounds(c->end) :
				     tux_candidate_grounds(&c->candidate);

	st->turns = g.turns;
	st->burst_tx = g.sent;
	st->burst_rx = g.received;
	st->burst_max = g.limit;
	st->tux_rate = g.tux_rate;
	st->tcp_rate = g.tcp_rate;
}

struct connection_look {
	const struct tux_connection *c;
	const struct tux *t;		/* which runs the loop of the connection */
	struct tux_connection_stats now;
	bool got;
	bool moves;			/* to another loop: look there */
};

/* On the connection's own thread. */
static void look_at_connection(void *arg)
{
	struct connection_look *x = arg;
	const struct tux_connection *c = x->c;

	x->now = (struct tux_connection_stats){
		.tcp_tx = stats_load(&c->stream_tx),
		.tcp_rx = stats_load(&c->stream_rx),
		.failed = stats_load(&c->failed),
		.reason = stats_reason(c),
	};
}

/* If the loop has none of the network, that is the first one, or one of a stack beside
 * it. */
static const struct tux *loop_with_end(const struct tux_connection *c)
{
	const struct tux *t = c->t;

	return t->l || t->first->d != t->d ? t : t->first;
}

/* The connection may go to another loop meanwhile, and its end follows a moment later:
 * the end is its loop's, until that has given it away. */
static void look_at_loop_of(void *arg)
{
	struct connection_look *x = arg;
	struct tux_end *e = x->c->end;
	bool took;

	x->moves = loop_with_end(x->c) != x->t;
	if (x->moves)
		return;
	x->got = stats_get_on(x->t, &took);
	x->moves = x->got && e && atomic_load(&e->loop) != x->t->d->loop;
	if (x->got && e && !x->moves)
		look_at_end(x->c, &x->now);
	if (x->got && !x->moves)
		look_at_grounds(x->c, &x->now);
	stats_get_off(x->t, took);
}

int tux_connection_stats(const struct tux_connection *c,
			 struct tux_connection_stats *st, size_t size)
{
	struct connection_look x = { .c = c };

	if (c->t->forked)
		return -EOWNERDEAD;
	tux_api_do(c->t, look_at_connection, &x);
	do {
		x.t = loop_with_end(c);
		tux_api_do((struct tux *)x.t, look_at_loop_of, &x);
	} while (x.moves);
	return x.got ? stats_copy(st, size, &x.now, sizeof(x.now)) : -EAGAIN;
}

/* ---- a loop ---- */

static void look_at_core(const struct tux *t, struct tux_loop_stats *st)
{
	const struct tux_core_stats *s = tux_core_stats(t->l->core);

	st->datagrams_rx = s->datagrams_rx;
	st->datagrams_tx = s->datagrams_tx;
	st->packets_rx = s->packets_rx;
	st->packets_tx = s->packets_tx;
	st->datagrams_passed = t->l->passed;
}

static uint64_t stats_slice(const struct tux *t)
{
	if (!tux_sched_preempts(t->sched))
		return 0;
	return t->o.slice_ns ? t->o.slice_ns : TUX_USEC(TUX_SLICE_US);
}

struct loop_look {
	const struct tux *t;
	struct tux_loop_stats now;
};

static void look_at_loop(void *arg)
{
	struct loop_look *x = arg;
	const struct tux *t = x->t;
	const struct tux_sched_stats *s = tux_sched_stats(t->sched);
	bool took;

	x->now = (struct tux_loop_stats){
		.turns = t->turns, .sleeps = t->sleeps,
		.callbacks = t->callbacks, .messages = t->messages,
		.routines = s->routines_ever, .routines_now = s->routines,
		.routines_most = s->routines_most, .switches = s->slices,
		.preemptions = s->preemptions, .yields = s->yields,
		.blocked = s->sleeps + s->blocks + s->blocking,
		.block_calls = s->blocking, .file_calls = t->file_calls,
		.slice_ns = stats_slice(t),
		.network_ns = tux_tick_ns(t->network_spent),
		.slices_ns = tux_tick_ns(s->spent),
	};
	if (t->l && stats_get_on(t, &took)) {
		look_at_core(t, &x->now);
		stats_get_off(t, took);
	}
}

int tux_loop_stats(const struct tux *t, unsigned i, struct tux_loop_stats *st,
		   size_t size)
{
	struct loop_look x;
	struct tux *loop;

	if (t->forked)
		return -EOWNERDEAD;
	if (i >= tux_api_loops(t))
		return -EINVAL;
	loop = tux_api_loop((struct tux *)t, i);
	x.t = loop;
	tux_api_do(loop, look_at_loop, &x);
	return stats_copy(st, size, &x.now, sizeof(x.now));
}

/* ---- the stack ---- */

static uint64_t services_now(struct tux *t)
{
	struct tux_list *n;
	uint64_t now = 0;

	tux_api_services_enter(t);
	TUX_LIST_EACH(n, &t->services)
		now += !atomic_load(&TUX_CONTAINER(n, struct tux_service,
						   node)->freed);
	tux_api_services_leave(t);
	return now;
}

static void stats_add(struct tux_stats *all, const struct tux *t)
{
	all->listeners += atomic_load(&t->listener_n);
	all->connections_now += atomic_load(&t->connections_now);
	all->connections += atomic_load(&t->connections);
	all->on_tux_now += atomic_load(&t->on_tux_now);
	all->on_tux += atomic_load(&t->on_tux);
	all->refused += atomic_load(&t->refused);
	all->connections_moved += atomic_load(&t->came);
}

int tux_stats(const struct tux *t, struct tux_stats *st, size_t size)
{
	struct tux *first = (struct tux *)t;
	struct tux_stats now = {
		.loops = tux_api_loops(t), .backend = t->o.backend,
	};
	unsigned i;

	if (t->forked)
		return -EOWNERDEAD;
	now.threads = t->threads ? atomic_load(&t->threads->running) : 1;
	now.moved = t->threads ? atomic_load(&t->threads->moved) : 0;
	now.services = services_now(first);
	for (i = 0; i < now.loops; i++)
		stats_add(&now, tux_api_loop(first, i));
	return stats_copy(st, size, &now, sizeof(now));
}
