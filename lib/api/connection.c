/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections are entries of a table that is never unmapped before the stack
 * ends: what rings for one that is gone finds stale bytes there, but no hole.  All
 * loops of a stack have one table, so that a connection can go to another loop.
 */
#include "api/connection.h"

#include <errno.h>
#include <string.h>

#include <arpa/inet.h>

#include "api/say.h"
#include "api/users.h"
#include "api/wake.h"
#include "stack/post.h"
#include "sys/area.h"
#include "sys/clock.h"
#include "sys/sys.h"

/* ---- the table ---- */

int tux_api_table_init(struct tux *t)
{
	if (t != t->first) {
		t->at = t->first->at;
		return 0;
	}
	atomic_store(&t->used, 1);	/* 0 rings for the stack itself */
	return tux_area_map((void **)&t->at,
			    TUX_CONNECTIONS_MAX * sizeof(*t->at),
			    TUX_AREA_PRIVATE);
}

void tux_api_table_fini(struct tux *t)
{
	if (t == t->first)
		tux_area_unmap(t->at, TUX_CONNECTIONS_MAX * sizeof(*t->at));
}

struct tux_connection *tux_api_take(struct tux *t)
{
	struct tux *first = t->first;
	struct tux_connection *c;

	tux_latch_take(&first->table_latch);
	c = first->free;
	if (c)
		first->free = c->next_free;
	else if (first->used < TUX_CONNECTIONS_MAX)
		c = &first->at[first->used++];
	tux_latch_drop(&first->table_latch);
	return c;
}

static void put_back(struct tux *t, struct tux_connection *c)
{
	struct tux *first = t->first;

	atomic_store(&c->stage, TUX_STAGE_FREE);
	atomic_store(&c->t, NULL);
	tux_latch_take(&first->table_latch);
	c->next_free = first->free;
	first->free = c;
	tux_latch_drop(&first->table_latch);
}

static void connection_recycle(struct tux_connection *c)
{
	struct tux_service *s = c->s;

	tux_list_remove(&c->dead);
	if (c->end)
		tux_end_free(c->end);
	c->end = NULL;
	put_back(c->t, c);
	tux_api_service_leave(s);
}

void tux_api_forget(struct tux_connection *c)
{
	c->t->connections_now--;
	c->t->connections--;
	connection_recycle(c);
}

void tux_api_bury(struct tux *t)
{
	struct tux_list *n, *m;

	TUX_LIST_EACH_SAFE(n, m, &t->dead) {
		struct tux_connection *c =
			TUX_CONTAINER(n, struct tux_connection, dead);

		/* Its last callback may be on its way back. */
		if (tux_sched_cancel(t->sched, &c->task) &&
		    !atomic_load(&c->events))
			connection_recycle(c);
	}
}

/* ---- events ---- */

/* Nobody holds it, here or in the loop. */
static void check_dead(struct tux_connection *c)
{
	if (atomic_exchange(&c->events, 0) & TUX_EVENT_OVER)
		c->over = true;
	if (!c->over || atomic_load(&c->refs) || !tux_list_empty(&c->dead))
		return;
	/* One that broke while the program had it. */
	if (c->fd >= 0)
		tux_sys_close(c->fd);
	c->fd = -1;
	tux_list_push(&c->t->dead, &c->dead);
}

/* It may be with another loop, or nobody's: the thread that put the last reference may
 * ring after the others have forgotten the connection. */
void tux_api_rung(struct tux *t, uint32_t i)
{
	struct tux_connection *c = &t->at[i];
	struct tux *now = atomic_load(&c->t);

	if (now == t)
		tux_api_dispatch(c);
	else if (now)
		tux_waiter_ring(&now->w, i);
}

void tux_api_dispatch(struct tux_connection *c)
{
	uint8_t stage = atomic_load(&c->stage);

	if (stage == TUX_STAGE_GONE)
		check_dead(c);
	else
		tux_sched_put(c->t->sched, &c->task);
}

/* One that has gone to another loop meanwhile does not wait for the first to pass the ring
 * on. */
static void raise_at(struct tux_connection *c, struct tux *t,
		     struct tux_wakes *wakes)
{
	struct tux *now;

	tux_waiter_ring_later(&t->w, c->index, wakes);
	now = atomic_load(&c->t);
	if (now && now != t)
		tux_waiter_ring(&now->w, c->index);
}

/* @wakes: wakes the network thread at the end of the loop's turn; NULL: at once. */
static void raise_with(struct tux_connection *c, uint32_t events,
		       struct tux_wakes *wakes)
{
	struct tux *t = atomic_load(&c->t);

	/* The bell is the parent's, too. */
	if (!t || t->forked)
		return;
	if (!(atomic_fetch_or(&c->events, events | TUX_EVENT_QUEUED) &
	      TUX_EVENT_QUEUED))
		raise_at(c, t, wakes);
	tux_api_wake(c);
}

void tux_api_raise(struct tux_connection *c, uint32_t events)
{
	raise_with(c, events, NULL);
}

void tux_api_raise_here(struct tux_connection *c, uint32_t events)
{
	if (!(atomic_fetch_or(&c->events, events | TUX_EVENT_QUEUED) &
	      TUX_EVENT_QUEUED))
		tux_api_dispatch(c);
	tux_api_wake(c);
}

void tux_api_ring(struct tux *t)
{
	if (!atomic_exchange(&t->rung, 1))
		tux_waiter_ring(&t->w, 0);
}

/* The ring has bytes, and bytes below N are not read yet.  It is the loop that
 * sets N. */
static bool is_ahead_of_tcp(const struct tux_connection *c)
{
	return atomic_load(&c->dx->rx.state) == TUX_RX_ARMED &&
	       tux_pipe_head(&c->dx->rxp) > c->dx->rx.at;
}

/* Most of what the loop tells is that something of ours has arrived there. */
static bool worth_a_look(const struct tux_connection *c)
{
	unsigned can;

	/* What the loop has done is to be seen by those that begin to wait, or
	 * they here. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!tux_api_usable(c) || atomic_load(&c->wants) ||
	    atomic_load(&c->waits_n) ||
	    c->s->on_settled.fn || tux_post_any(c->end))
		return true;
	can = tux_duplex_poll(c->dx);
	if (can & (TUX_IS_ERR | TUX_IS_EOF))
		return true;
	if (tux_duplex_rx_turns(c->dx) != c->turns_told)
		return true;
	if (can & TUX_RX_ON_RING)
		return tux_pipe_head(&c->dx->rxp) > c->rx_told;
	return tux_duplex_readable(c->dx) || is_ahead_of_tcp(c);
}

void tux_api_ready(void *user, struct tux_wakes *wakes)
{
	struct tux_connection *c = user;

	/* The helper's turn, or that of a stack beside this one. */
	if (!c->t->in_turn)
		raise_with(c, TUX_EVENT_READY, wakes);
	else if (worth_a_look(c))
		tux_api_raise_here(c, TUX_EVENT_READY);
}

void tux_api_over(void *user)
{
	struct tux_connection *c = user;

	if (c->t->in_turn)
		tux_api_raise_here(c, TUX_EVENT_OVER);
	else
		tux_api_raise(c, TUX_EVENT_OVER);
}

void tux_api_decided(void *user, bool tux, enum tux_reason why)
{
	struct tux_connection *c = user;
	bool was;

	if (atomic_load(&c->closed))
		return;
	if (c->active)
		tux_history_decided(&c->t->history, &c->tuple.passive, tux, why,
				    tux_clock_read());
	was = atomic_exchange(&c->tux, tux);
	atomic_store(&c->why, why);
	if (tux && !was) {
		atomic_fetch_add(&c->t->on_tux_now, 1);
		atomic_fetch_add(&c->t->on_tux, 1);
	} else if (was && !tux) {
		atomic_fetch_sub(&c->t->on_tux_now, 1);
	}
	if (!tux)
		tux_api_say_reason(c->t, why);
}

void tux_again(struct tux_connection *c)
{
	tux_sched_enter();
	if (tux_api_usable(c))
		tux_api_raise(c, TUX_EVENT_AGAIN);
	tux_sched_leave();
}

/* ---- references ---- */

void tux_get(struct tux_connection *c)
{
	atomic_fetch_add(&c->refs, 1);
}

void tux_put(struct tux_connection *c)
{
	tux_sched_enter();
	if (atomic_fetch_sub(&c->refs, 1) == 1)
		tux_api_raise(c, TUX_EVENT_PUT);
	tux_sched_leave();
}

/* ---- TCP ---- */

static struct msghdr connection_header(const struct iovec *iov, int n)
{
	return (struct msghdr){ .msg_iov = (void *)(uintptr_t)iov,
				.msg_iovlen = (size_t)n };
}

static ssize_t connection_tcp_send(void *arg, const struct iovec *iov, int n)
{
	const struct tux_connection *c = arg;
	struct msghdr m = connection_header(iov, n);

	return TUX_SYS(SYS_sendmsg, c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL, 0,
		       0, 0);
}

static ssize_t connection_tcp_recv(void *arg, const struct iovec *iov, int n,
				   bool peek)
{
	const struct tux_connection *c = arg;
	struct msghdr m = connection_header(iov, n);

	return TUX_SYS(SYS_recvmsg, c->fd, &m,
		       MSG_DONTWAIT | (peek ? MSG_PEEK : 0), 0, 0, 0);
}

struct tux_tcp tux_api_tcp(struct tux_connection *c)
{
	return (struct tux_tcp){ connection_tcp_send, connection_tcp_recv, c };
}

/* ---- what it is ---- */

void *tux_user(const struct tux_connection *c)
{
	return c->user;
}

void tux_set_user(struct tux_connection *c, void *user)
{
	c->user = user;
}

struct tux_service *tux_service_of(const struct tux_connection *c)
{
	return c->s;
}

struct tux *tux_of(const struct tux_connection *c)
{
	return c->t->first;
}

int tux_socket(const struct tux_connection *c)
{
	uint8_t stage = atomic_load(&c->stage);

	return stage == TUX_STAGE_CONNECTING || stage == TUX_STAGE_OPEN ?
	       c->fd : -ENOTCONN;
}

int tux_peer(const struct tux_connection *c, char *host, size_t n,
	     uint16_t *port)
{
	const struct tux_addr *a = c->active ? &c->tuple.passive :
				   &c->tuple.active;
	bool v4 = tux_addr_is_v4(a);

	if (port)
		*port = a->port;
	if (!host)
		return 0;
	return inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? a->ip + 12 : a->ip, host,
			 (socklen_t)n) ? 0 : -ENOSPC;
}
