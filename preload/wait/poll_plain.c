/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/poll_plain.h"

#include "ground/process.h"
#include "sock/fd.h"
#include "sock/ready.h"
#include "sys/clock.h"
#include "wait/epoll.h"
#include "wait/wait.h"

/* Has claimed @fd nothing that the kernel does not know?  Bytes may have come
 * by a ring before the direction went back to TCP. */
static bool claimed_plain(int fd)
{
	struct sock *s = sock_get(fd);
	struct ready r;

	bool own;

	if (!s)
		return false;
	own = s->epoch == process_here.epoch;
	r = ready_of(s);
	sock_put(s);
	return own && !r.now && (r.tcp & READY_ALWAYS);
}

/* Is @s of @fd, of which no reference is held, the kernel's to poll for now? */
static bool sock_plain(const struct sock *s, int fd)
{
	uint8_t stage = atomic_load_explicit(&s->stage, memory_order_acquire);
	uint8_t looks = atomic_load_explicit(&s->plain_looks,
					     memory_order_relaxed);

	if (looks < READY_PLAIN || atomic_load(&s->path))
		return false;
	return stage == SOCK_CANDIDATE ||
	       (stage == SOCK_CLAIMED && claimed_plain(fd));
}

static bool all_plain(const struct polling *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		int fd = p->fds[i].fd;
		const struct sock *s = fd_peek(fd);

		if (s ? poll_ours(fd) && !sock_plain(s, fd) :
			ep_peek(fd) != NULL)
			return false;
	}
	return true;
}

/* What the kernel has told of sockets on TCP; how many have something for the
 * caller.  That of a claimed one may be the mark that it moves. */
static int merge_plain(struct polling *p)
{
	int ready = 0;

	for (unsigned i = 0; i < p->n; i++) {
		struct pollfd *k = &p->kernel[i];
		struct sock *s = k->revents ? sock_get(k->fd) : NULL;
		struct ready r;

		if (s && !(k->revents & POLLNVAL))
			k->revents = (short)ready_told(s, k->fd,
						       (uint16_t)k->revents, &r);
		if (s)
			sock_put(s);
		ready += poll_answer(p, i, k->revents);
	}
	return ready;
}

static int sleep_plain(struct polling *p, struct waiting *t)
{
	int r;

	poll_arrange(p);
	r = tux_channel_wait(NULL, &t->w, p->kernel, p->n, p->until, p->mask);
	return r < 0 ? r : merge_plain(p);
}

bool poll_plain(struct polling *p, int *r)
{
	struct watch w;
	struct waiting *t;
	bool slept = false;

	if (!all_plain(p))
		return false;
	t = wait_take();
	if (!t)
		return false;
	wait_watch_all(t, &w);
	if (all_plain(p)) {
		*r = sleep_plain(p, t);
		slept = *r || tux_clock_read() >= p->until;
	}
	sock_unwatch_all(&w);
	wait_give(t);
	return slept;
}
