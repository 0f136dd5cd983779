/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/request.h"

#include <linux/futex.h>

#include "api/connection.h"
#include "api/threads.h"
#include "sys/sys.h"
#include "sys/take.h"

/* On the stack of the caller. */
struct request {
	struct tux_list node;		/* in t->requests */
	void (*fn)(void *arg);
	void *arg;
	struct tux_routine *r;		/* that waits; NULL: a thread */
	_Atomic uint32_t over;
};

/* ---- the caller ---- */

/* With t->go_latch, which hand_over.c takes, too, before @t goes to another
 * thread: a loop that has a request stays.  So it does not come to thread 0 while
 * that waits for it outside of routines, where thread 0 could not take it. */
static bool runs_elsewhere(const struct tux *t)
{
	const struct tux *here = tux_api_here(t);

	if (here)
		return here != t;
	return t != t->first && tux_api_threads_run(t->first) &&
	       !tux_api_is_ours(t);
}

/* False: the caller does it itself. */
static bool request_put(struct tux *t, struct request *q)
{
	bool put;

	tux_latch_take(&t->go_latch);
	put = runs_elsewhere(t);
	if (put)
		tux_list_push(&t->requests, &q->node);
	tux_latch_drop(&t->go_latch);
	if (put)
		tux_api_ring(t);
	else if (t != t->first && !tux_sched_inside())
		tux_api_threads_settle(t->first->threads);
	return put;
}

/* request_tell() uses the request until it has dropped the latch: so the caller
 * takes the latch once before the request goes. */
static void request_wait(struct tux *t, struct request *q)
{
	while (!atomic_load(&q->over))
		if (q->r)
			tux_sched_block();
		else
			tux_sys_futex(&q->over, FUTEX_WAIT | FUTEX_PRIVATE_FLAG,
				      0, NULL);
	tux_latch_take(&t->go_latch);
	tux_latch_drop(&t->go_latch);
}

void tux_api_do(struct tux *t, void (*fn)(void *arg), void *arg)
{
	struct request q = { .fn = fn, .arg = arg, .r = tux_sched_self() };

	tux_sched_enter();
	if (request_put(t, &q))
		request_wait(t, &q);
	else
		fn(arg);
	tux_sched_leave();
}

/* ---- the loop ---- */

static void request_tell(struct tux *t, struct request *q)
{
	tux_latch_take(&t->go_latch);
	atomic_store(&q->over, 1);
	if (q->r)
		tux_sched_wake(q->r);
	else
		tux_sys_futex(&q->over, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1,
			      NULL);
	tux_latch_drop(&t->go_latch);
}

void tux_api_requests_do(struct tux *t)
{
	struct tux_list *n;

	while ((n = tux_api_take_first(t, &t->requests))) {
		struct request *q = TUX_CONTAINER(n, struct request, node);

		q->fn(q->arg);
		request_tell(t, q);
	}
}

void tux_api_requests_forget(struct tux *t)
{
	tux_list_init(&t->requests);
}
