/* SPDX-License-Identifier: BSD-2-Clause */
#include "afxdp/xdp_paths.h"

#include <string.h>
#include <sys/eventfd.h>

#include "sys/fd.h"
#include "sys/sys.h"
#include "sys/take.h"
#include "sys/wake.h"

/* ---- what the loop sleeps on ---- */

/* Only the first loop receives from the socket. */
static void sleep_on(struct tux_xdp *x)
{
	x->link.fd_n = tux_queues_fds(&x->queues, x->link.fd);
	if (x->queues.n || !tux_xdp_is_first(x))
		return;
	x->link.fd[0] = x->udp->fd[0];
	x->link.fd_n = 1;
}

/* While the queues bring the datagrams, no turn asks the socket by itself. */
static void ask_epoll(struct tux_xdp *x)
{
	bool yes = tux_xdp_is_first(x) && x->queues.n;
	struct epoll_event e = {
		.events = EPOLLIN, .data.u64 = x->tag + TUX_PATHS_SOCKET,
	};

	if (yes != x->asked)
		tux_sys_epoll_ctl(x->epfd, yes ? EPOLL_CTL_ADD : EPOLL_CTL_DEL,
				  x->udp->fd[0], &e);
	x->asked = yes;
}

/* ---- the path manager ---- */

/* Counts up `news` if answers may have changed, and wakes the other loops. */
static void publish_news(struct tux_xdp *x)
{
	if (!x->paths->changed)
		return;
	x->paths->changed = false;
	atomic_fetch_add(&x->paths->news, 1);
	tux_shares_wake(&x->paths->nic.shares, x->queues.loop);
}

/* Copies to the link what the loop reads there. */
static void xdp_follow(struct tux_xdp *x)
{
	const struct tux_paths *p = x->paths;
	uint32_t news = atomic_load(&p->news);
	bool on = tux_paths_on(p);

	x->link.due_at = x->udp->due_at;
	if (tux_xdp_is_first(x))
		x->link.due_at = tux_time_min(x->link.due_at, p->due_at);
	x->link.changed |= news != x->news;
	x->news = news;
	x->up = p->iface.up;
	memcpy(x->mac, p->iface.mac, sizeof(x->mac));
	/* Until the program is off the interface, it still takes what comes. */
	if (p->nic.state != TUX_NIC_BUSY && on != x->on) {
		x->on = on;
		x->link.way++;
		x->link.changed = true;
	}
}

/* Takes the latch.  Returns when the path manager wants to be called, for
 * xdp_unlock(). */
static tux_time xdp_lock(struct tux_xdp *x)
{
	tux_latch_take(&x->paths->latch);
	return x->paths->due_at;
}

/* Drops the latch.  If the path manager wants to be called at another time than @due,
 * the first loop is woken, which does that. */
static void xdp_unlock(struct tux_xdp *x, tux_time due)
{
	publish_news(x);
	xdp_follow(x);
	if (!tux_xdp_is_first(x) && x->paths->due_at != due)
		tux_wake_kick(x->paths->nic.fd);
	tux_latch_drop(&x->paths->latch);
}

/* While another loop has the latch, which may ask the kernel something, this one goes
 * on with what it knows; it looks again in its next turn. */
static void follow_news(struct tux_xdp *x)
{
	if (atomic_load(&x->paths->news) == x->news ||
	    !tux_latch_try(&x->paths->latch))
		return;
	xdp_follow(x);
	tux_latch_drop(&x->paths->latch);
}

/* The link follows the news before it looks for queues: shares are assigned before the news
 * that the interface is on, so the loop finds its own in the same turn. */
void tux_xdp_look(struct tux_xdp *x)
{
	follow_news(x);
	if (!tux_queues_look(&x->queues))
		return;
	ask_epoll(x);
	sleep_on(x);
}

/* With what is new, also the queues: the datagrams of this turn leave by them. */
void tux_xdp_event(struct tux_xdp *x, unsigned what, tux_time now)
{
	tux_time due = xdp_lock(x);

	if (tux_xdp_is_first(x))
		tux_paths_event(x->paths, what, now);
	else
		tux_wake_clear(x->fd);
	xdp_unlock(x, due);
	tux_xdp_look(x);
}

bool tux_xdp_udp_used(struct tux_xdp *x, unsigned n, tux_time now)
{
	tux_time due;

	if (!tux_latch_try(&x->paths->latch))
		return false;
	due = x->paths->due_at;
	tux_paths_udp_used(x->paths, n, now);
	xdp_unlock(x, due);
	return true;
}

void tux_xdp_tick(struct tux_link *l, tux_time now)
{
	struct tux_xdp *x = tux_xdp_of(l);
	tux_time due;

	if (now >= x->udp->due_at)
		x->udp->ops->tick(x->udp, now);
	due = xdp_lock(x);
	if (tux_xdp_is_first(x) && now >= due)
		tux_paths_tick(x->paths, now);
	xdp_unlock(x, due);
}

/* ---- opening and closing ---- */

static void wake_by(struct tux_xdp *x, int fd)
{
	atomic_store(&x->paths->nic.shares.at[x->queues.loop].fd, fd);
}

static int share_paths(struct tux_xdp *x, const struct tux_link_opts *o)
{
	struct epoll_event e = {
		.events = EPOLLIN, .data.u64 = x->tag + TUX_PATHS_NIC,
	};
	int err;

	x->paths = tux_xdp_of(o->first)->paths;
	x->fd = tux_fd_lift(tux_sys_eventfd(EFD_CLOEXEC | EFD_NONBLOCK));
	err = x->fd < 0 ? x->fd :
	      tux_sys_epoll_ctl(x->epfd, EPOLL_CTL_ADD, x->fd, &e);
	if (err) {
		tux_fd_close(x->fd);
		x->fd = -1;
	}
	return err;
}

int tux_xdp_paths_open(struct tux_xdp *x, const struct tux_link_opts *o)
{
	int err;

	x->paths = &x->own;
	err = o->first ? share_paths(x, o) :
	      tux_paths_init(&x->own, x->epfd, x->tag, o, x->udp->port);
	if (err)
		return err;
	tux_queues_init(&x->queues, &x->paths->nic, o->number, x->epfd,
			x->tag + TUX_PATHS_PACKETS);
	wake_by(x, tux_xdp_is_first(x) ? x->own.nic.fd : x->fd);
	xdp_unlock(x, xdp_lock(x));
	sleep_on(x);
	return 0;
}

void tux_xdp_paths_close(struct tux_xdp *x)
{
	tux_queues_leave(&x->queues);
	/* With the latch, no loop is about to wake this one. */
	xdp_lock(x);
	wake_by(x, -1);
	tux_latch_drop(&x->paths->latch);
	if (tux_xdp_is_first(x))
		tux_paths_fini(&x->own);
	tux_fd_close(x->fd);
}

unsigned tux_xdp_loops_max(const struct tux_link *l)
{
	return tux_paths_queues(tux_xdp_const(l)->paths);
}

/* The loop gets a share only if all loops before it have joined.  One that could not be
 * started would have a share that nobody serves. */
void tux_xdp_join(struct tux_link *l)
{
	struct tux_xdp *x = tux_xdp_of(l);
	struct tux_nic *nic = &x->paths->nic;

	xdp_lock(x);
	if (nic->loops == x->queues.loop)
		tux_nic_share(nic, nic->loops + 1);
	tux_latch_drop(&x->paths->latch);
}

/* ---- flows ---- */

/* Copies what the path manager says of @f now.  While another loop has the latch, what
 * was known of it stays. */
static void follow_flow(struct tux_xdp *x, struct tux_xdp_flow *f,
			uint32_t handle)
{
	const struct tux_paths *p = x->paths;
	const struct tux_flow *of = &p->flows.at[handle];

	if (!f->news)
		tux_latch_take(&x->paths->latch);
	else if (!tux_latch_try(&x->paths->latch))
		return;
	f->closed = (uint8_t)tux_paths_closed(p, of);
	if (!f->closed)
		memcpy(f->mac, p->neigh.hop[of->hop].mac, sizeof(f->mac));
	tux_latch_drop(&x->paths->latch);
	f->news = x->news;
}

const struct tux_xdp_flow *tux_xdp_flow(struct tux_xdp *x, uint32_t handle)
{
	struct tux_xdp_flow *f;

	if (handle == TUX_LINK_NO_FLOW || !x->queues.n)
		return NULL;
	f = &x->at[handle];
	if (f->news != x->news)
		follow_flow(x, f, handle);
	return f->closed ? NULL : f;
}

/* Can the kernel carry to the peer what the interface cannot, for @why? */
static bool socket_helps(const struct tux_xdp *x, enum tux_reason why)
{
	switch (why) {
	case TUX_REASON_LINK_DOWN:
	case TUX_REASON_ENCAPSULATED:
		return false;
	case TUX_REASON_OTHER_INTERFACE:
		return x->paths->mixed && !*x->paths->ifname;
	default:
		return x->paths->mixed;
	}
}

/* Is there no queue for the loop?  The interface may have fewer than when the loop was
 * added. */
static bool lacks_queue(const struct tux_xdp *x)
{
	return tux_paths_on(x->paths) &&
	       x->queues.loop >= tux_nic_sharers(&x->paths->nic);
}

static int admit_flow(struct tux_xdp *x, const struct tux_addr *local,
		      const struct tux_addr *peer, uint32_t *handle,
		      tux_time now)
{
	struct tux_flow *f;
	int r = lacks_queue(x) ? -(int)TUX_REASON_NO_XDP :
		tux_paths_admit(x->paths, local, peer, &f, now);

	*handle = TUX_LINK_NO_FLOW;
	if (r < 0 && socket_helps(x, (enum tux_reason)-r))
		return 0;
	if (r)
		return r;
	*handle = (uint32_t)(f - x->paths->flows.at);
	x->at[*handle] = (struct tux_xdp_flow){ 0 };
	return 0;
}

int tux_xdp_admit(struct tux_link *l, const struct tux_addr *local,
		  const struct tux_addr *peer, uint32_t *handle, tux_time now)
{
	struct tux_xdp *x = tux_xdp_of(l);
	tux_time due = xdp_lock(x);
	int r;

	r = admit_flow(x, local, peer, handle, now);
	xdp_unlock(x, due);
	return r;
}

void tux_xdp_leave(struct tux_link *l, uint32_t handle, tux_time now)
{
	struct tux_xdp *x = tux_xdp_of(l);
	tux_time due;

	if (handle == TUX_LINK_NO_FLOW)
		return;
	due = xdp_lock(x);
	tux_paths_leave(x->paths, &x->paths->flows.at[handle], now);
	xdp_unlock(x, due);
}

void tux_xdp_heard(struct tux_link *l, uint32_t handle, int queue)
{
	if (handle != TUX_LINK_NO_FLOW && queue >= 0)
		tux_xdp_of(l)->at[handle].queue = (uint16_t)queue;
}

enum tux_reason tux_xdp_closed(const struct tux_link *l, uint32_t handle)
{
	const struct tux_xdp *x = tux_xdp_const(l);
	enum tux_reason why = TUX_REASON_NO_XDP;

	if (handle == TUX_LINK_NO_FLOW)
		return TUX_REASON_NONE;
	tux_latch_take(&x->paths->latch);
	if (!lacks_queue(x))
		why = tux_paths_closed(x->paths, &x->paths->flows.at[handle]);
	tux_latch_drop(&x->paths->latch);
	return socket_helps(x, why) ? TUX_REASON_NONE : why;
}

uint32_t tux_xdp_mtu(const struct tux_link *l, uint32_t handle)
{
	const struct tux_xdp *x = tux_xdp_const(l);
	uint32_t mtu;

	if (handle == TUX_LINK_NO_FLOW)
		return x->link.pkt_max;
	tux_latch_take(&x->paths->latch);
	mtu = tux_paths_mtu(x->paths, &x->paths->flows.at[handle]);
	tux_latch_drop(&x->paths->latch);
	return mtu;
}
