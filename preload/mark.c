/* SPDX-License-Identifier: BSD-2-Clause */
#include "mark.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "conf.h"
#include "fd.h"
#include "iface.h"
#include "libc.h"
#include "stack.h"

static void mark(int fd)
{
	struct tux_stack *stack;
	int protocol = 0;
	socklen_t len = sizeof(protocol);

	if (libc.getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) ||
	    protocol != IPPROTO_TCP)
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

void mark_connecting(int fd, const struct sockaddr *addr, socklen_t len)
{
	struct sockaddr_storage sa = { 0 };
	int saved = errno;
	struct tux_addr peer;

	if (mark_known(fd) || !addr || len > sizeof(sa))
		return;
	memcpy(&sa, addr, len);
	if (iface_addr(&peer, &sa) && !iface_allows_peer(&peer))
		mark(fd);
	errno = saved;
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
