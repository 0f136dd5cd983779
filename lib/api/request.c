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

/* The first loop's thread calls from outside of routines, or none of the stack's
 * runs. */
static bool runs_elsewhere(const struct tux *t)
{
	const struct tux *here = tux_api_here(t);

	return here ? here != t : t != t->first && tux_api_threads_run(t->first);
}

static void request_put(struct tux *t, struct request *q)
{
	tux_latch_take(&t->go_latch);
	tux_list_push(&t->requests, &q->node);
	tux_latch_drop(&t->go_latch);
	tux_api_ring(t);
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
	if (runs_elsewhere(t)) {
		request_put(t, &q);
		request_wait(t, &q);
	} else {
		fn(arg);
	}
	tux_sched_leave();
}

/* ---- the loop ---- */

static struct request *request_take(struct tux *t)
{
	struct request *q = NULL;

	tux_latch_take(&t->go_latch);
	if (!tux_list_empty(&t->requests)) {
		q = TUX_CONTAINER(t->requests.next, struct request, node);
		tux_list_remove(&q->node);
	}
	tux_latch_drop(&t->go_latch);
	return q;
}

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
	struct request *q;

	while ((q = request_take(t))) {
		q->fn(q->arg);
		request_tell(t, q);
	}
}

void tux_api_requests_forget(struct tux *t)
{
	tux_list_init(&t->requests);
}
