/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How connections begin.
 */
#include "api/connect.h"

#include <errno.h>
#include <string.h>

#include "api/claim.h"
#include "api/connection.h"
#include "api/deliver.h"
#include "api/host.h"
#include "api/threads.h"
#include "api/users.h"
#include "sys/name.h"
#include "sys/sys.h"

/* ---- a fresh one ---- */

struct tux_connection *tux_api_new(struct tux *t, struct tux_service *s, int fd,
				   bool active)
{
	struct tux_connection *c = tux_api_take(t);

	if (!c)
		return NULL;
	memset(&c->task, 0, sizeof(*c) - offsetof(struct tux_connection, task));
	tux_strand_init(&c->strand);
	tux_task_init(&c->task, s->serial ? &s->strand : &c->strand,
		      tux_api_run);
	c->s = s;
	c->index = (uint32_t)(c - t->at);
	c->fd = fd;
	c->active = active;
	c->told = active;
	tux_list_init(&c->waits);
	tux_list_init(&c->closing);
	tux_list_init(&c->dead);
	atomic_store(&c->refs, 1);
	atomic_store(&c->stage, TUX_STAGE_CONNECTING);
	atomic_store(&c->t, t);
	/* A thread that has put the last reference of the entry's connection before may
	 * have raised its event only now. */
	atomic_store(&c->events, 0);
	tux_api_service_use(s);
	t->connections++;
	return c;
}

/* ---- established ---- */

static int connect_look_up(struct tux_connection *c)
{
	struct tux_addr local, peer;
	int err = tux_api_local(c->fd, &local);

	if (!err)
		err = tux_api_peer(c->fd, &peer);
	if (err)
		return err;
	c->tuple.active = c->active ? local : peer;
	c->tuple.passive = c->active ? peer : local;
	return 0;
}

int tux_api_watch_tcp(struct tux_connection *c)
{
	struct epoll_event e = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.u64 = c->index,
	};

	return tux_sys_epoll_ctl(c->t->epfd, EPOLL_CTL_ADD, c->fd, &e);
}

static void connect_open(struct tux_connection *c)
{
	tux_api_claim_begin(c);
	atomic_store(&c->stage, TUX_STAGE_OPEN);
}

int tux_api_establish(struct tux_connection *c)
{
	int err = connect_look_up(c);

	if (!err)
		err = tux_api_watch_tcp(c);
	if (!err)
		connect_open(c);
	return err;
}

/* ---- connecting ---- */

static int connect_tcp_error(const struct tux_connection *c)
{
	int err = 0;
	socklen_t len = sizeof(err);

	tux_sys_getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &len);
	return -err;
}

static int connect_finish(struct tux_connection *c)
{
	int err = connect_tcp_error(c);

	if (!err)
		err = connect_look_up(c);
	if (!err)
		connect_open(c);
	/* The peer has reset it since then. */
	return err == -ENOTCONN ? connect_tcp_error(c) : err;
}

void tux_api_connecting(struct tux_connection *c)
{
	int err = connect_finish(c);

	if (err)
		atomic_store(&c->err, (uint32_t)-err);
	tux_api_raise_here(c, err ? TUX_EVENT_END : TUX_EVENT_OPEN);
}

static int connect_begin(struct tux_service *s, const struct tux_addr *to,
			 int family, int fd)
{
	union tux_name n;
	socklen_t len = tux_name_put(&n, to, family);
	int err;

	if (s->t->stack)
		tux_stack_mark(s->t->stack, fd);
	err = tux_sys_connect(fd, &n, len);
	return err == -EINPROGRESS ? 0 : err;
}

static int connect_add(struct tux_service *s, int fd, const struct tux_addr *to,
		       void *user, struct tux_connection **cp)
{
	struct tux *t = tux_api_loop_near(s);
	struct tux_connection *c = tux_api_new(t, s, fd, true);
	int err;

	if (!c)
		return -ENOBUFS;
	t->connections_now++;
	c->user = user;
	c->tuple.passive = *to;
	err = tux_api_watch_tcp(c);
	if (err) {
		tux_api_forget(c);
		return err;
	}
	if (cp)
		*cp = c;
	return 0;
}

static int connect_to(struct tux_service *s, const char *host, uint16_t port,
		      void *user, struct tux_connection **cp)
{
	struct tux_addr to;
	int family, fd, err = tux_api_host(host, port, &to, &family);

	if (err || !host)
		return -EINVAL;
	fd = tux_api_socket(family);
	if (fd < 0)
		return fd;
	err = connect_begin(s, &to, family, fd);
	if (!err)
		err = connect_add(s, fd, &to, user, cp);
	if (err)
		tux_sys_close(fd);
	return err;
}

int tux_connect(struct tux_service *s, const char *host, uint16_t port,
		void *user, struct tux_connection **cp)
{
	int err;

	tux_sched_enter();
	err = tux_api_closed(s);
	if (!err && !tux_api_loop_near(s))
		err = -EXDEV;
	if (!err)
		err = connect_to(s, host, port, user, cp);
	tux_sched_leave();
	return err;
}
