/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/epoll_fd.h"

#include "ground/process.h"
#include "sock/kind.h"
#include "sock/observer.h"
#include "sys/defer.h"
#include "wait/epoll.h"
#include "wait/epoll_item.h"
#include "wait/epoll_kick.h"
#include "wait/epoll_nest.h"

/* Calls @fn for each item of @ep that is used.  The latch of @ep is held. */
static void each_item(struct ep *ep, void (*fn)(struct ep *ep, struct item *it))
{
	for (int i = 0; i < EP_CHUNKS; i++) {
		struct item *it = ep->chunk[i];

		for (int j = 0; it && j < ITEM_CHUNK; j++)
			if (it[j].used)
				fn(ep, &it[j]);
	}
}

static void strip_item(struct ep *ep, struct item *it)
{
	item_detach(ep, it);
	if (item_held(it))
		ep_unhold(it->fd);
	it->used = false;
}

/* The last descriptor goes: watches end; the kernel drops its items itself. */
static void strip(struct ep *ep)
{
	ep_lock(ep);
	each_item(ep, strip_item);
	ep_unlock(ep);
}

/* Does a loop have a copy of descriptor @fd?  It keeps the copy while the end
 * of the connection sleeps. */
static bool has_copy(int fd)
{
	const struct sock *s = fd_peek(fd);

	return s && s->end && s->epoch == process_here.epoch;
}

/* A sock's item must go, because the loop's private copy of the descriptor
 * would keep the kernel's item alive; others go as the kernel lets them. */
static void forget_item(struct ep *ep, void *arg)
{
	int fd = *(const int *)arg;
	struct item *it = item_find(ep, fd);

	if (!it || !it->used)
		return;
	if (it->sock || it->nest || item_shot(it) || has_copy(fd)) {
		item_drop(ep, it);
	} else if (item_held(it)) {
		it->stale = true;
		ep_unhold(fd);
	}
}

bool epoll_kept(int fd)
{
	return ep_held(fd) || ep_peek(fd);
}

void epoll_forget_fd(int fd)
{
	if ((unsigned)fd >= FD_MAX)
		return;
	if (ep_held(fd))
		ep_each(forget_item, &fd);
	ep_close(fd, strip);
}

struct holding {		/* instances that hold a descriptor */
	int fd;
	void (*fn)(struct ep *ep, struct item *it, void *arg);
	void *arg;
};

static void if_holds(struct ep *ep, void *arg)
{
	const struct holding *h = arg;
	struct item *it = item_find(ep, h->fd);

	if (it && item_held(it))
		h->fn(ep, it, h->arg);
}

/* Calls @fn for each instance that holds @fd, and its item, with the latch of
 * the instance held. */
static void each_holder(int fd, void (*fn)(struct ep *ep, struct item *it,
					   void *arg), void *arg)
{
	struct holding h = { fd, fn, arg };

	if (ep_held(fd))
		ep_each(if_holds, &h);
}

/* Makes @it fit the stage of its sock, which another thread may have changed
 * since the caller did.  A thread that is CLAIMING the sock calls this
 * afterwards. */
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
		nest_join(ep);
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

static void epoll_left_fd(int fd)
{
	if (!ep_held(fd))
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

static unsigned epoll_loop(int fd)
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

static void epoll_moved_fd(struct sock *s, int fd)
{
	each_holder_of(s, fd, follow_stage);
}

/* A child would change what its parent has registered. */
static void stop_one(struct ep *ep, void *arg)
{
	(void)arg;
	if (ep->inherited)
		return;
	each_item(ep, item_give_back);
	nest_end(ep);
	kick_end(ep);
	ep_vanish(ep);
}

/* The instances are the kernel's from now on, and not known. */
static void epoll_stopped(void)
{
	ep_each(stop_one, NULL);
}

/* ---- new instances ---------------------------------------------------- */

static struct observer observer = {
	.gone = epoll_forget_fd, .moved = epoll_moved_fd,
	.left = epoll_left_fd, .loop = epoll_loop, .stopped = epoll_stopped,
};

int epoll_made_fd(int fd)
{
	if ((unsigned)fd >= FD_MAX)
		return 0;
	observer_add(&observer);
	epoll_forget_fd(fd);
	return ep_new(fd);
}

void epoll_duped_fd(int fd, int to)
{
	struct ep *ep = ep_get(fd);

	if (!ep)
		return;
	if ((unsigned)to < FD_MAX && ep_peek(to) != ep) {
		epoll_forget_fd(to);
		ep_duped(ep, to);
	}
	ep_put(ep);
}
