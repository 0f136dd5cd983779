/* SPDX-License-Identifier: BSD-2-Clause */
#include "mark.h"

#include <errno.h>

#include "candidate.h"
#include "claim.h"
#include "conf.h"
#include "fd.h"
#include "iface.h"
#include "kind.h"
#include "libc.h"
#include "listener.h"
#include "stack.h"

/* Why will no connection to @peer move, if so? */
static enum tux_reason mark_forbids(const struct tux_addr *peer)
{
	if (conf.path == TUX_PATH_MODE_TCP)
		return TUX_REASON_CHOSEN;
	if (claim_stopped())
		return TUX_REASON_BYPASSED;
	if (iface_allows_peer(peer))
		return iface_allows_peer(peer);
	return candidate_brief(peer) ? TUX_REASON_BRIEF : TUX_REASON_NONE;
}

enum tux_reason mark_connecting(int fd, const struct tux_addr *peer)
{
	int saved = errno;
	enum tux_reason why;
	struct tux_stack *stack;

	/* Not for the first time?  Then it has its mark, if it may have one. */
	if (fd_peek(fd) || kind_domain(fd) < 0)
		return TUX_REASON_NONE;
	why = mark_forbids(peer);
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
