/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one epoll_wait() reports.  An item that both the kernel and the rings
 * report takes one place.
 */
#include "epoll.h"

#include <errno.h>

#include "claim.h"
#include "libc.h"
#include "seat.h"
#include "sys/defer.h"
#include "sys/fd.h"
#include "wait.h"

enum { PEEKS = 16 };

/* ---- one item --------------------------------------------------------- */

static void look_begin(struct look *l)
{
	struct ep *ep = l->ep;

	if (l->seq)
		return;
	if (++ep->seq == 0)
		ep->seq = 1;
	l->seq = ep->seq;
}

static void report(struct look *l, struct item *it, uint32_t got)
{
	if (it->sock && (it->events & EPOLLET))
		edge_told(&it->edge, it->sock, got);
	if (it->seq == l->seq) {
		l->evs[it->slot].events |= got;
		return;
	}
	it->seq = l->seq;
	it->slot = l->n++;
	l->evs[it->slot].events = got;
	l->evs[it->slot].data = it->data;
}

/* EPOLLONESHOT: silent until the next MOD.  The kernel's item is so by itself
 * if it was the kernel that reported (@by_kernel). */
static void spend(struct ep *ep, struct item *it, bool by_kernel)
{
	it->spent = true;
	it->mask = 0;
	if (!by_kernel && it->kernel) {
		item_ctl(ep, EPOLL_CTL_DEL, it, 0);
		it->kernel = false;
	}
}

static uint32_t look_wanted(const struct item *it)
{
	return it->spent ? 0 : it->events | READY_ALWAYS;
}

/* What the rings tell @it, by its level or by its edge. */
static uint32_t rings_tell(struct item *it, const struct ready *r)
{
	uint32_t now = r->now & look_wanted(it);
	uint32_t end = r->now & EPOLLRDHUP;	/* is to be read, too */
	bool again = it->again;

	if (!(it->events & EPOLLET))
		return now;
	it->again = false;
	if (!edge_new(&it->edge, it->sock, it->events, now | end) && !again)
		return 0;
	return now;
}

static uint32_t look_at_item(struct ep *ep, struct item *it)
{
	bool plain = ready_plain(it->sock);
	struct ready r = ready_of(it->sock);
	uint32_t got = rings_tell(it, &r);

	item_sync(ep, it, r.tcp, (it->events & EPOLLET) &&
				 edge_hidden(&it->edge, it->sock));
	if (plain)
		item_detach(ep, it);
	return plain ? 0 : got;
}

/* ---- what the rings say ----------------------------------------------- */

void look_drain(struct ep *ep)
{
	uint32_t fd;

	if (!ep->w.bell)
		return;
	while (tux_bell_take(ep->w.bell, &fd)) {
		struct item *it = item_find(ep, (int)fd);

		atomic_store(&it->queued, 0);
		if (it->used && it->sock && tux_list_empty(&it->ready))
			tux_list_push(&ep->ready, &it->ready);
	}
}

/* One direction of it is on TCP, and somebody asks for that. */
static bool half_told(const struct item *it)
{
	return it->kernel && (it->events & it->tcp & (READY_IN | READY_OUT));
}

/* What TCP says besides, of @it, which is told once only. */
static uint32_t half_tells(const struct item *it)
{
	struct pollfd p = {
		.fd = it->fd,
		.events = (short)(it->events & it->tcp & (READY_IN | READY_OUT)),
	};
	struct ready r;

	if (!half_told(it) || libc.poll(&p, 1, 0) <= 0)
		return 0;
	return ready_told(it->sock, it->fd, (uint16_t)p.revents, &r) &
	       look_wanted(it);
}

/* Level-triggered ones go back to the tail, behind @end; what has not been
 * looked at for want of room stays at the head. */
static void take_ready(struct look *l, struct tux_list *end, int max)
{
	struct ep *ep = l->ep;

	while (ep->ready.next != end && l->n < max) {
		struct item *it = TUX_CONTAINER(ep->ready.next, struct item,
						ready);
		uint32_t got = look_at_item(ep, it);

		tux_list_remove(&it->ready);
		if (!got)
			continue;
		if (it->events & EPOLLONESHOT)
			got |= half_tells(it);
		report(l, it, got);
		l->half = l->half || half_told(it);
		if (it->events & EPOLLONESHOT)
			spend(ep, it, false);
		else if (!(it->events & EPOLLET))
			tux_list_push(&ep->ready, &it->ready);
	}
}

void look_rings(struct look *l, int max)
{
	struct ep *ep = l->ep;
	struct tux_list end;

	ep_lock(ep);
	look_begin(l);
	look_drain(ep);
	tux_list_push(&ep->ready, &end);
	take_ready(l, &end, max);
	tux_list_remove(&end);
	ep_unlock(ep);
}

bool look_any(struct ep *ep)
{
	struct tux_list *n, *m;

	TUX_LIST_EACH_SAFE(n, m, &ep->ready) {
		struct item *it = TUX_CONTAINER(n, struct item, ready);

		if (look_at_item(ep, it)) {
			it->again = true;	/* it is not told yet */
			return true;
		}
		tux_list_remove(n);
	}
	return false;
}

bool look_finds(struct ep *ep)
{
	bool any;

	ep_lock(ep);
	look_drain(ep);
	any = look_any(ep);
	ep_unlock(ep);
	return any;
}

/* ---- what the kernel says --------------------------------------------- */

/* Was it the eventfd of ep_kick()?  By now, threads have left the kernel's
 * epoll_wait(), or had a while to. */
static void kicked(struct ep *ep, uint64_t tag)
{
	struct epoll_event e = { 0 };

	if (ep->kick < 0 || tag != tag_make(TAG_PRIVATE, ep->kick))
		return;
	if (seat_count(ep) && wait_now() < ep->kick_until)
		return;
	libc.epoll_ctl(atomic_load(&ep->fd), EPOLL_CTL_DEL, ep->kick, &e);
	tux_fd_close(ep->kick);
	ep->kick = -1;
}

/* The kernel's edge may be the marker's, or that of frames which are not for
 * the application. Then the room that it reports besides is no edge. */
static bool no_edge(const struct item *it, uint32_t told, uint32_t mine)
{
	if (!(it->events & EPOLLET))
		return false;
	return !mine || ((told & EPOLLIN) && !(mine & ~(uint32_t)READY_OUT) &&
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
		got = rings_tell(it, &r);
	if (it->events & EPOLLONESHOT)
		it->mask = 0;	/* it is disarmed; a sync arms it again */
	if (got && (it->events & EPOLLONESHOT))
		spend(ep, it, true);
	item_sync(ep, it, r.tcp, false);
	if (r.now & look_wanted(it))
		item_poke(ep, it);	/* maybe it moved this very moment */
	return got;
}

static void translate(struct look *l, struct epoll_event e)
{
	struct item *it = item_by_tag(l->ep, e.data.u64);
	uint32_t got = e.events;

	if (!tag_is(e.data.u64))
		l->evs[l->n++] = e;	/* a foreign registration */
	else if (!it)
		kicked(l->ep, e.data.u64);
	if (!it)
		return;
	if (it->sock)
		got = both_tell(l->ep, it, got);
	else if (it->nest && !nest_true(it->fd))
		got = 0;
	else if (it->events & EPOLLONESHOT)
		it->spent = true;
	if (got)
		report(l, it, got);
}

/* A socket that was connecting when it came here may be claimed now; that
 * takes the latch itself. */
static void look_claim(const struct epoll_event *evs, int k)
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
static int look_untagged(const struct epoll_event *evs, int k)
{
	int n = 0;

	for (int i = 0; i < k; i++)
		n += !tag_is(evs[i].data.u64);
	return n;
}

/* Which socket a foreign event is of, only the program knows.  Beside sockets
 * of which the kernel has the program's data, it cannot be told from theirs. */
static void look_foreign(const struct ep *ep)
{
	if (!atomic_load(&ep->own) && !claim_stopped())
		claim_stop();
}

/* The latch of l->ep is held.  What is written is never ahead of what is
 * read. */
static void look_translate_all(struct look *l, const struct epoll_event *evs,
			       int k)
{
	look_begin(l);
	for (int i = 0; i < k; i++)
		translate(l, evs[i]);
}

void look_translate(struct look *l, int k)
{
	struct epoll_event *evs = l->evs + l->n;
	int untagged = look_untagged(evs, k);

	if (untagged)
		look_foreign(l->ep);
	if (untagged == k) {
		l->n += k;
		return;
	}
	look_claim(evs, k);
	ep_lock(l->ep);
	look_translate_all(l, evs, k);
	ep_unlock(l->ep);
}

int look_direct(int fd, struct epoll_event *evs, int k)
{
	struct look l = { .fd = fd, .evs = evs };
	int untagged = look_untagged(evs, k);

	if (untagged && (l.ep = ep_peek(fd)))
		look_foreign(l.ep);
	if (untagged == k)
		return k;
	tux_defer_enter();
	look_claim(evs, k);
	l.ep = ep_lock_fd(fd);
	if (l.ep) {
		look_translate_all(&l, evs, k);
		ep_unlock(l.ep);
	}
	tux_defer_leave();
	return l.ep ? l.n : -EBADF;
}

/* ---- asking without taking -------------------------------------------- */

/* What the kernel has told it will not tell again, unless it is made to. */
static bool look_peek_one(struct ep *ep, struct item *it, uint32_t told)
{
	bool once = it->events & (EPOLLET | EPOLLONESHOT);
	struct ready r;

	if (it->nest)
		return nest_true(it->fd);
	if (it->sock) {
		told = ready_told(it->sock, it->fd, told, &r) & look_wanted(it);
		item_sync(ep, it, r.tcp, once);
	} else if (once) {
		item_ctl(ep, EPOLL_CTL_MOD, it, it->events);
	}
	return told;
}

bool look_peek(struct ep *ep)
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
		any = (it && look_peek_one(ep, it, evs[i].events)) || any;
	}
	return any;
}
