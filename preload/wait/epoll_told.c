/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/epoll_told.h"

#include <errno.h>

#include "sock/allow.h"
#include "sock/claim.h"
#include "sys/defer.h"
#include "wait/epoll_item.h"
#include "wait/epoll_kick.h"
#include "wait/epoll_nest.h"

/* The kernel's edge may be the marker's, or that of frames which are not for
 * the application. Then the room that it reports besides is no edge. */
static bool no_edge(const struct item *it, uint32_t told, uint32_t mine)
{
	if (!(it->events & EPOLLET))
		return false;
	return !mine || ((told & READY_BYTES) && !(mine & ~(uint32_t)READY_OUT) &&
			 !edge_wrote(&it->edge, it->sock));
}

/* What the kernel and the rings tell @it together. */
static uint32_t both_tell(struct ep *ep, struct item *it, uint32_t told)
{
	struct ready r;
	uint32_t mine = ready_told(it->sock, it->fd, told, &r) &
			look_wanted(it);
	uint32_t got = (mine | r.now) & look_wanted(it);

	if (no_edge(it, told, mine))
		got = look_rings_tell(it, &r);
	if (it->events & EPOLLONESHOT)
		it->mask = 0;	/* it is disarmed; a sync arms it again */
	if (got && (it->events & EPOLLONESHOT))
		look_spend(ep, it, true);
	item_sync(ep, it, r.tcp, false);
	if (r.now & look_wanted(it))
		item_poke(ep, it);	/* maybe it moved this very moment */
	return got;
}

/* The instance inside has nothing that is for the application. */
static uint32_t told_nothing(struct ep *ep, struct item *it)
{
	nest_rearm(ep, it, false);
	return 0;
}

static void told_one(struct look *l, struct epoll_event e)
{
	struct item *it = item_by_tag(l->ep, e.data.u64);
	uint32_t got = e.events;

	if (!tag_is(e.data.u64))
		l->evs[l->n++] = e;	/* a foreign registration */
	else if (!it)
		kick_told(l->ep, e.data.u64);
	if (!it)
		return;
	if (it->sock)
		got = both_tell(l->ep, it, got);
	else if (it->nest && !nest_true(it->fd))
		got = told_nothing(l->ep, it);
	else if (it->events & EPOLLONESHOT)
		it->spent = true;
	if (got)
		look_report(l, it, got);
}

/* A socket that was connecting when it came here may be claimed now; that
 * takes the latch itself. */
static void told_claim(const struct epoll_event *evs, int k)
{
	for (int i = 0; i < k; i++) {
		uint64_t tag = evs[i].data.u64;
		int fd = tag_is(tag) ? tag_fd(tag) : -1;
		struct sock *s = fd_peek(fd);

		if (!s || atomic_load(&s->stage) != SOCK_CANDIDATE)
			continue;
		s = sock_claimed(fd);
		if (s)
			sock_put(s);
	}
}

/* How many of @k events carry no tag. */
static int told_untagged(const struct epoll_event *evs, int k)
{
	int n = 0;

	for (int i = 0; i < k; i++)
		n += !tag_is(evs[i].data.u64);
	return n;
}

/* Which socket a foreign event is of, only the program knows.  Beside sockets
 * of which the kernel has the program's data, it cannot be told from theirs. */
static void told_foreign(const struct ep *ep)
{
	if (!atomic_load(&ep->own) && !allow_stopped())
		claim_stop(TUX_REASON_BYPASSED);
}

/* The latch of l->ep is held.  What is written is never ahead of what is
 * read. */
static void told_take_all(struct look *l, const struct epoll_event *evs,
			       int k)
{
	look_begin(l);
	for (int i = 0; i < k; i++)
		told_one(l, evs[i]);
}

void told_take(struct look *l, int k)
{
	struct epoll_event *evs = l->evs + l->n;
	int untagged = told_untagged(evs, k);

	if (untagged)
		told_foreign(l->ep);
	if (untagged == k) {
		l->n += k;
		return;
	}
	told_claim(evs, k);
	ep_lock(l->ep);
	told_take_all(l, evs, k);
	ep_unlock(l->ep);
}

/* The kernel told these before it had the program's data of all of them: those
 * that it had.  -EINTR: none. */
static int told_keep(struct epoll_event *evs, int k)
{
	int n = 0;

	for (int i = 0; i < k; i++)
		if (!tag_is(evs[i].data.u64))
			evs[n++] = evs[i];
	return n ? n : -EINTR;
}

int told_direct(int fd, struct epoll_event *evs, int k)
{
	struct look l = { .fd = fd, .evs = evs };
	int untagged = told_untagged(evs, k);

	if (untagged && (l.ep = ep_peek(fd)))
		told_foreign(l.ep);
	if (untagged == k)
		return k;
	tux_defer_enter();
	told_claim(evs, k);
	l.ep = ep_lock_fd(fd);
	if (l.ep) {
		told_take_all(&l, evs, k);
		ep_unlock(l.ep);
	}
	tux_defer_leave();
	if (!l.ep && allow_sandboxed())
		return told_keep(evs, k);
	return l.ep ? l.n : -EBADF;
}
