/* SPDX-License-Identifier: BSD-2-Clause */
#include "listener.h"

#include <errno.h>
#include <netinet/in.h>

#include "fd.h"
#include "fork.h"
#include "iface.h"
#include "kind.h"
#include "libc.h"
#include "stack.h"
#include "sys/defer.h"

static int listener_get_int(int fd, int level, int name)
{
	int v = -1;
	socklen_t len = sizeof(v);

	return libc.getsockopt(fd, level, name, &v, &len) ? -1 : v;
}

static enum tux_reason listener_reach(struct sock *s, int fd)
{
	enum tux_reason why = iface_allows_listener(&s->local);
	struct tux_stack *stack;
	int r;

	if (why)
		return why;
	stack = stack_get();
	if (!stack)
		return TUX_REASON_NOT_STARTED;
	r = tux_stack_listen(stack, fd, &s->local, s->domain == AF_INET,
			     s->v6only);
	s->reachable = r == 0;
	return (enum tux_reason)-r;
}

static void listener_make(int fd, int domain)
{
	struct sock *s = sock_new(SOCK_LISTENER);

	if (!s)
		return;
	s->domain = domain;
	s->v6only = domain == AF_INET6 &&
		    listener_get_int(fd, IPPROTO_IPV6, IPV6_V6ONLY) == 1;
	if (iface_local(fd, &s->local) && fd_add(fd, s))
		s->why = (uint8_t)listener_reach(s, fd);
	sock_put(s);
}

void listener_add(int fd)
{
	int saved = errno;
	int domain;

	tux_defer_enter();
	if (!fd_peek(fd)) {
		domain = kind_domain(fd);
		if (domain >= 0)
			listener_make(fd, domain);
	}
	tux_defer_leave();
	errno = saved;
}

void listener_close(struct sock *s)
{
	tux_defer_enter();
	if (s->reachable && s->epoch == fork_epoch && preload_stack())
		tux_stack_unlisten(preload_stack(), &s->local);
	s->reachable = false;
	tux_defer_leave();
}

bool listener_yield_port(uint16_t port)
{
	bool some = false;

	for (int fd = 0; fd < fd_top(); fd++) {
		struct sock *s = sock_get(fd);

		if (!s)
			continue;
		if (s->reachable && s->local.port == port) {
			listener_close(s);
			s->why = TUX_REASON_PORT_TAKEN;
			some = true;
		}
		sock_put(s);
	}
	return some;
}

void listener_inherit(struct sock *l, int fd)
{
	l->epoch = fork_epoch;
	l->reachable = false;
	l->why = (uint8_t)listener_reach(l, fd);
	if (l->why == TUX_REASON_PORT_TAKEN)
		l->why = TUX_REASON_NOT_OWNER;
}
