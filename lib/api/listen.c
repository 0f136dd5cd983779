/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listeners: TCP's, and beside each the stack's, for openings.
 */
#include "api/listen.h"

#include <errno.h>
#include <stdlib.h>

#include "api/announce.h"
#include "api/connect.h"
#include "api/connection.h"
#include "api/host.h"
#include "api/request.h"
#include "api/say.h"
#include "api/threads.h"
#include "api/users.h"
#include "sys/name.h"
#include "sys/sys.h"
#include "sys/take.h"

enum {
	BACKLOG = 4096,
	ACCEPTS = 64,		/* in one turn */
	PAUSE_MS = 100,
};

/* ---- listening ---- */

static int listen_watch(struct tux_listener *l)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = l };

	return tux_sys_epoll_ctl(l->s->t->epfd, EPOLL_CTL_ADD, l->a.fd, &e);
}

static int listen_begin(struct tux_service *s, struct tux_listener *l)
{
	int err;

	tux_api_mark(s->t, &l->a);
	if (tux_api_option(l->a.fd, SOL_SOCKET, SO_ACCEPTCONN) <= 0) {
		err = tux_sys_listen(l->a.fd, BACKLOG);
		if (err)
			return err;
	}
	err = tux_api_reach(s->t, &l->a);
	if (!err)
		err = listen_watch(l);
	if (err) {
		tux_api_unreach(s->t, &l->a);
		return err;
	}
	s->port = l->a.local.port;
	s->t->listener_n++;
	tux_list_push(&s->listeners, &l->node);
	return 0;
}

static int listen_add(struct tux_service *s, struct tux_listener *l, int fd)
{
	l->s = s;
	l->a.fd = fd;
	tux_list_init(&l->pause);
	return listen_begin(s, l);
}

/* ---- the calls ---- */

static int bound(int family, const struct tux_addr *a, bool both)
{
	int fd = tux_api_socket(family), one = 1, zero = 0, err;
	union tux_name n;
	socklen_t len = tux_name_put(&n, a, family);

	if (fd < 0)
		return fd;
	tux_sys_setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (family == AF_INET6)
		tux_sys_setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY,
				   both ? &zero : &one, sizeof(one));
	err = tux_sys_bind(fd, &n, len);
	if (!err)
		return fd;
	tux_sys_close(fd);
	return err;
}

struct listening {
	struct tux_service *s;
	struct tux_listener *l;
	const char *host;
	uint16_t port;
	bool adopts;			/* fd, instead of host and port */
	int fd;
	int err;
};

static int listen_at(const struct listening *x)
{
	struct tux_addr a;
	int family, err, fd;
	bool any;

	err = tux_api_host(x->host, x->port, &a, &family);
	if (err)
		return err;
	any = family == AF_INET6 && tux_addr_same_ip(&a, &(struct tux_addr){
							.port = 0 });
	fd = bound(family, &a, any);
	/* A kernel without IPv6 has any address of IPv4. */
	if (any && (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL))
		fd = bound(AF_INET, &a, false);
	if (fd < 0)
		return fd;
	err = listen_add(x->s, x->l, fd);
	if (err)
		tux_sys_close(fd);
	return err;
}

static int listen_adopt(const struct listening *x)
{
	int proto = tux_api_option(x->fd, SOL_SOCKET, SO_PROTOCOL), flags;

	if (proto < 0)
		return proto;
	if (proto != IPPROTO_TCP)
		return -EPROTONOSUPPORT;
	flags = tux_sys_fcntl(x->fd, F_GETFL, 0);
	if (flags >= 0)
		tux_sys_fcntl(x->fd, F_SETFL, flags | O_NONBLOCK);
	return listen_add(x->s, x->l, x->fd);
}

/* On the first loop, where the service may have been freed meanwhile. */
static void listen_do(void *arg)
{
	struct listening *x = arg;

	x->err = tux_api_closed(x->s);
	if (!x->err)
		x->err = x->adopts ? listen_adopt(x) : listen_at(x);
}

static int listen_call(struct listening *x)
{
	int err = tux_api_closed(x->s);

	if (err)
		return err;
	x->l = calloc(1, sizeof(*x->l));
	if (!x->l)
		return -ENOMEM;
	tux_api_do(x->s->t, listen_do, x);
	if (x->err)
		free(x->l);
	return x->err;
}

int tux_listen(struct tux_service *s, const char *host, uint16_t port)
{
	return listen_call(&(struct listening){
		.s = s, .host = host, .port = port });
}

int tux_listen_fd(struct tux_service *s, int fd)
{
	return listen_call(&(struct listening){
		.s = s, .adopts = true, .fd = fd });
}

static void remove_listener(struct tux_listener *l, struct tux_list *removed)
{
	struct tux *t = l->s->t;

	tux_list_remove(&l->node);
	tux_list_push(removed, &l->node);
	tux_list_remove(&l->pause);
	t->listener_n--;
	tux_api_unreach(t, &l->a);
	tux_sys_epoll_ctl(t->epfd, EPOLL_CTL_DEL, l->a.fd, NULL);
	tux_sys_close(l->a.fd);
}

void tux_api_unlisten(struct tux_service *s, struct tux_list *removed)
{
	struct tux_list *n, *m;

	TUX_LIST_EACH_SAFE(n, m, &s->listeners)
		remove_listener(TUX_CONTAINER(n, struct tux_listener, node),
				removed);
}

void tux_api_listeners_free(struct tux_list *removed)
{
	struct tux_list *n, *m;

	TUX_LIST_EACH_SAFE(n, m, removed)
		free(TUX_CONTAINER(n, struct tux_listener, node));
}

void tux_api_unlisten_forked(struct tux_service *s)
{
	struct tux_list *n;

	TUX_LIST_EACH(n, &s->listeners)
		tux_sys_close(TUX_CONTAINER(n, struct tux_listener,
					   node)->a.fd);
}

/* ---- accepting ---- */

/* Level-triggered, it would wake us for nothing until there is a descriptor. */
static void pause_it(struct tux_listener *l, int err)
{
	struct tux *t = l->s->t;

	t->refused++;
	if (!tux_list_empty(&l->pause))
		return;
	if (!t->paused_said)
		tux_api_say(t, "cannot accept", err);
	t->paused_said = true;
	tux_sys_epoll_ctl(t->epfd, EPOLL_CTL_DEL, l->a.fd, NULL);
	tux_list_push(&t->paused, &l->pause);
	t->paused_until = t->now + TUX_MSEC(PAUSE_MS);
}

void tux_api_unpause(struct tux *t)
{
	struct tux_list *n, *m;

	if (tux_list_empty(&t->paused) || t->now < t->paused_until)
		return;
	t->paused_until = t->now + TUX_MSEC(PAUSE_MS);
	TUX_LIST_EACH_SAFE(n, m, &t->paused)
		if (!listen_watch(TUX_CONTAINER(n, struct tux_listener, pause)))
			tux_list_remove(n);
}

/* @g becomes a connection of loop @t, which has counted it. */
static int accept_as_connection(struct tux *t, const struct tux_given *g)
{
	struct tux_connection *c = tux_api_new(t, g->s, g->fd, false);
	int err;

	if (!c) {
		t->connections_now--;
		return -ENOBUFS;
	}
	atomic_store(&c->why, g->why);
	c->roams = !g->s->serial;
	err = tux_api_establish(c);
	if (err)
		tux_api_forget(c);
	else
		tux_api_raise_here(c, TUX_EVENT_OPEN);
	return err;
}

/* -EAGAIN: @t has been given as many as it can hold, and has not looked. */
static int give(struct tux *t, const struct tux_given *g)
{
	int err = -EAGAIN;

	tux_latch_take(&t->given_latch);
	if (t->given_n < TUX_GIVEN) {
		t->given[t->given_n] = *g;
		/* Another thread may fork at any moment. */
		atomic_signal_fence(memory_order_release);
		t->given_n++;
		err = 0;
	}
	tux_latch_drop(&t->given_latch);
	if (!err)
		tux_api_ring(t);
	return err;
}

static int accept_for_one(struct tux *t, const struct tux_given *g)
{
	struct tux *to = tux_api_loop_least(g->s);

	to->connections_now++;
	if (to == t)
		return accept_as_connection(t, g);
	tux_api_service_use(g->s);
	if (!give(to, g))
		return 0;
	tux_api_service_leave(g->s);
	to->connections_now--;
	t->connections_now++;
	return accept_as_connection(t, g);
}

static int accept_one(struct tux_listener *l)
{
	struct tux_given g = { .s = l->s, .why = l->a.why };
	int err;

	g.fd = tux_sys_accept(l->a.fd);
	if (g.fd < 0)
		return g.fd;
	err = accept_for_one(l->s->t, &g);
	if (err)
		tux_sys_close(g.fd);
	else
		l->s->t->paused_said = false;
	return err;
}

static bool take_given(struct tux *t, struct tux_given *g)
{
	bool any;

	tux_latch_take(&t->given_latch);
	any = t->given_n;
	if (any)
		*g = t->given[--t->given_n];
	tux_latch_drop(&t->given_latch);
	return any;
}

static bool is_lasting(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOBUFS ||
	       err == -ENOMEM || err == -ENOSPC;
}

/* The peer may have reset it, or its service was freed. */
static int begin_given(struct tux *t, const struct tux_given *g)
{
	int err = tux_api_closed(g->s);

	if (!err)
		return accept_as_connection(t, g);
	t->connections_now--;
	return err;
}

static void given_failed(struct tux *t, int err)
{
	if (!is_lasting(err))
		return;
	t->refused++;
	if (!t->paused_said)
		tux_api_say(t, "cannot accept", err);
	t->paused_said = true;
}

void tux_api_accept_given(struct tux *t)
{
	struct tux_given g;
	int err;

	while (take_given(t, &g)) {
		err = begin_given(t, &g);
		if (err)
			tux_sys_close(g.fd);
		given_failed(t, err);
		tux_api_service_leave(g.s);
	}
}

void tux_api_close_given(struct tux *t)
{
	struct tux_given g;

	while (take_given(t, &g))
		tux_sys_close(g.fd);
}

void tux_api_accept(struct tux_listener *l)
{
	struct tux *t = l->s->t;
	unsigned i;
	int err;

	tux_api_remark(t, &l->a);
	for (i = 0; i < ACCEPTS; i++) {
		err = accept_one(l);
		if (err == -EAGAIN)
			return;
		if (is_lasting(err)) {
			pause_it(l, err);
			return;
		}
	}
}
