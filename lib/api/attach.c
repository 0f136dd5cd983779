/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Connections of sockets that the program has accepted or connected itself.
 *
 * The peer was told of Tux by the listener, or before connect(); see announce.c.
 * What the program has read and written before counts as carried by TCP, so that
 * both ends agree where in the stream the connection moves.
 */
#include "api/api_in.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "api/announce.h"
#include "api/connect.h"
#include "api/connection.h"
#include "api/host.h"
#include "api/threads.h"
#include "stack/stack_in.h"
#include "sys/carried.h"
#include "sys/sys.h"
#include "sys/tcp_only.h"

/* Options of a socket, in the kernel's numbers. */
enum { ULP_NAME = 16 };

/* May @fd be attached?  0, or -errno. */
static int attach_check(int fd)
{
	int proto = tux_api_option(fd, SOL_SOCKET, SO_PROTOCOL);

	if (proto < 0)
		return proto;
	if (proto != IPPROTO_TCP)
		return -EPROTONOSUPPORT;
	return tux_carried_open(fd) ? 0 : -ENOTCONN;
}

/* What TCP carries is what the program reads and writes, from where it is. */
static bool is_plain(int fd)
{
	char ulp[ULP_NAME] = "";
	socklen_t len = sizeof(ulp);

	return !tux_sys_getsockopt(fd, IPPROTO_TCP, TCP_ULP, ulp, &len) &&
	       !len && !tux_tcp_only_set(fd);
}

/* The stack closes the socket, and no program that is started has it then.  It
 * does not wait for that, and resets only on tux_abort(). */
static void make_ours(int fd)
{
	const struct linger none = { .l_onoff = 0 };

	tux_sys_fcntl(fd, F_SETFD, FD_CLOEXEC);
	tux_sys_setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
}

/* Without a key, only listeners that were announced hear the peer. */
static enum tux_reason why_not_announced(const struct tux *t)
{
	return t->stack && !tux_stack_keyed(t->stack) ?
	       TUX_REASON_NOT_ANNOUNCED : TUX_REASON_NONE;
}

/* What is known of a socket that was handed over. */
struct origin {
	bool active;
	struct tux_carried carried;	/* by TCP, before */
	enum tux_reason why;		/* it stays there */
};

static void find_origin(struct tux *t, int fd, struct origin *o)
{
	enum tux_reason why = why_not_announced(t);
	struct tux_addr local;
	int active = 0;

	if (tux_api_local(fd, &local) ||
	    !tux_api_announced(t, fd, &local, &why))
		active = tux_carried_active(fd);
	*o = (struct origin){ .active = active > 0 };
	if (!o->active)
		o->why = why;
	if (active < 0 || tux_carried_look(fd, o->active, &o->carried))
		o->why = TUX_REASON_PINNED;
	if (!is_plain(fd))
		o->why = TUX_REASON_SOCKOPT;
}

static int attach_socket(struct tux_service *s, int fd, void *user,
			 struct tux_connection **cp)
{
	struct tux *t = tux_api_loop_near(s);
	struct tux_connection *c;
	struct origin o;
	int err = attach_check(fd);

	if (err)
		return err;
	if (!t)
		return -EXDEV;
	find_origin(t, fd, &o);
	c = tux_api_new(t, s, fd, o.active);
	if (!c)
		return -ENOBUFS;
	t->connections_now++;
	c->user = user;
	c->told = true;
	tux_candidate_begin(&c->candidate, o.carried.sent, o.carried.received);
	atomic_store(&c->stream_tx, o.carried.sent);
	atomic_store(&c->stream_rx, o.carried.received);
	atomic_store(&c->why, o.why);
	err = tux_api_establish(c);
	if (err) {
		tux_api_forget(c);
		return err;
	}
	make_ours(fd);
	tux_api_unannounce(t, fd);
	if (cp)
		*cp = c;
	/* The application may be between turns. */
	tux_api_raise(c, TUX_EVENT_OPEN);
	return 0;
}

int tux_attach(struct tux_service *s, int fd, void *user,
	       struct tux_connection **cp)
{
	int err;

	tux_sched_enter();
	err = tux_api_closed(s);
	if (!err)
		err = attach_socket(s, fd, user, cp);
	tux_sched_leave();
	return err;
}
