/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/epoll_nest.h"

#include <errno.h>

#include "ground/libc.h"
#include "sys/defer.h"
#include "wait/epoll_item.h"
#include "wait/epoll_look.h"

enum { PEEKS = 16 };

static void nest_say(struct ep *ep)
{
	uint64_t one = 1;

	if (libc.write(ep->w.fd, &one, sizeof(one)) < 0)
		return;		/* it is full, and so readable */
}

static void hush(struct ep *ep)
{
	int saved = errno;
	uint64_t n;

	if (libc.read(ep->w.fd, &n, sizeof(n)) < 0)
		errno = saved;	/* it said nothing */
}

void nest_hush(struct ep *ep)
{
	if (!ep->joined)
		return;
	ep_lock(ep);
	if (!ep->leader)
		hush(ep);
	ep_unlock(ep);
}

static bool nest_show_one(struct ep *ep)
{
	bool any;

	hush(ep);
	look_drain(ep);
	any = look_any(ep);
	if (!any) {
		tux_bell_set_asleep(ep->w.bell, true);
		any = !tux_bell_quiet(ep->w.bell);
	}
	if (any)
		nest_say(ep);
	return any;
}

/* With a thread asleep in it, the one who rings writes the eventfd anyway. */
void nest_show(struct ep *ep)
{
	if (ep->joined && !ep->leader)
		nest_show_one(ep);
}

static bool nest_ctl(struct ep *ep, int op)
{
	struct epoll_event e = { .events = EPOLLIN };
	int saved = errno;
	bool done;

	e.data.u64 = tag_make(TAG_PRIVATE, ep->w.fd);
	done = !libc.epoll_ctl(atomic_load(&ep->fd), op, ep->w.fd, &e);
	errno = saved;
	return done;
}

bool nest_bell(struct ep *ep)
{
	if (!ep->belled)
		ep->belled = nest_ctl(ep, EPOLL_CTL_ADD);
	return ep->belled;
}

void nest_unbell(struct ep *ep)
{
	if (ep->belled && !ep->joined)
		ep->belled = !nest_ctl(ep, EPOLL_CTL_DEL);
}

void nest_join(struct ep *ep)
{
	if (!ep->nested || ep->joined || !ep->w.bell)
		return;
	ep->joined = nest_bell(ep);
	nest_show(ep);
}

void nest_end(struct ep *ep)
{
	ep->joined = false;
	nest_unbell(ep);
}

void nest_begin(struct ep *ep)
{
	ep_lock(ep);
	ep->nested = true;
	nest_join(ep);
	ep_unlock(ep);
}

bool nest_polled(int fd)
{
	struct ep *ep = ep_get(fd);
	bool plain;

	if (!ep)
		return false;
	tux_defer_enter();
	if (!ep->nested)
		nest_begin(ep);
	plain = ep_plain(ep);
	ep_put(ep);
	tux_defer_leave();
	return !plain;
}

/* What the kernel has told it will not tell again, unless it is made to.  What was
 * not for the application is no edge, and would be told for ever. */
static bool nest_peek_sock(struct ep *ep, struct item *it, uint32_t told)
{
	struct ready r;

	told = ready_told(it->sock, it->fd, told, &r) & look_wanted(it);
	if (it->events & EPOLLONESHOT)
		it->mask = 0;	/* it is disarmed; a sync arms it again */
	item_sync(ep, it, r.tcp, told && (it->events & EPOLLET));
	return told;
}

static bool nest_peek_one(struct ep *ep, struct item *it, uint32_t told)
{
	bool any = told;

	if (it->sock)
		return nest_peek_sock(ep, it, told);
	if (it->nest)
		any = nest_true(it->fd);
	nest_rearm(ep, it, any);
	return any;
}

bool nest_peek(struct ep *ep)
{
	struct pollfd p = { .fd = atomic_load(&ep->fd), .events = POLLIN };
	struct epoll_event evs[PEEKS];
	bool any;
	int k;

	/* Of what was left, no item says how to have it told again. */
	if (atomic_load(&ep->once))
		return libc.poll(&p, 1, 0) > 0;
	k = libc.epoll_wait(p.fd, evs, PEEKS, 0);
	any = k == PEEKS;
	for (int i = 0; i < k; i++) {
		struct item *it = item_by_tag(ep, evs[i].data.u64);

		any = any || !tag_is(evs[i].data.u64);
		any = (it && nest_peek_one(ep, it, evs[i].events)) || any;
	}
	return any;
}

void nest_rearm(struct ep *ep, struct item *it, bool told)
{
	if (it->events & EPOLLONESHOT || (told && it->events & EPOLLET))
		item_ctl(ep, EPOLL_CTL_MOD, it, it->events);
}

bool nest_true(int fd)
{
	struct ep *ep = ep_get(fd);
	bool any = true;

	if (!ep)
		return true;
	ep_lock(ep);
	if (ep->joined && !ep->leader)
		any = nest_show_one(ep) || nest_peek(ep);
	ep_unlock(ep);
	ep_put(ep);
	return any;
}
