/* SPDX-License-Identifier: BSD-2-Clause */
#include "epoll.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "conf.h"
#include "fork.h"
#include "hooks.h"
#include "kind.h"
#include "libc.h"
#include "seat.h"
#include "sys/defer.h"
#include "sys/fd.h"

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
	epoll_forget_fd(fd);
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

void ep_hold(int fd)
{
	atomic_fetch_add(&holders[fd], 1);
	fd_seen(fd);
}

void ep_unhold(int fd)
{
	atomic_fetch_sub(&holders[fd], 1);
}

/* ---- descriptors come and go ------------------------------------------ */

static void unlink_live(struct ep *ep)
{
	struct ep **p = &live;

	while (*p != ep)
		p = &(*p)->next;
	*p = ep->next;
}

/* The last descriptor goes: watches end; the kernel drops its items itself. */
static void strip(struct ep *ep)
{
	ep_lock(ep);
	for (int i = 0; i < EP_CHUNKS; i++) {
		struct item *it = ep->chunk[i];

		for (int j = 0; it && j < ITEM_CHUNK; j++) {
			if (!it[j].used)
				continue;
			item_detach(ep, &it[j]);
			if (item_held(&it[j]))
				ep_unhold(it[j].fd);
			it[j].used = false;
		}
	}
	ep_unlock(ep);
}

/* Another descriptor of @ep, now that the one we used is gone. */
static int other_fd(struct ep *ep)
{
	int fd;

	for (fd = 0; fd < FD_MAX - 1 && ep_peek(fd) != ep; fd++)
		;
	return fd;
}

static void ep_closed(int fd)
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

/* Descriptor @fd of @ep is new.  If another thread has closed the last one
 * meanwhile, @ep has ended, and @fd stays unknown. */
static void add_fd(struct ep *ep, int fd)
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

void epoll_duped_fd(int fd, int to)
{
	struct ep *ep = ep_get(fd);

	if (!ep)
		return;
	if ((unsigned)to < FD_MAX && ep_peek(to) != ep) {
		epoll_forget_fd(to);
		add_fd(ep, to);
	}
	ep_put(ep);
}

/* Does a loop have a copy of descriptor @fd?  It keeps the copy while the end of the
 * connection sleeps. */
static bool has_copy(int fd)
{
	const struct sock *s = fd_peek(fd);

	return s && s->end && s->epoch == fork_epoch;
}

/* A sock's item must go, because the loop's private copy of the descriptor
 * would keep the kernel's item alive; others go as the kernel lets them. */
static void forget_item(struct ep *ep, int fd)
{
	struct item *it = item_find(ep, fd);

	if (!it || !it->used)
		return;
	if (it->sock || it->nest || has_copy(fd)) {
		item_drop(ep, it);
	} else if (item_held(it)) {
		it->stale = true;
		ep_unhold(fd);
	}
}

bool epoll_kept(int fd)
{
	return (unsigned)fd < FD_MAX &&
	       (atomic_load(&holders[fd]) || ep_peek(fd));
}

void epoll_forget_fd(int fd)
{
	struct ep *ep;

	if ((unsigned)fd >= FD_MAX)
		return;
	if (atomic_load(&holders[fd])) {
		tux_latch_take(&table_latch);
		for (ep = live; ep; ep = ep->next) {
			ep_lock(ep);
			forget_item(ep, fd);
			ep_unlock(ep);
		}
		tux_latch_drop(&table_latch);
	}
	ep_closed(fd);
}

/* Calls @fn for each instance that holds @fd, and its item, with the latch of the
 * instance held. */
static void each_holder(int fd, void (*fn)(struct ep *ep, struct item *it,
					   void *arg), void *arg)
{
	struct ep *ep;

	if ((unsigned)fd >= FD_MAX || !atomic_load(&holders[fd]))
		return;
	tux_latch_take(&table_latch);
	for (ep = live; ep; ep = ep->next) {
		struct item *it;

		ep_lock(ep);
		it = item_find(ep, fd);
		if (it && item_held(it))
			fn(ep, it, arg);
		ep_unlock(ep);
	}
	tux_latch_drop(&table_latch);
}

/* Makes @it fit the stage of its sock, which another thread may have changed since
 * the caller did.  A thread that is CLAIMING the sock calls this afterwards. */
static void follow_stage(struct ep *ep, struct item *it, void *sock)
{
	const struct sock *s = sock;

	if (atomic_load(&s->stage) != SOCK_CLAIMED) {
		if (it->sock == s)
			item_rest(ep, it);
	} else if (it->sock == s) {
		item_again(ep, it);
	} else {
		item_attach(ep, it, sock);
	}
}

static void forget_own(struct ep *ep, struct item *it, void *arg)
{
	(void)ep;
	(void)arg;
	/* Unless the number is another connection's by now. */
	if (!it->own || !kind_left(it->fd) || fd_peek(it->fd))
		return;
	ep_unhold(it->fd);
	it->used = it->kernel = it->own = false;
}

void epoll_left_fd(int fd)
{
	if ((unsigned)fd >= FD_MAX || !atomic_load(&holders[fd]))
		return;
	tux_defer_enter();
	each_holder(fd, forget_own, NULL);
	tux_defer_leave();
}

static void take_loop(struct ep *ep, struct item *it, void *loop)
{
	unsigned *first = loop;

	(void)it;
	if (!*first)
		*first = atomic_load(&ep->w.loop);
}

unsigned epoll_loop(int fd)
{
	unsigned loop = 0;

	each_holder(fd, take_loop, &loop);
	return loop;
}

/* For all descriptors of @s, of which @fd is one; most have a single one. */
static void each_holder_of(struct sock *s, int fd,
			   void (*fn)(struct ep *ep, struct item *it, void *arg))
{
	each_holder(fd, fn, s);
	if (atomic_load(&s->fds) == 1 && fd_peek(fd) == s)
		return;
	for (int i = 0; i < fd_top(); i++)
		if (i != fd && fd_peek(i) == s)
			each_holder(i, fn, s);
}

void epoll_claimed_fd(int fd, struct sock *s)
{
	sock_ring(s);		/* for threads in poll() */
	each_holder_of(s, fd, follow_stage);
}

void epoll_rested_fd(int fd, struct sock *s)
{
	sock_ring(s);
	each_holder_of(s, fd, follow_stage);
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

void epoll_forked(void)
{
	memset(&table_latch, 0, sizeof(table_latch));
	memset(&pool_latch, 0, sizeof(pool_latch));
	seat_forked();
	/* Another thread may have changed the pool, or held a latch in it. */
	pool = NULL;
	for (struct ep *ep = live; ep; ep = ep->next)
		orphan(ep);
}

/* ---- epoll_create ----------------------------------------------------- */

static int made(int fd)
{
	int r;

	/* Where no connection ever moves, the kernel's instance is enough. */
	if (fd_fresh(fd) < 0 || conf.path == TUX_PATH_MODE_TCP)
		return fd;
	tux_defer_enter();
	r = ep_new(fd);
	tux_defer_leave();
	if (!r)
		return fd;
	libc.close(fd);
	errno = -r;
	return -1;
}

HOOK int epoll_create(int size)
{
	return made(libc.epoll_create(size));
}

HOOK int epoll_create1(int flags)
{
	return made(libc.epoll_create1(flags));
}
