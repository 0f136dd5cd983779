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
#include "api/say.h"
#include "sys/name.h"
#include "sys/sys.h"

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

static int listen_add(struct tux_service *s, int fd)
{
	struct tux_listener *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->s = s;
	l->a.fd = fd;
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
	int proto = tux_api_option(fd, SOL_SOCKET, SO_PROTOCOL), flags;

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
	tux_api_unreach(t, &l->a);
	tux_sys_epoll_ctl(t->epfd, EPOLL_CTL_DEL, l->a.fd, NULL);
	tux_sys_close(l->a.fd);
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

static int accept_as_connection(struct tux_listener *l, int fd)
{
	struct tux_connection *c = tux_api_new(l->s, fd, false);
	int err;

	if (!c)
		return -ENOBUFS;
	atomic_store(&c->why, l->a.why);
	err = tux_api_establish(c);
	if (err)
		tux_api_forget(c);
	else
		tux_api_raise_here(c, TUX_EVENT_OPEN);
	return err;
}

static int accept_one(struct tux_listener *l)
{
	int err, fd = tux_sys_accept(l->a.fd);

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
