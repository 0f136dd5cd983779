/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/listener.h"

#include <errno.h>
#include <netinet/in.h>

#include "ground/conf.h"
#include "ground/libc.h"
#include "ground/process.h"
#include "handshake/mark.h"
#include "sock/allow.h"
#include "sock/fd.h"
#include "sock/iface.h"
#include "sock/kind.h"
#include "sock/stack.h"
#include "sys/clock.h"
#include "sys/defer.h"

enum { REFRESH_MS = 1000 };

static int listener_get_int(int fd, int level, int name)
{
	int v = -1;
	socklen_t len = sizeof(v);

	return libc.getsockopt(fd, level, name, &v, &len) ? -1 : v;
}

void listener_refuse(int fd, enum tux_reason why)
{
	struct tux_stack *stack = preload_stack();

	/* Its handshakes announce nothing. */
	if (conf.io == TUX_IO_UDP)
		return;
	if (stack)
		tux_stack_refuse(stack, fd, why);
	else
		tux_mark_refuse(fd, why);
}

static enum tux_reason listener_reach(struct sock *s, int fd)
{
	enum tux_reason why = allow_listener(&s->local);
	struct tux_stack *stack;
	int r;

	if (why)
		return why;
	stack = stack_get(&why);
	if (!stack)
		return why;
	r = tux_stack_listen(stack, fd, &s->local, s->domain == AF_INET,
			     s->v6only);
	s->reachable = r == 0;
	return (enum tux_reason)-r;
}

static void listener_make(int fd, int domain, bool told)
{
	struct sock *s = sock_new(SOCK_LISTENER);

	if (!s)
		return;
	s->domain = domain;
	if (told)
		atomic_store(&s->marked_at, tux_clock_read());
	s->v6only = domain == AF_INET6 &&
		    listener_get_int(fd, IPPROTO_IPV6, IPV6_V6ONLY) == 1;
	if (iface_local(fd, &s->local) && fd_add(fd, s))
		s->why = (uint8_t)listener_reach(s, fd);
	sock_put(s);
}

void listener_add(int fd, bool told)
{
	int saved = errno;
	int domain;

	tux_defer_enter();
	if (!fd_peek(fd) && !allow_sandboxed()) {
		domain = kind_domain(fd);
		if (domain >= 0)
			listener_make(fd, domain, told);
	}
	tux_defer_leave();
	errno = saved;
}

/* May this thread tell the peers now?  No more than once a second, one may. */
static bool refresh_due(struct sock *l)
{
	tux_time at = atomic_load_explicit(&l->marked_at, memory_order_relaxed);
	tux_time now = tux_clock_read();

	return now - at >= TUX_MSEC(REFRESH_MS) &&
	       atomic_compare_exchange_strong(&l->marked_at, &at, now);
}

void listener_refresh(struct sock *l, int fd)
{
	struct tux_stack *stack;

	if (!refresh_due(l))
		return;
	if (l->why == TUX_REASON_NO_PRIVILEGE ||
	    l->why == TUX_REASON_NOT_STARTED)
		l->why = (uint8_t)listener_reach(l, fd);
	stack = preload_stack();
	if (l->why)
		listener_refuse(fd, (enum tux_reason)l->why);
	else if (stack)
		tux_stack_mark(stack, fd);
}

struct yield {
	uint16_t port;
	bool some;			/* listeners had it */
};

static void listener_yield(struct sock *s, int fd, void *arg)
{
	struct yield *y = arg;

	(void)fd;
	if (!s->reachable || s->local.port != y->port)
		return;
	sock_unlisten(s);
	s->why = TUX_REASON_PORT_TAKEN;
	y->some = true;
}

bool listener_yield_port(uint16_t port)
{
	struct yield y = { .port = port };

	fd_each(listener_yield, &y);
	return y.some;
}

void listener_inherit(struct sock *l, int fd)
{
	l->epoch = process_here.epoch;
	l->reachable = false;
	l->why = (uint8_t)listener_reach(l, fd);
	if (l->why == TUX_REASON_PORT_TAKEN)
		l->why = TUX_REASON_NOT_OWNER;
}
