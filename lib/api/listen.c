/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Listeners: TCP's, and beside each the stack's, for openings.
 */
#include "api/listen.h"

#include <errno.h>
#include <stdlib.h>

#include "api/connect.h"
#include "api/connection.h"
#include "api/host.h"
#include "api/say.h"
#include "link/mark.h"
#include "sys/clock.h"
#include "sys/name.h"
#include "sys/sys.h"

enum {
	BACKLOG = 4096,
	ACCEPTS = 64,		/* in one turn */
	PAUSE_MS = 100,
	MARK_MS = 1000,
};

/* ---- listening ---- */

static bool v6only(int fd)
{
	int v = 0;
	socklen_t len = sizeof(v);

	return tux_sys_getsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v, &len) >= 0 &&
	       v;
}

static int listen_get_int(int fd, int level, int name)
{
	int v = 0;
	socklen_t len = sizeof(v);
	int err = tux_sys_getsockopt(fd, level, name, &v, &len);

	return err < 0 ? err : v;
}

/* Tells the peers of @l how it is with its connections. */
static void listen_mark(struct tux *t, struct tux_listener *l)
{
	enum tux_reason why = t->stack ? (enum tux_reason)l->why :
					 (enum tux_reason)t->tcp_why;

	l->marked_at = t->now;
	if (!t->stack)
		tux_mark_refuse(l->fd, why);
	else if (why)
		tux_stack_refuse(t->stack, l->fd, why);
	else
		tux_stack_mark(t->stack, l->fd);
}

static void listen_make_reachable(struct tux *t, struct tux_listener *l)
{
	bool v4 = listen_get_int(l->fd, SOL_SOCKET, SO_DOMAIN) == AF_INET;
	int r;

	if (!t->stack)
		return;
	r = tux_stack_listen(t->stack, l->fd, &l->local, v4, v6only(l->fd));
	l->reachable = !r;
	l->why = (uint8_t)-r;
	if (r)
		tux_api_say_reason(t, l->why);
}

static int listen_watch(struct tux_listener *l)
{
	struct epoll_event e = { .events = EPOLLIN, .data.ptr = l };

	return tux_sys_epoll_ctl(l->s->t->epfd, EPOLL_CTL_ADD, l->fd, &e);
}

static int listen_begin(struct tux_service *s, struct tux_listener *l)
{
	int err;

	listen_mark(s->t, l);
	if (listen_get_int(l->fd, SOL_SOCKET, SO_ACCEPTCONN) <= 0) {
		err = tux_sys_listen(l->fd, BACKLOG);
		if (err)
			return err;
	}
	err = tux_api_local(l->fd, &l->local);
	if (!err)
		err = listen_watch(l);
	if (err)
		return err;
	listen_make_reachable(s->t, l);
	s->port = l->local.port;
	s->t->listener_n++;
	tux_list_push(&s->listeners, &l->node);
	return 0;
}

static int listen_add(struct tux_service *s, int fd)
{
	struct tux_listener *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->s = s;
	l->fd = fd;
	tux_list_init(&l->pause);
	err = listen_begin(s, l);
	if (err)
		free(l);
	return err;
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

static int listen_at(struct tux_service *s, const char *host, uint16_t port)
{
	struct tux_addr a;
	int family, err, fd;
	bool any;

	err = tux_api_host(host, port, &a, &family);
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
	err = listen_add(s, fd);
	if (err)
		tux_sys_close(fd);
	return err;
}

int tux_listen(struct tux_service *s, const char *host, uint16_t port)
{
	int err = tux_api_closed(s);

	if (err)
		return err;
	tux_sched_enter();
	err = listen_at(s, host, port);
	tux_sched_leave();
	return err;
}

static int listen_adopt(struct tux_service *s, int fd)
{
	int proto = listen_get_int(fd, SOL_SOCKET, SO_PROTOCOL), flags;

	if (proto < 0)
		return proto;
	if (proto != IPPROTO_TCP)
		return -EPROTONOSUPPORT;
	flags = tux_sys_fcntl(fd, F_GETFL, 0);
	if (flags >= 0)
		tux_sys_fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	return listen_add(s, fd);
}

int tux_listen_fd(struct tux_service *s, int fd)
{
	int err = tux_api_closed(s);

	if (err)
		return err;
	tux_sched_enter();
	err = listen_adopt(s, fd);
	tux_sched_leave();
	return err;
}

static void remove_listener(struct tux_listener *l)
{
	struct tux *t = l->s->t;

	tux_list_remove(&l->node);
	tux_list_remove(&l->pause);
	t->listener_n--;
	if (l->reachable)
		tux_stack_unlisten(t->stack, &l->local);
	tux_sys_epoll_ctl(t->epfd, EPOLL_CTL_DEL, l->fd, NULL);
	tux_sys_close(l->fd);
	free(l);
}

void tux_api_unlisten(struct tux_service *s)
{
	struct tux_list *n, *m;

	TUX_LIST_EACH_SAFE(n, m, &s->listeners)
		remove_listener(TUX_CONTAINER(n, struct tux_listener, node));
}

void tux_api_unlisten_forked(struct tux_service *s)
{
	struct tux_list *n;

	TUX_LIST_EACH(n, &s->listeners)
		tux_sys_close(TUX_CONTAINER(n, struct tux_listener, node)->fd);
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
	tux_sys_epoll_ctl(t->epfd, EPOLL_CTL_DEL, l->fd, NULL);
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

static int accept_as_connection(struct tux_listener *l, int fd)
{
	struct tux_connection *c = tux_api_new(l->s, fd, false);
	int err;

	if (!c)
		return -ENOBUFS;
	atomic_store(&c->why, l->why);
	err = tux_api_establish(c);
	if (err)
		tux_api_forget(c);
	return err;
}

static int accept_one(struct tux_listener *l)
{
	int err, fd = tux_sys_accept(l->fd);

	if (fd < 0)
		return fd;
	err = accept_as_connection(l, fd);
	if (err)
		tux_sys_close(fd);
	else
		l->s->t->paused_said = false;
	return err;
}

static bool is_lasting(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOBUFS ||
	       err == -ENOMEM || err == -ENOSPC;
}

void tux_api_accept(struct tux_listener *l)
{
	struct tux *t = l->s->t;
	unsigned i;
	int err;

	/* tuxd's programs may be others than before, or be there now. */
	if (t->now - l->marked_at >= TUX_MSEC(MARK_MS))
		listen_mark(t, l);
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
