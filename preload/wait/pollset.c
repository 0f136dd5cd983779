/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/pollset.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ground/libc.h"
#include "ground/process.h"
#include "ground/timeout.h"
#include "sock/ready.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "wait/poll_look.h"
#include "wait/poll_quiet.h"
#include "wait/wait.h"

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
	/* What was ready may move to Tux in this turn, and not have come
	 * there. */
	if (r > 0 && ready_turn(NULL, tux_clock_read()))
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
		.until = timeout_until(ns, tux_clock_read()),
	};
	int r;

	tux_defer_enter();
	r = n <= SMALL ? poll_call_small(&p) : poll_call_big(&p);
	tux_defer_leave_masked(mask, r == -EINTR);
	return r;
}
