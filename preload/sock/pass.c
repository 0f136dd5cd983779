/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/pass.h"

#include <errno.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/claim.h"
#include "sock/fd.h"
#include "sock/holders.h"
#include "sock/option.h"
#include "sock/path.h"
#include "sock/unclaim.h"
#include "sock/stage.h"
#include "sys/defer.h"

enum { RAW_S = 1 };		/* the peer's application must read to follow */

/* Afterwards nothing counts its bytes any more, and nothing needs to. */
bool pass_raw(struct sock *s, int fd, enum tux_reason why, tux_time for_ns)
{
	struct path_tcp t = { .fd = fd };
	struct tux_tcp tcp = path_tcp(&t);
	bool ok;

	ok = !tux_end_raw(s->end, &tcp, why, for_ns) &&
	     !tux_duplex_readable(s->dx);
	if (!ok)
		return false;
	option_give(s, fd);
	if (stage_try(s, SOCK_CLAIMED, SOCK_PLAIN))
		sock_ring(s);
	holders_set_plain(s->holders);
	return true;
}

static bool make_raw(struct sock *s, int fd, enum tux_reason why)
{
	bool ok;

	tux_defer_enter();
	ok = pass_raw(s, fd, why, TUX_SEC(RAW_S));
	tux_defer_leave();
	if (!ok)
		errno = EBUSY;
	return ok;
}

/* @s, reached by @fd, is claimed, or was.  False: it cannot be had back. */
static bool unclaim(struct sock *s, int fd, enum tux_reason why)
{
	if (s->epoch != process_here.epoch)
		return true;
	tux_defer_enter();
	if (stage_of(s) == SOCK_CLAIMED && unclaim_asked(s))
		unclaim_try(s, fd);
	tux_defer_leave();
	return stage_of(s) != SOCK_CLAIMED || make_raw(s, fd, why);
}

static bool may_move(const struct sock *s)
{
	enum sock_stage stage = stage_of(s);

	return s->epoch == process_here.epoch &&
	       (stage == SOCK_CANDIDATE || stage == SOCK_CLAIMING ||
		stage == SOCK_CLAIMED);
}

/* What is given back by the loop meanwhile is a candidate once more. */
bool pass_plain_for(int fd, enum tux_reason why)
{
	bool ok = true, again = true;

	while (ok && again) {
		struct sock *s;

		claim_stay(fd, why);
		s = sock_get(fd);
		if (!s)
			return true;
		ok = unclaim(s, fd, why);
		again = may_move(s);
		sock_put(s);
	}
	return ok;
}

void pass_reset(int fd)
{
	bool again = true;

	while (again) {
		struct sock *s;

		claim_stay(fd, TUX_REASON_CLOSED);
		s = sock_get(fd);
		if (!s)
			return;
		tux_defer_enter();
		unclaim_reset(s, fd);
		tux_defer_leave();
		again = may_move(s);
		sock_put(s);
	}
}

bool pass_plain(int fd)
{
	return pass_plain_for(fd, TUX_REASON_PINNED);
}

/* Descriptors that the new program will not see need no more than that their
 * bytes are sent. */
bool pass_exec(void)
{
	if (!preload_stack() || process_is_vfork())
		return true;
	for (int fd = 0; fd < fd_top(); fd++) {
		struct sock *s = fd_peek(fd);

		if (s && (s->stage == SOCK_CLAIMED || s->asleep) &&
		    !(libc.fcntl(fd, F_GETFD) & FD_CLOEXEC) &&
		    !pass_plain_for(fd, TUX_REASON_PASSED))
			return false;
	}
	tux_defer_enter();
	tux_channel_drain(preload_stack(), TUX_SEC(RAW_S));
	tux_defer_leave();
	return true;
}
