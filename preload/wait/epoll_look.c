/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/epoll_look.h"

#include "ground/libc.h"
#include "wait/epoll_item.h"

/* ---- one item --------------------------------------------------------- */

void look_begin(struct look *l)
{
	struct ep *ep = l->ep;

	if (l->seq)
		return;
	if (++ep->seq == 0)
		ep->seq = 1;
	l->seq = ep->seq;
}

void look_report(struct look *l, struct item *it, uint32_t got)
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

void look_spend(struct ep *ep, struct item *it, bool by_kernel)
{
	it->spent = true;
	it->mask = 0;
	if (!by_kernel && it->kernel) {
		item_ctl(ep, EPOLL_CTL_DEL, it, 0);
		it->kernel = false;
	}
}

uint32_t look_rings_tell(struct item *it, const struct ready *r)
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

/* What the kernel would tell of @it as a new edge is not the application's, where
 * both directions are on rings. */
static bool look_asks_anew(struct item *it, const struct ready *r)
{
	return (it->events & EPOLLET) && edge_hidden(&it->edge, it->sock) &&
	       (r->tcp & (it->events | READY_ALWAYS));
}

static uint32_t look_at_item(struct ep *ep, struct item *it)
{
	bool plain = ready_plain(it->sock);
	/* It may have become plain since the last look. */
	bool was_ours = atomic_load(&it->sock->stage) == SOCK_PLAIN;
	struct ready r = ready_of(it->sock);
	uint32_t got = look_rings_tell(it, &r);

	item_sync(ep, it, r.tcp, ((it->events & EPOLLET) && was_ours) ||
				 look_asks_anew(it, &r));
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
		look_report(l, it, got);
		l->half = l->half || half_told(it);
		if (it->events & EPOLLONESHOT)
			look_spend(ep, it, false);
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
