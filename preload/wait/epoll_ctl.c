/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/epoll_ctl.h"

#include <errno.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "sock/allow.h"
#include "sock/claim.h"
#include "sock/kind.h"
#include "sock/pass.h"
#include "sys/defer.h"
#include "sys/sys.h"
#include "wait/epoll.h"
#include "wait/epoll_item.h"
#include "wait/epoll_kick.h"
#include "wait/epoll_nest.h"

/* ---- add -------------------------------------------------------------- */

/* epoll_ctl(@op) with the kernel's item, as @e says.  If it fails, @it is as it
 * was. */
static int ctl_kernel(struct ep *ep, struct item *it, int op,
		      const struct epoll_event *e)
{
	epoll_data_t data = it->data;
	bool own = it->own;
	int r;

	it->data = e->data;
	it->own = item_owns(it->fd, e);
	r = item_ctl(ep, op, it, e->events);
	if (r) {
		it->data = data;
		it->own = own;
	}
	return r;
}

/* @op: ADD, or MOD of a foreign registration, which so becomes an item. */
static int add_kernel(struct ep *ep, struct item *it, int op,
		      const struct epoll_event *e)
{
	int r;

	it->gen++;
	r = ctl_kernel(ep, it, op, e);
	if (r) {
		it->gen--;
		return r;
	}
	if (!item_held(it))
		ep_hold(it->fd);
	it->used = it->kernel = true;
	it->spent = it->stale = it->again = false;
	it->events = it->mask = e->events;
	return 0;
}

/* The kernel would have nothing to tell of it: the item begins without its. */
static int add_ring(struct ep *ep, struct item *it, struct sock *s,
		    const struct epoll_event *e)
{
	int r;

	it->gen++;
	it->used = true;
	it->kernel = it->spent = it->stale = it->again = it->own = false;
	it->data = e->data;
	it->events = e->events;
	it->mask = 0;
	ep_hold(it->fd);
	r = item_attach(ep, it, s);
	if (r)
		item_drop(ep, it);
	nest_join(ep);
	return r;
}

static int add_instance(struct ep *ep, struct item *it, struct ep *inner)
{
	int r;

	if (allow_sandboxed())
		return 0;
	nest_begin(inner);
	ep_lock(ep);
	r = item_held(it) ? item_waiter(ep, it->fd) : 0;
	nest_join(ep);
	if (r) {
		item_drop(ep, it);
	} else if (item_held(it) && !it->nest) {
		it->nest = true;
		atomic_fetch_add(&ep->nests, 1);
		if (atomic_fetch_add(&ep->socks, 1) == 0)
			kick_sleepers(ep);
	}
	ep_unlock(ep);
	return r;
}

/* Here an epoll_ctl() claims a socket.  Whoever claims tells all instances
 * that hold it; if it was claimed before, it is for us to do. */
static int add_sock(struct ep *ep, struct item *it)
{
	struct sock *s = sock_claimed(it->fd);
	int r = 0;

	if (!s)
		return 0;
	ep_lock(ep);
	/* What has just gone back to the kernel (unclaim.h) is not watched. */
	if (item_held(it) && atomic_load(&s->stage) == SOCK_CLAIMED)
		r = item_attach(ep, it, s);
	if (r)
		item_drop(ep, it);
	nest_join(ep);
	ep_unlock(ep);
	sock_put(s);
	return r;
}

/* The sock of @fd, with a reference, if it is on the rings both ways and these
 * tell all that @events ask for. */
static struct sock *on_rings(int fd, uint32_t events)
{
	struct sock *s = fd_peek(fd);

	if (!s || atomic_load(&s->stage) != SOCK_CLAIMED ||
	    (events & (EPOLLET | EPOLLEXCLUSIVE)))
		return NULL;
	s = sock_get(fd);
	if (s && (s->epoch != process_here.epoch || ready_of(s).tcp)) {
		sock_put(s);
		s = NULL;
	}
	return s;
}

/* @fd is of an instance, or of a socket that is on Tux or may be claimed. */
static bool is_more(int fd)
{
	struct sock *s = fd_peek(fd);

	return ep_peek(fd) || (s && !claim_is_kernels(s));
}

static int add_more(struct ep *ep, struct item *it)
{
	struct ep *inner = ep_get(it->fd);
	int r;

	if (!inner)
		return add_sock(ep, it);
	r = add_instance(ep, it, inner);
	ep_put(inner);
	return r;
}

/* The kernel has @it since a moment ago: is there more behind its descriptor?
 * Drops the latch. */
static int add_behind(struct ep *ep, struct item *it)
{
	bool more = !it->sock && is_more(it->fd);
	int r;

	if (more)
		ep_keep(ep);
	ep_unlock(ep);
	if (!more)
		return 0;
	r = add_more(ep, it);
	ep_put(ep);
	return r;
}

/* The kernel says so before it looks whether there is an item. */
static bool is_odd_exclusive(const struct epoll_event *e)
{
	return (e->events & EPOLLEXCLUSIVE) &&
	       (e->events & ~(EPOLLEXCLUSIVE | EPOLLIN | EPOLLOUT | EPOLLERR |
			      EPOLLHUP | EPOLLWAKEUP | EPOLLET));
}

static int ctl_add(struct ep *ep, int fd, const struct epoll_event *e)
{
	struct sock *s = on_rings(fd, e->events);
	struct item *it = item_make(ep, fd);
	int r;

	if (!it)
		r = -ENOMEM;
	else if (it->used && (it->sock || item_shot(it)))
		r = is_odd_exclusive(e) ? -EINVAL : -EEXIST;
	else if (s && !it->used)
		r = add_ring(ep, it, s, e);
	else
		r = add_kernel(ep, it, EPOLL_CTL_ADD, e);
	if (s)
		sock_put(s);
	if (!r)
		return add_behind(ep, it);
	ep_unlock(ep);
	return r;
}

/* ---- modify, delete --------------------------------------------------- */

static int mod_kernel(struct ep *ep, struct item *it,
		      const struct epoll_event *e)
{
	bool shot = item_shot(it);
	int r = shot && (e->events & EPOLLEXCLUSIVE) ? -EINVAL :
		ctl_kernel(ep, it, shot ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, e);

	if (r)
		return r;
	it->kernel = true;
	it->events = it->mask = e->events;
	it->spent = false;
	return 0;
}

static int mod_sock(struct ep *ep, struct item *it,
		    const struct epoll_event *e)
{
	bool edge = it->spent || (e->events & EPOLLET);
	struct ready r;

	if ((it->events | e->events) & EPOLLEXCLUSIVE)
		return -EINVAL;
	it->data = e->data;
	it->events = e->events;
	it->spent = false;
	edge_init(&it->edge, it->sock);
	r = ready_of(it->sock);
	item_sync(ep, it, r.tcp, edge && it->kernel);
	if (r.now & (it->events | READY_ALWAYS))
		item_again(ep, it);
	return 0;
}

static int ctl_mod(struct ep *ep, int fd, const struct epoll_event *e)
{
	struct item *it = item_make(ep, fd);
	bool foreign = false;
	int r;

	if (!it) {
		r = -ENOMEM;
	} else if (it->sock) {
		r = mod_sock(ep, it, e);
	} else if (it->used) {
		r = mod_kernel(ep, it, e);
	} else {
		foreign = true;
		r = add_kernel(ep, it, EPOLL_CTL_MOD, e);
	}
	if (!r && foreign)
		return add_behind(ep, it);
	ep_unlock(ep);
	return r;
}

/* Of the kernel's instance alone: there is no item of ours. */
static int kernel_ctl(struct ep *ep, int op, int fd, struct epoll_event *e)
{
	return tux_sys_epoll_ctl(atomic_load(&ep->fd), op, fd, e);
}

/* There is no item: a foreign registration, or nothing. */
static int del_foreign(struct ep *ep, int fd)
{
	struct epoll_event e = { .events = 0 };

	return kernel_ctl(ep, EPOLL_CTL_DEL, fd, &e);
}

static int del_item(struct ep *ep, struct item *it)
{
	int r = it->sock || item_shot(it) ? 0 :
		item_ctl(ep, EPOLL_CTL_DEL, it, 0);

	if (r)
		return r;
	it->kernel = it->kernel && it->sock;
	item_drop(ep, it);
	return 0;
}

static int ctl_del(struct ep *ep, int fd)
{
	struct item *it = item_find(ep, fd);
	int r = it && it->used ? del_item(ep, it) : del_foreign(ep, fd);

	ep_unlock(ep);
	return r;
}

/* ---- the call --------------------------------------------------------- */

/* Arguments that the kernel refuses whatever the instance holds: EBADF, EINVAL,
 * EFAULT are best said by itself. */
static bool nonsense(int op, int fd, const struct epoll_event *e)
{
	if ((unsigned)fd >= FD_MAX)
		return true;
	if (op == EPOLL_CTL_DEL)
		return false;
	return !e || (op != EPOLL_CTL_ADD && op != EPOLL_CTL_MOD);
}

/* An instance that we did not make tells only what the kernel knows. */
static int foreign_ctl(int epfd, int op, int fd, struct epoll_event *e)
{
	int r = libc.epoll_ctl(epfd, op, fd, e);

	if (r || op != EPOLL_CTL_ADD || pass_plain(fd))
		return r;
	libc.epoll_ctl(epfd, EPOLL_CTL_DEL, fd, e);
	errno = EBUSY;
	return -1;
}

int ep_ctl(struct ep *ep, int op, int fd, struct epoll_event *e)
{
	int r;

	if (nonsense(op, fd, e)) {
		r = kernel_ctl(ep, op, fd, e);
		ep_unlock(ep);
		return r;
	}
	if (op == EPOLL_CTL_ADD)
		return ctl_add(ep, fd, e);
	return op == EPOLL_CTL_MOD ? ctl_mod(ep, fd, e) : ctl_del(ep, fd);
}

/* Has the kernel no item of @fd, although the program has one? */
static bool ctl_shot(int epfd, int fd)
{
	struct ep *ep = ep_get(epfd);
	const struct item *it = ep ? item_find(ep, fd) : NULL;
	bool yes = it && it->used && item_shot(it);

	if (ep)
		ep_put(ep);
	return yes;
}

/* A connection that was left to the kernel never has a sock.  What is
 * registered of it from then on carries the program's data, unless that looks
 * like a tag. */
static bool ctl_left(int epfd, int op, int fd, const struct epoll_event *e)
{
	struct ep *ep;

	if (!kind_left(fd) || fd_peek(fd) || (e && tag_is(e->data.u64)))
		return false;
	ep = ep_peek(epfd);
	if (ep && item_find(ep, fd) && ctl_shot(epfd, fd))
		return false;
	if (!ep || op == EPOLL_CTL_DEL || !e)
		return true;
	ep_mark(&ep->own);
	if (e->events & (EPOLLET | EPOLLONESHOT))
		ep_mark(&ep->once);
	return true;
}

/* Kept out of epoll_control(), so that a connection that was left pays for no
 * registers that only this needs; and all that it calls is inlined, because
 * after a system call each return to a caller is mispredicted. */
static __attribute__((noinline, flatten)) int ctl_ours(int epfd, int op, int fd,
						       struct epoll_event *event)
{
	struct ep *ep;
	int r = 0;

	tux_defer_enter();
	ep = ep_lock_fd(epfd);
	if (ep)
		r = ep_ctl(ep, op, fd, event);
	tux_defer_leave();
	return ep ? (int)libc_ret(r) : foreign_ctl(epfd, op, fd, event);
}

int epoll_control(int epfd, int op, int fd, struct epoll_event *e)
{
	return ctl_left(epfd, op, fd, e) ? libc.epoll_ctl(epfd, op, fd, e) :
					   ctl_ours(epfd, op, fd, e);
}
