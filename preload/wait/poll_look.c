/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/poll_look.h"

#include <errno.h>

#include "ground/libc.h"
#include "sock/claim.h"
#include "sock/fd.h"
#include "sock/ready.h"
#include "sys/alone.h"
#include "wait/epoll.h"
#include "wait/epoll_nest.h"

bool poll_ours(int fd)
{
	struct sock *s = fd_peek(fd);
	uint8_t stage;

	if (!s)
		return ep_peek(fd) && nest_polled(fd);
	stage = atomic_load_explicit(&s->stage, memory_order_acquire);
	return stage == SOCK_CANDIDATE || stage == SOCK_CLAIMING ||
	       stage == SOCK_CLAIMED || stage == SOCK_LOST;
}

/* Another thread may claim a candidate while this one sleeps in the kernel. */
bool poll_asks(int fd, bool sleeps)
{
	struct sock *s = fd_peek(fd);

	if (s && atomic_load(&s->stage) == SOCK_CANDIDATE)
		return sleeps && !tux_alone();
	return poll_ours(fd);
}

/* ---- one look --------------------------------------------------------- */

/* The sock of @fd, claimed or on the way to it: still connecting, it may be
 * claimed by somebody else while we sleep. */
static struct sock *sock_of(int fd)
{
	struct sock *s = sock_claimed(fd);

	if (s || !poll_ours(fd))
		return s;
	return sock_get(fd);
}

/* Whoever asked whether the call concerns us has stopped at the first that does:
 * instances behind it may not know yet that they are polled. */
void poll_find_socks(struct polling *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		int fd = p->fds[i].fd;
		struct sock *s = fd_peek(fd) ? sock_of(fd) : NULL;
		const struct ep *ep;

		if (!s) {
			ep = ep_peek(fd);
			if (ep && !ep->nested)
				nest_polled(fd);
			continue;
		}
		p->e[p->m].sock = s;
		p->e[p->m].i = i;
		p->m++;
	}
}

/* One more look has found @s with what @tcp says. */
static void count_plain(struct sock *s, uint32_t tcp)
{
	uint8_t n = atomic_load_explicit(&s->plain_looks, memory_order_relaxed);

	if (!(tcp & READY_ALWAYS))
		n = 0;
	else if (n < READY_PLAIN)
		n++;
	atomic_store_explicit(&s->plain_looks, n, memory_order_relaxed);
}

bool poll_arrange(struct polling *p)
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

		count_plain(p->e[j].sock, tcp);
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
	if ((k->revents & READY_BYTES) && !nest_true(k->fd))
		return (short)(k->revents & ~READY_BYTES);
	return k->revents;
}

bool poll_answer(struct polling *p, unsigned i, short got)
{
	struct pollfd *f = &p->fds[i], *k = &p->kernel[i];

	f->revents = (short)(got & poll_wanted(p, f->events));
	if (p->strict && (k->revents & (POLLERR | POLLHUP)) && !f->revents)
		f->fd = -1;
	return f->revents;
}

int poll_merge(struct polling *p)
{
	struct pollee *e = p->e, *end = p->e + p->m;
	int ready = 0;

	for (unsigned i = 0; i < p->n; i++) {
		struct pollfd *f = &p->fds[i], *k = &p->kernel[i];
		bool ours = e < end && e->i == i;
		short got;

		if (!ours)
			got = plain_revents(k);
		else if (f->fd < 0)	/* poll_answer() */
			got = 0;
		else
			got = sock_revents(e, k, f->fd);
		e += ours;
		ready += poll_answer(p, i, got);
	}
	return ready;
}

int poll_look(struct polling *p)
{
	if (poll_arrange(p) && libc.poll(p->kernel, p->n, 0) < 0)
		return -errno;
	return poll_merge(p);
}
