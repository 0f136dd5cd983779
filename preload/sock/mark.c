/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/mark.h"

#include <errno.h>

#include "ground/conf.h"
#include "ground/libc.h"
#include "sock/allow.h"
#include "sock/candidate.h"
#include "sock/claim.h"
#include "sock/fd.h"
#include "sock/iface.h"
#include "sock/kind.h"
#include "sock/listener.h"
#include "sock/stack.h"

enum tux_reason mark_connecting(int fd, const struct tux_addr *peer)
{
	int saved = errno;
	enum tux_reason why;
	struct tux_stack *stack;

	if (allow_sandboxed())
		return TUX_REASON_SANDBOXED;
	/* Not for the first time?  Then it has its mark, if it may have one. */
	if (fd_peek(fd) || kind_domain(fd) < 0)
		return TUX_REASON_NONE;
	why = allow_peer(peer);
	if (!why && candidate_brief(peer))
		why = TUX_REASON_BRIEF;
	/* Over plain UDP, nothing is announced. */
	if (why || conf.io == TUX_IO_UDP)
		return why;
	stack = stack_get(&why);
	if (stack)
		tux_stack_mark(stack, fd);
	errno = saved;
	return why;
}

static void mark_listener(int fd, const struct tux_addr *local)
{
	enum tux_reason why = allow_listener(local);
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

	if (!allow_sandboxed() && !fd_peek(fd) && kind_domain(fd) >= 0 &&
	    iface_local(fd, &local))
		mark_listener(fd, &local);
	errno = saved;
}
