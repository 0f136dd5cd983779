/* SPDX-License-Identifier: BSD-2-Clause */
#include "wait/pollset.h"

#include <errno.h>
#include <string.h>

#include "ground/buffer.h"
#include "ground/libc.h"
#include "ground/process.h"
#include "ground/timeout.h"
#include "sock/ready.h"
#include "sys/clock.h"
#include "sys/defer.h"
#include "wait/poll_look.h"
#include "wait/poll_plain.h"
#include "wait/transfer.h"
#include "wait/wait.h"

enum { FEW = 16 };		/* on the stack; a longer set is in a buffer */

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
		wait_watch(t, p->e[j].sock, p->fds[p->e[j].i].events,
			   &p->e[j].watch);
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

	if (p->until)
		transfer_found_nothing = false;
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

static int poll_call(struct polling *p, struct pollfd *kernel, struct pollee *e)
{
	int r;

	p->kernel = kernel;
	p->e = e;
	return p->until && poll_plain(p, &r) ? r : poll_run(p);
}

static int poll_call_few(struct polling *p)
{
	struct pollfd kernel[FEW];
	struct pollee e[FEW];

	return poll_call(p, kernel, e);
}

static int poll_call_many(struct polling *p)
{
	size_t len = p->n * (sizeof(struct pollfd) + sizeof(struct pollee));
	struct pollee *e = buffer_take(len);
	int r;

	if (!e)
		return -ENOMEM;
	r = poll_call(p, (void *)(e + p->n), e);
	buffer_give(e, len);
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
	r = n <= FEW ? poll_call_few(&p) : poll_call_many(&p);
	tux_defer_leave_masked(mask, r == -EINTR);
	return r;
}
