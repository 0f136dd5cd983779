/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/epoll.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "sys/fd.h"
#include "sys/sys.h"
#include "wait/seat.h"

struct ep *_Atomic ep_table[FD_MAX];

static _Atomic uint16_t holders[FD_MAX];	/* instances that hold it */

/* Protects `live` and every ep->fds.  Taken before an ep's latch. */
static struct tux_latch table_latch;
static struct ep *live;

/* Protects `pool`.  Taken last. */
static struct tux_latch pool_latch;
static struct ep *pool;

_Atomic uint64_t ep_range;

/* @fd is an instance.  The table's latch is held. */
static void ep_enter(int fd, struct ep *ep)
{
	uint64_t range = atomic_load(&ep_range);
	uint32_t low = (uint32_t)range, end = (uint32_t)(range >> 32);

	if (!end || low > (uint32_t)fd)
		low = (uint32_t)fd;
	if (end <= (uint32_t)fd)
		end = (uint32_t)fd + 1;
	atomic_store(&ep_range, (uint64_t)end << 32 | low);
	atomic_store(&ep_table[fd], ep);
}

/* ---- tags ------------------------------------------------------------- */

uint64_t tag_magic;

static void tag_init(void)
{
	uint64_t m;

	if (tag_magic)
		return;
	tux_sys_getrandom(&m, sizeof(m));
	tag_magic = (m & 0x3fff) | 0x8000;
}

/* ---- life ------------------------------------------------------------- */

struct ep *ep_get(int fd)
{
	struct ep *ep;

	while ((ep = ep_peek(fd))) {
		uint32_t n = atomic_load(&ep->refs);

		if (!n || !atomic_compare_exchange_weak(&ep->refs, &n, n + 1))
			continue;
		if (ep_peek(fd) == ep)
			return ep;
		ep_put(ep);
	}
	return NULL;
}

static void unmap_items(struct ep *ep)
{
	for (int i = 0; i < EP_CHUNKS; i++)
		if (ep->chunk[i])
			munmap(ep->chunk[i], ITEM_CHUNK * sizeof(struct item));
}

/* No call is inside any more.  The struct is kept: a late ep_get() may look at
 * its references, and a late ep_lock_fd() may take its latch. */
static void ep_fini(struct ep *ep)
{
	unmap_items(ep);
	if (ep->w.bell)
		tux_waiter_fini(&ep->w);
	if (ep->kick >= 0)
		tux_fd_close(ep->kick);
	tux_latch_take(&pool_latch);
	ep->next = pool;
	pool = ep;
	tux_latch_drop(&pool_latch);
}

void ep_put(struct ep *ep)
{
	if (atomic_fetch_sub(&ep->refs, 1) == 1)
		ep_fini(ep);
}

static struct ep *alloc(void)
{
	struct ep *ep;

	tux_latch_take(&pool_latch);
	ep = pool;
	if (ep)
		pool = ep->next;
	tux_latch_drop(&pool_latch);
	if (ep) {
		memset(&ep->fds, 0, sizeof(*ep) - offsetof(struct ep, fds));
		return ep;
	}
	ep = mmap(NULL, sizeof(*ep), PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return ep == MAP_FAILED ? NULL : ep;
}

int ep_new(int fd)
{
	struct ep *ep;

	if ((unsigned)fd >= FD_MAX)
		return 0;	/* stays unknown, and its socks on TCP */
	tux_latch_take(&table_latch);
	tag_init();
	ep = alloc();
	if (ep) {
		tux_list_init(&ep->ready);
		tux_list_init(&ep->sleepers);
		ep->kick = -1;
		atomic_store(&ep->own, false);
		atomic_store(&ep->once, false);
		atomic_store(&ep->socks, 0);
		ep->fds = 1;
		atomic_store(&ep->fd, fd);
		ep->next = live;
		live = ep;
		atomic_store(&ep->refs, 1);
		ep_enter(fd, ep);
	}
	tux_latch_drop(&table_latch);
	fd_seen(fd);
	return ep ? 0 : -ENOMEM;
}

static void unlink_live(struct ep *ep)
{
	struct ep **p = &live;

	while (*p != ep)
		p = &(*p)->next;
	*p = ep->next;
}

/* Another descriptor of @ep, now that the one we used is gone. */
static int other_fd(struct ep *ep)
{
	int fd;

	for (fd = 0; fd < FD_MAX - 1 && ep_peek(fd) != ep; fd++)
		;
	return fd;
}

void ep_close(int fd, void (*strip)(struct ep *ep))
{
	struct ep *ep = atomic_exchange(&ep_table[fd], NULL);
	bool last;

	if (!ep)
		return;
	tux_latch_take(&table_latch);
	last = --ep->fds == 0;
	if (last) {
		unlink_live(ep);
		strip(ep);
	} else if (atomic_load(&ep->fd) == fd) {
		atomic_store(&ep->fd, other_fd(ep));
	}
	tux_latch_drop(&table_latch);
	ep_put(ep);
}

void ep_duped(struct ep *ep, int fd)
{
	tux_latch_take(&table_latch);
	if (ep->fds) {
		ep->fds++;
		atomic_fetch_add(&ep->refs, 1);
		ep_enter(fd, ep);
		fd_seen(fd);
	}
	tux_latch_drop(&table_latch);
}

void ep_vanish(struct ep *ep)
{
	uint64_t range = atomic_load(&ep_range);

	for (uint32_t fd = (uint32_t)range; fd < range >> 32; fd++) {
		struct ep *is = ep;

		atomic_compare_exchange_strong(&ep_table[fd], &is, NULL);
	}
}

/* ---- who holds a descriptor -------------------------------------------- */

void ep_hold(int fd)
{
	atomic_fetch_add(&holders[fd], 1);
	fd_seen(fd);
}

void ep_unhold(int fd)
{
	atomic_fetch_sub(&holders[fd], 1);
}

bool ep_held(int fd)
{
	return (unsigned)fd < FD_MAX && atomic_load(&holders[fd]);
}

void ep_each(void (*fn)(struct ep *ep, void *arg), void *arg)
{
	tux_latch_take(&table_latch);
	for (struct ep *ep = live; ep; ep = ep->next) {
		ep_lock(ep);
		fn(ep, arg);
		ep_unlock(ep);
	}
	tux_latch_drop(&table_latch);
}

/* ---- fork ------------------------------------------------------------- */

/* The kernel's instance is shared with the parent and keeps our tags: the
 * items go on translating them.  The socks and the bell are the parent's. */
static void orphan(struct ep *ep)
{
	memset(&ep->latch, 0, sizeof(ep->latch));
	tux_list_init(&ep->ready);
	tux_list_init(&ep->sleepers);
	ep->leader = false;
	ep->inherited = true;
	ep->nested = ep->joined = ep->belled = false;
	atomic_store(&ep->socks, 0);
	atomic_store(&ep->nests, 0);
	for (int i = 0; i < EP_CHUNKS; i++) {
		struct item *it = ep->chunk[i];

		for (int j = 0; it && j < ITEM_CHUNK; j++) {
			tux_list_init(&it[j].ready);
			it[j].sock = NULL;
			it[j].nest = false;
		}
	}
	if (ep->w.bell)
		tux_fd_close(ep->w.fd);
	memset(&ep->w, 0, sizeof(ep->w));
}

void ep_forked(void)
{
	memset(&table_latch, 0, sizeof(table_latch));
	memset(&pool_latch, 0, sizeof(pool_latch));
	seat_forked();
	/* Another thread may have changed the pool, or held a latch in it. */
	pool = NULL;
	for (struct ep *ep = live; ep; ep = ep->next)
		orphan(ep);
}
