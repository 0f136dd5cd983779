/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/epoll_item.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "sys/sys.h"
#include "wait/epoll_kick.h"

/* ---- finding them ----------------------------------------------------- */

static struct item *map_chunk(int first)
{
	struct item *c = mmap(NULL, ITEM_CHUNK * sizeof(*c),
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (c == MAP_FAILED)
		return NULL;
	for (int i = 0; i < ITEM_CHUNK; i++) {
		c[i].fd = first + i;
		tux_list_init(&c[i].ready);
		tux_list_init(&c[i].watch.node);
	}
	return c;
}

struct item *item_map(struct ep *ep, int fd)
{
	int i = fd / ITEM_CHUNK;
	struct item *c = map_chunk(i * ITEM_CHUNK);

	if (!c)
		return NULL;
	atomic_store_explicit(&ep->chunk[i], c, memory_order_release);
	return &c[fd % ITEM_CHUNK];
}

/* ---- the kernel's half ------------------------------------------------ */

static void kernel_drop(struct ep *ep, struct item *it)
{
	if (it->kernel)
		item_ctl(ep, EPOLL_CTL_DEL, it, 0);
	it->kernel = false;
}

static void kernel_set(struct ep *ep, struct item *it, uint32_t mask)
{
	/* MOD refuses an exclusive item. */
	if (mask & EPOLLEXCLUSIVE)
		kernel_drop(ep, it);
	item_ctl(ep, it->kernel ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, it, mask);
	it->kernel = true;
	it->mask = mask;
}

/*
 * With both directions on TCP the kernel's item is what the application asked
 * for, be it nothing: errors and hang-ups are told always.  Where those two are
 * not the kernel's to tell it is there only if something else is, for they
 * cannot be masked.
 */
void item_sync(struct ep *ep, struct item *it, uint32_t tcp, bool force)
{
	bool on_ring = !(tcp & EPOLLERR);
	uint32_t what, mask;

	it->tcp = tcp;
	/* An edge too many can be told from a true one; a change of the item
	 * would be a false one. */
	if (it->events & EPOLLET)
		tcp = ~0u;
	what = it->events & tcp & ~(uint32_t)EP_HOW;
	mask = what | (it->events & EP_HOW);

	if (on_ring != it->on_ring) {
		it->on_ring = on_ring;
		atomic_fetch_add(&ep->on_ring, on_ring ? 1u : -1u);
	}
	if (it->spent)
		return;
	if (!(tcp & READY_ALWAYS) && !(what & ~(uint32_t)READY_ALWAYS))
		kernel_drop(ep, it);
	else if (!it->kernel || it->mask != mask || force)
		kernel_set(ep, it, mask);
}

/* ---- the rings' half -------------------------------------------------- */

/* The bell holds descriptors, each at most once: as many slots as there can be
 * descriptors are enough for ever. */
static uint32_t bell_cap(void)
{
	struct rlimit r = { .rlim_max = FD_MAX };
	uint32_t cap = 1024;

	getrlimit(RLIMIT_NOFILE, &r);
	while (cap < r.rlim_max && cap < FD_MAX)
		cap *= 2;
	return cap;
}

int item_waiter(struct ep *ep, int fd)
{
	int r;

	if (!ep->w.bell) {
		r = tux_waiter_init(&ep->w, bell_cap());
		if (r) {
			ep->w.bell = NULL;
			return r;
		}
	}
	return (uint32_t)fd < ep->w.bell->cap ? 0 : -ENOSPC;
}

int item_attach(struct ep *ep, struct item *it, struct sock *s)
{
	bool own = it->own;
	struct ready now;
	int r;

	if (it->sock)
		return 0;
	r = item_waiter(ep, it->fd);
	if (r)
		return r;
	atomic_fetch_add(&s->refs, 1);
	it->sock = s;
	if (!atomic_load(&ep->w.loop))
		tux_waiter_follow(&ep->w, s->end);
	it->watch.waiter = &ep->w;
	it->watch.index = (uint32_t)it->fd;
	it->watch.queued = &it->queued;
	sock_watch(s, &it->watch);
	if (atomic_fetch_add(&ep->socks, 1) == 0)
		kick_sleepers(ep);
	edge_init(&it->edge, s);
	now = ready_of(s);
	it->own = false;
	item_sync(ep, it, now.tcp, own);
	if (now.now & (it->events | READY_ALWAYS))
		item_again(ep, it);
	return 0;
}

void item_detach(struct ep *ep, struct item *it)
{
	struct sock *s = it->sock;

	if (it->nest || s)
		atomic_fetch_sub(&ep->socks, 1);
	if (it->nest)
		atomic_fetch_sub(&ep->nests, 1);
	it->nest = false;
	if (!s)
		return;
	sock_unwatch(s, &it->watch);
	tux_list_remove(&it->ready);
	atomic_fetch_sub(&ep->on_ring, it->on_ring);
	it->on_ring = false;
	it->sock = NULL;
	sock_put(s);
}

/* The kernel knows of no edge that came while a direction was on a ring.  So an
 * edge-triggered item is armed anew when the end of its connection goes to
 * sleep, which may be one edge too many. */
void item_rest(struct ep *ep, struct item *it)
{
	struct epoll_event e = { .events = it->events, .data = it->data };
	bool moved = (it->events & EPOLLET) && it->sock->asleep;

	item_detach(ep, it);
	it->again = false;
	it->own = item_owns(it->fd, &e);
	/* A change would be seen as another edge. */
	if (!it->spent &&
	    (it->own || !it->kernel || it->mask != it->events || moved))
		kernel_set(ep, it, it->events);
}

void item_poke(struct ep *ep, struct item *it)
{
	if (!atomic_exchange(&it->queued, 1))
		tux_waiter_ring(&ep->w, (uint32_t)it->fd);
}

void item_again(struct ep *ep, struct item *it)
{
	it->again = true;
	item_poke(ep, it);
}

void item_give_back(struct ep *ep, struct item *it)
{
	uint32_t mask = it->spent ? it->events & EP_HOW : it->events;
	/* One that the kernel has told once says nothing until the next MOD. */
	bool same = it->kernel && (it->spent || (it->own && it->mask == mask));

	item_detach(ep, it);
	it->own = true;
	if (item_held(it) && !same)
		kernel_set(ep, it, mask);
	if (item_held(it))
		ep_unhold(it->fd);
	it->used = false;
}

void item_drop(struct ep *ep, struct item *it)
{
	item_detach(ep, it);
	kernel_drop(ep, it);
	if (item_held(it))
		ep_unhold(it->fd);
	it->used = false;
}
