/* SPDX-License-Identifier: BSD-2-Clause */
#include "family/rights.h"

#include <errno.h>
#include <string.h>

#include "ground/conf.h"
#include "ground/process.h"
#include "handshake/mark.h"
#include "sock/allow.h"
#include "sock/candidate.h"
#include "sock/claim.h"
#include "sock/close.h"
#include "sock/fd.h"
#include "sock/iface.h"
#include "sock/kind.h"
#include "sock/pass.h"
#include "sock/share.h"
#include "sock/sole.h"
#include "sock/stage.h"
#include "sys/defer.h"

/* ---- what a message carries ------------------------------------------- */

static bool rights_each(const struct msghdr *m, bool (*fn)(int fd))
{
	struct msghdr *h = (struct msghdr *)(uintptr_t)m;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t n = c->cmsg_len < CMSG_LEN(0) ? 0 :
			   (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (!fn(fd))
				return false;
		}
	}
	return true;
}

/* ---- sending ---------------------------------------------------------- */

/* @s has moved before its process sent it.  The next ones of its listener are
 * left to those that get them: they can move there, and this one cannot. */
static void rights_learn(struct sock *s)
{
	struct sock *l = s->listener;

	if (l && stage_of(s) == SOCK_CLAIMED)
		atomic_store(&l->sends, true);
}

/* The peer of an active end opens towards the port of this process: no other
 * process could claim it. */
static bool rights_lend(struct sock *s)
{
	bool held;

	/* Whoever gets it is one more that holds it, whose end nobody counts. */
	if (s->active) {
		if (s->holders)
			share_stay(s);
		return false;
	}
	tux_defer_enter();
	held = stage_hold(s);
	share_stay(s);
	if (held && s->asleep) {
		claim_refuse(s, TUX_REASON_PASSED);
	} else if (held) {
		s->why = TUX_REASON_PASSED;
		atomic_store(&s->passed, true);
		stage_try(s, SOCK_CLAIMING, SOCK_CANDIDATE);
	}
	tux_defer_leave();
	return held;
}

static bool rights_take_back(int fd)
{
	return pass_plain_for(fd, TUX_REASON_PASSED);
}

static bool rights_lend_fd(int fd)
{
	struct sock *s = sock_get(fd);
	bool ok;

	if (!s)
		return true;
	rights_learn(s);
	ok = rights_lend(s) || rights_take_back(fd);
	sock_put(s);
	return ok;
}

static bool rights_stop(int fd)
{
	(void)fd;
	return false;
}

bool rights_send(struct rights *r, const struct msghdr *m)
{
	if (rights_each(m, rights_stop))
		return true;		/* there are none */
	r->n++;
	sole_sending();
	return rights_each(m, rights_lend_fd);
}

void rights_sent(const struct rights *r)
{
	sole_sent(r->n);
}

bool rights_pin(const struct msghdr *m)
{
	return rights_each(m, rights_take_back);
}

/* ---- receiving -------------------------------------------------------- */

/* Why can no process that has received @fd claim it, if so? */
static enum tux_reason rights_forbid(struct sock *s, int fd)
{
	struct tux_mark_held h;
	int err = tux_mark_held(fd, &h);

	if (conf.path == TUX_PATH_MODE_TCP)
		return TUX_REASON_CHOSEN;
	if (err)
		return err == -ENOENT ? TUX_REASON_NOT_ANNOUNCED :
		       err == -ENOPROTOOPT ? TUX_REASON_NO_TUXD :
					     TUX_REASON_NOT_OWNER;
	s->active = h.active;
	return h.active || h.read || !candidate_begin(s, fd) ?
	       TUX_REASON_NOT_OWNER : TUX_REASON_NONE;
}

static void rights_take(int fd, int domain)
{
	struct sock *s = sock_new(SOCK_CANDIDATE);
	enum tux_reason why;

	if (!s)
		return;
	s->domain = domain;
	s->passed = true;
	why = rights_forbid(s, fd);
	if (fd_add(fd, s) && why && stage_hold(s))
		claim_refuse_at(s, fd, why);
	sock_put(s);
}

static bool rights_take_fd(int fd)
{
	struct tux_addr peer;
	int domain;

	close_fresh(fd);
	domain = allow_sandboxed() ? -1 : kind_domain(fd);
	if (domain >= 0 && iface_peer(fd, &peer))
		rights_take(fd, domain);
	return true;
}

void rights_received(const struct msghdr *m)
{
	int saved = errno;

	if (!CMSG_FIRSTHDR(m) || process_is_vfork())
		return;
	tux_defer_enter();
	rights_each(m, rights_take_fd);
	tux_defer_leave();
	errno = saved;
}
