/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is on TCP is the kernel's to poll: the set is copied, and the copy asks
 * only for that.  What is on rings is looked at, and watched while we sleep.
 */
#include "pollset.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "epoll.h"
#include "fd.h"
#include "libc.h"
#include "ready.h"
#include "sys/defer.h"
#include "timeout.h"
#include "wait.h"

enum { SMALL = 32 };		/* a set that fits the stack */

struct pollee {			/* a sock in the set */
	struct sock *sock;
	struct watch watch;
	unsigned i;		/* its place there */
};

struct polling {		/* one call */
	struct pollfd *fds;	/* the caller's */
	struct pollfd *kernel;	/* what to ask the kernel */
	struct pollee *e;
	unsigned n, m;		/* descriptors; socks */
	bool strict;
	bool nests;		/* there is an epoll instance of ours in it */
	tux_time until;
	const sigset_t *mask;
};

bool pollset_ours(int fd)
{
	struct sock *s = fd_peek(fd);
	uint8_t stage;

	if (!s)
		return nest_polled(fd);
	stage = atomic_load_explicit(&s->stage, memory_order_acquire);
	return stage == SOCK_CANDIDATE || stage == SOCK_CLAIMING ||
	       stage == SOCK_CLAIMED || stage == SOCK_LOST;
}

/* ---- one look --------------------------------------------------------- */

/* The sock of @fd, claimed or on the way to it: still connecting, it may be
 * claimed by somebody else while we sleep. */
static struct sock *sock_of(int fd)
{
	struct sock *s = sock_claimed(fd);

	if (s || !pollset_ours(fd))
		return s;
	return sock_get(fd);
}

static void find_socks(struct polling *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		struct sock *s = fd_peek(p->fds[i].fd) ?
				 sock_of(p->fds[i].fd) : NULL;

		if (!s) {
			p->nests = p->nests || ep_peek(p->fds[i].fd);
			continue;
		}
		p->e[p->m].sock = s;
		p->e[p->m].i = i;
		p->m++;
	}
}

static uint8_t quiet_looks(const struct sock *s)
{
	return atomic_load_explicit(&s->quiet, memory_order_relaxed);
}

/* One more look has found @s with what @tcp says. */
static void count_quiet(struct sock *s, uint32_t tcp)
{
	uint8_t n = quiet_looks(s);

	if (!(tcp & READY_ALWAYS))
		n = 0;
	else if (n < READY_QUIET)
		n++;
	atomic_store_explicit(&s->quiet, n, memory_order_relaxed);
}

/* Have all socks been on TCP with both directions for a while, and are they
 * still?  Then the kernel knows all that there is. */
static bool is_quiet(const struct polling *p)
{
	for (unsigned j = 0; j < p->m; j++) {
		struct sock *s = p->e[j].sock;

		if (quiet_looks(s) < READY_QUIET ||
		    !(ready_of(s).tcp & READY_ALWAYS))
			return false;
	}
	return p->m && !p->nests;
}

/* Fills what to ask the kernel.  True if there is anything. */
static bool arrange(struct polling *p)
{
	unsigned asked = 0;

	for (unsigned i = 0; i < p->n; i++) {
		p->kernel[i] = p->fds[i];
		p->kernel[i].revents = 0;
		asked += p->fds[i].fd >= 0;
	}
	for (unsigned j = 0; j < p->m; j++) {
		struct pollfd *k = &p->kernel[p->e[j].i];
		uint32_t tcp = ready_of(p->e[j].sock).tcp;

		count_quiet(p->e[j].sock, tcp);
		k->events = (short)(k->events & tcp);
		/* POLLERR and POLLHUP come unasked: see ready.c. */
		if (!k->events && !(tcp & READY_ALWAYS) && k->fd >= 0) {
			k->fd = -1;
			asked--;
		}
	}
	return asked > 0;
}

static short poll_wanted(const struct polling *p, short events)
{
	int w = events | POLLNVAL;

	if (!p->strict)
		w |= POLLERR | POLLHUP;
	else if (events & POLLIN)
		w |= POLLERR | POLLHUP;
	else if (events & POLLOUT)
		w |= POLLERR;
	return (short)w;
}

static short sock_revents(struct pollee *e, const struct pollfd *k, int fd)
{
	uint32_t told = (uint16_t)k->revents, got;
	struct ready r;

	if (!told)
		return (short)ready_of(e->sock).now;
	got = ready_told(e->sock, fd, told, &r);
	return (short)(got | r.now | (told & POLLNVAL));
}

static short plain_revents(const struct pollfd *k)
{
	if ((k->revents & POLLIN) && !nest_true(k->fd))
		return (short)(k->revents & ~(POLLIN | POLLRDNORM));
	return k->revents;
}

/* The answers of the kernel and of the rings to the caller; how many. */
static int merge(struct polling *p)
{
	struct pollee *e = p->e, *end = p->e + p->m;
	int ready = 0;

	for (unsigned i = 0; i < p->n; i++) {
		struct pollfd *f = &p->fds[i], *k = &p->kernel[i];
		short got;

		if (e < end && e->i == i)
			got = f->fd < 0 ? 0 : sock_revents(e++, k, f->fd);
		else
			got = plain_revents(k);
		f->revents = (short)(got & poll_wanted(p, f->events));
		ready += f->revents != 0;
		if (p->strict && (k->revents & (POLLERR | POLLHUP)) &&
		    !f->revents)
			f->fd = -1;
	}
	return ready;
}

static int poll_look(struct polling *p)
{
	if (arrange(p) && libc.poll(p->kernel, p->n, 0) < 0)
		return -errno;
	return merge(p);
}

/* ---- sleeping --------------------------------------------------------- */

/* While all is quiet, the first look is the sleep itself, and the helper runs the
 * loop. */
static int poll_sleep_on(struct polling *p, struct waiting *t)
{
	int slept = 1, r = 0;

	/* Something may have come before the watches were there. */
	if (!is_quiet(p))
		r = poll_look(p);
	while (!r && slept > 0) {
		arrange(p);
		slept = tux_channel_wait(is_quiet(p) ? NULL : preload_stack(),
					 &t->w, p->kernel, p->n, p->until,
					 p->mask);
		wait_drain(t);
		r = merge(p);
	}
	return r ? r : slept;
}

static int watch_and_sleep(struct polling *p)
{
	struct waiting *t = wait_take();
	int r;

	if (!t)
		return -ENOMEM;
	for (unsigned j = 0; j < p->m; j++)
		wait_watch(t, p->e[j].sock, &p->e[j].watch);
	r = poll_sleep_on(p, t);
	for (unsigned j = 0; j < p->m; j++)
		sock_unwatch(p->e[j].sock, &p->e[j].watch);
	wait_give(t);
	return r;
}

static int poll_run(struct polling *p)
{
	int r;

	find_socks(p);
	r = p->until && is_quiet(p) ? 0 : poll_look(p);
	/* What was ready may move to Tux in this turn, and not have come there. */
	if (r > 0 && ready_turn(NULL, wait_now()))
		r = poll_look(p);
	if (!r && !p->until) {
		tux_channel_turn(preload_stack(), NULL);
		r = poll_look(p);
	} else if (!r) {
		r = watch_and_sleep(p);
	}
	for (unsigned j = 0; j < p->m; j++)
		sock_put(p->e[j].sock);
	return r;
}

/* ---- memory ----------------------------------------------------------- */

static int run_small(struct polling *p)
{
	struct pollfd kernel[SMALL];
	struct pollee e[SMALL];

	p->kernel = kernel;
	p->e = e;
	return poll_run(p);
}

static int poll_run_big(struct polling *p)
{
	size_t first = p->n * sizeof(struct pollee);
	size_t len = first + p->n * sizeof(struct pollfd);
	void *mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int r;

	if (mem == MAP_FAILED)
		return -ENOMEM;
	p->e = mem;
	p->kernel = (void *)((char *)mem + first);
	r = poll_run(p);
	munmap(mem, len);
	return r;
}

int pollset_wait(struct pollfd *fds, unsigned n, tux_time ns,
		const sigset_t *mask, bool strict)
{
	struct polling p = {
		.fds = fds, .n = n, .strict = strict, .mask = mask,
		.until = timeout_until(ns, wait_now()),
	};

	int r;

	tux_defer_enter();
	r = n <= SMALL ? run_small(&p) : poll_run_big(&p);
	tux_defer_leave_masked(mask, r == -EINTR);
	return r;
}

/* ---- the calls -------------------------------------------------------- */

static bool any_ours(struct pollfd *fds, nfds_t n)
{
	for (nfds_t i = 0; i < n; i++)
		if (pollset_ours(fds[i].fd))
			return true;
	return false;
}

static int poll_ns(struct pollfd *fds, nfds_t n, tux_time ns,
		   const sigset_t *mask)
{
	return (int)libc_ret(pollset_wait(fds, (unsigned)n, ns, mask, false));
}

HOOK int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	if (!any_ours(fds, n))
		return libc.poll(fds, n, timeout);
	return poll_ns(fds, n, timeout_ms(timeout), NULL);
}

HOOK int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	       const sigset_t *mask)
{
	if (!timeout_valid(timeout) || !any_ours(fds, n))
		return libc.ppoll(fds, n, timeout, mask);
	return poll_ns(fds, n, timeout_ts(timeout), mask);
}

/* A set longer than its array is for libc to complain about. */
HOOK int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size)
{
	if (size / sizeof(*fds) < n || !any_ours(fds, n))
		return libc.__poll_chk(fds, n, timeout, size);
	return poll_ns(fds, n, timeout_ms(timeout), NULL);
}

HOOK int __ppoll_chk(struct pollfd *fds, nfds_t n,
		     const struct timespec *timeout, const sigset_t *mask,
		     size_t size)
{
	if (size / sizeof(*fds) < n || !timeout_valid(timeout) ||
	    !any_ours(fds, n))
		return libc.__ppoll_chk(fds, n, timeout, mask, size);
	return poll_ns(fds, n, timeout_ts(timeout), mask);
}
