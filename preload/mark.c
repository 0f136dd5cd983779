/* SPDX-License-Identifier: BSD-2-Clause */
#include "mark.h"

#include <errno.h>
#include <netinet/in.h>

#include "conf.h"
#include "fd.h"
#include "iface.h"
#include "kind.h"
#include "libc.h"
#include "stack.h"
#include "young.h"

static void mark(int fd)
{
	struct tux_stack *stack;

	if (kind_domain(fd) < 0)
		return;
	stack = stack_get();
	if (stack)
		tux_stack_mark(stack, fd);
}

/* Is it not for the first time?  Then it has its mark, if it may have one. */
static bool mark_known(int fd)
{
	return conf.io == TUX_IO_UDP || conf.path == TUX_PATH_MODE_TCP ||
	       fd_peek(fd);
}

bool mark_connecting(int fd, const struct tux_addr *peer)
{
	int saved = errno;

	if (mark_known(fd) || iface_allows_peer(peer))
		return true;
	if (young_brief(peer))
		return false;
	mark(fd);
	errno = saved;
	return true;
}

void mark_listening(int fd)
{
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);
	int saved = errno;
	struct tux_addr local;

	if (!mark_known(fd) && !getsockname(fd, (void *)&sa, &len) &&
	    iface_addr(&local, &sa) && !iface_allows_listener(&local))
		mark(fd);
	errno = saved;
}
