/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is on TCP is the kernel's to poll: the set is copied, and the copy asks
 * only for that.  What is on rings is looked at, and watched while we sleep.
 */
#include "poll_in.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "libc.h"
#include "sys/defer.h"
#include "timeout.h"

enum {				/* sets that fit the stack: */
	SMALL = 256,		/* what to ask the kernel, */
	FEW = 32,		/* ... and the socks */
};

/* ---- sleeping --------------------------------------------------------- */

static int poll_sleep_on(struct polling *p, struct waiting *t)
{
	int slept = 1, r;

	/* Something may have come before the watches were there. */
	r = poll_look(p);
	while (!r && slept > 0) {
		poll_arrange(p);
		slept = tux_channel_wait(preload_stack(), &t->w, p->kernel,
					 p->n, p->until, p->mask);
		wait_drain(t);
		r = poll_merge(p);
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

/* ---- a call ------------------------------------------------------------- */

static int poll_run(struct polling *p)
{
	int r;

	poll_find_socks(p);
	r = poll_look(p);
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

static void *poll_map(size_t len)
{
	void *mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static int poll_run_few(struct polling *p)
{
	struct pollee e[FEW];

	p->e = e;
	return poll_run(p);
}

static int poll_run_many(struct polling *p)
{
	size_t len = p->n * sizeof(struct pollee);
	int r;

	p->e = poll_map(len);
	if (!p->e)
		return -ENOMEM;
	r = poll_run(p);
	munmap(p->e, len);
	return r;
}

/* There is room for what to ask the kernel. */
static int poll_call(struct polling *p)
{
	int r;

	if (p->until && poll_quiet(p, &r))
		return r;
	return p->n <= FEW ? poll_run_few(p) : poll_run_many(p);
}

static int poll_call_small(struct polling *p)
{
	struct pollfd kernel[SMALL];

	p->kernel = kernel;
	return poll_call(p);
}

static int poll_call_big(struct polling *p)
{
	size_t len = p->n * sizeof(struct pollfd);
	int r;

	p->kernel = poll_map(len);
	if (!p->kernel)
		return -ENOMEM;
	r = poll_call(p);
	munmap(p->kernel, len);
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
	r = n <= SMALL ? poll_call_small(&p) : poll_call_big(&p);
	tux_defer_leave_masked(mask, r == -EINTR);
	return r;
}

/* ---- the calls -------------------------------------------------------- */

/* May one of them be an instance of ours?  Where there is no connection, that is
 * all there is to ask. */
static bool any_near(struct pollfd *fds, nfds_t n)
{
	uint64_t range = atomic_load(&ep_range);
	uint32_t low = (uint32_t)range, span = (uint32_t)(range >> 32) - low;

	for (nfds_t i = 0; i < n; i++)
		if ((uint32_t)fds[i].fd - low < span)
			return true;
	return false;
}

static bool any_ours(struct pollfd *fds, nfds_t n, bool sleeps)
{
	if (!pollset_any(sleeps) || (!fd_live && !any_near(fds, n)))
		return false;
	for (nfds_t i = 0; i < n; i++)
		if (pollset_asks(fds[i].fd, sleeps))
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
	if (!any_ours(fds, n, timeout))
		return libc.poll(fds, n, timeout);
	return poll_ns(fds, n, timeout_ms(timeout), NULL);
}

HOOK int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
	       const sigset_t *mask)
{
	if (!timeout_valid(timeout) || !any_ours(fds, n, timeout_ts(timeout)))
		return libc.ppoll(fds, n, timeout, mask);
	return poll_ns(fds, n, timeout_ts(timeout), mask);
}

/* A set longer than its array is for libc to complain about. */
HOOK int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size)
{
	if (size / sizeof(*fds) < n || !any_ours(fds, n, timeout))
		return libc.__poll_chk(fds, n, timeout, size);
	return poll_ns(fds, n, timeout_ms(timeout), NULL);
}

HOOK int __ppoll_chk(struct pollfd *fds, nfds_t n,
		     const struct timespec *timeout, const sigset_t *mask,
		     size_t size)
{
	if (size / sizeof(*fds) < n || !timeout_valid(timeout) ||
	    !any_ours(fds, n, timeout_ts(timeout)))
		return libc.__ppoll_chk(fds, n, timeout, mask, size);
	return poll_ns(fds, n, timeout_ts(timeout), mask);
}
