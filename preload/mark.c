/* SPDX-License-Identifier: BSD-2-Clause */
#include "mark.h"

#include <errno.h>
#include <netinet/in.h>

#include "claim.h"
#include "conf.h"
#include "fd.h"
#include "iface.h"
#include "kind.h"
#include "libc.h"
#include "listener.h"
#include "say.h"
#include "stack.h"
#include "young.h"

/* Does no connection that it opens announce Tux? */
static bool mark_never(void)
{
	return conf.io == TUX_IO_UDP || conf.path == TUX_PATH_MODE_TCP ||
	       claim_stopped();
}

static void mark(int fd)
{
	struct tux_stack *stack = mark_never() ? NULL : stack_get(NULL);

	if (stack)
		tux_stack_mark(stack, fd);
}

bool mark_connecting(int fd, const struct tux_addr *peer)
{
	int saved = errno;

	/* Not for the first time?  Then it has its mark, if it may have one. */
	if (fd_peek(fd) || kind_domain(fd) < 0 || iface_allows_peer(peer))
		return true;
	if (young_brief(peer))
		return false;
	mark(fd);
	errno = saved;
	return true;
}

static void mark_say_left(int fd, const struct tux_addr *peer)
{
	struct sock s = {
		.active = true, .fd = fd, .tuple.passive = *peer,
	};
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);

	if (!getsockname(fd, (void *)&sa, &len))
		iface_addr(&s.tuple.active, &sa);
	say_decided(&s, false, TUX_REASON_BRIEF, NULL);
}

void mark_left(int fd, const struct tux_addr *peer)
{
	int saved = errno;

	kind_leave(fd);
	if (say_verbose())
		mark_say_left(fd, peer);
	errno = saved;
}

static void mark_listener(int fd, const struct tux_addr *local)
{
	enum tux_reason why = claim_stopped() ? TUX_REASON_BYPASSED :
			      listener_forbids(local);
	struct tux_stack *stack = why ? NULL : stack_get(&why);

	if (stack)
		tux_stack_mark(stack, fd);
	else
		listener_refuse(fd, why);
}

void mark_listening(int fd)
{
	int saved = errno;
	struct tux_addr local;

	if (!fd_peek(fd) && kind_domain(fd) >= 0 && iface_local(fd, &local))
		mark_listener(fd, &local);
	errno = saved;
}
