/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stacks of the process: what becomes of them when it forks, and when it
 * exits.
 */
#include "api/process.h"

#include <pthread.h>
#include <signal.h>

#include "api/embed.h"
#include "api/listen.h"
#include "api/ring.h"
#include "api/turn.h"
#include "stack/channel.h"
#include "stack/stack_in.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"
#include "sys/take.h"

enum { EXIT_S = 1, LATCH_MS = 10 };

static struct tux_latch all_latch;
static struct tux_list all = { &all, &all };

/* ---- a child ---- */

/* Closes the descriptors of @t in the child, once: in a child of the child, other
 * files may have these numbers. */
static void forget(struct tux *t)
{
	struct tux_connection *c;
	struct tux_list *n;
	uint32_t i = 0;

	if (t->forked)
		return;
	t->forked = true;
	TUX_LIST_EACH(n, &t->services)
		tux_api_unlisten_forked(TUX_CONTAINER(n, struct tux_service,
						      node));
	while ((c = tux_api_next(t, &i))) {
		if (c->fd >= 0)
			tux_sys_close(c->fd);
		atomic_store(&c->closed, 1);
		atomic_store(&c->stage, TUX_STAGE_GONE);
	}
	for (i = 0; i < t->given_n; i++)
		tux_sys_close(t->given[i].fd);
	tux_api_unembed(t);
	tux_fd_close(t->w.fd);
	tux_fd_close(t->epfd);
	tux_api_ring_close(t);
	/* Once for all that are beside each other. */
	if (t->stack && !t->stack->forked)
		tux_stack_forked(t->stack);
}

static void in_child(void)
{
	struct tux_list *n;

	tux_latch_drop(&all_latch);
	TUX_LIST_EACH(n, &all)
		forget(TUX_CONTAINER(n, struct tux, node));
}

static void before_fork(void)
{
	tux_latch_take(&all_latch);
}

static void in_parent(void)
{
	tux_latch_drop(&all_latch);
}

static void mind_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

/* ---- the end ---- */

/* Callbacks do not run any more.  If this thread has the loop, the helper could
 * not drive it. */
static void begin_to_exit(struct tux *t)
{
	if (!tux_api_is_own(t))
		return;
	atomic_store(&t->exits, true);
	if (tux_sched_runs_here(t->sched) && !t->in_turn)
		tux_api_release(t);
}

static void send_rest(struct tux *t, tux_time until)
{
	if (tux_api_is_own(t) && t->stack)
		tux_channel_drain(t->stack,
				  tux_time_since(tux_clock_read(), until));
}

static void send_all(void)
{
	tux_time until = tux_clock_read() + TUX_SEC(EXIT_S);
	struct tux_list *n;

	TUX_LIST_EACH(n, &all)
		begin_to_exit(TUX_CONTAINER(n, struct tux, node));
	TUX_LIST_EACH(n, &all)
		send_rest(TUX_CONTAINER(n, struct tux, node), until);
}

/* exit() calls this after the handlers and destructors of the program.  If a
 * callback has called exit(), signals stay blocked until the process has ended: a
 * tick would preempt the callback, and the network thread continues none now. */
static __attribute__((destructor(101))) void process_fini(void)
{
	bool inside = tux_sched_inside();
	sigset_t every;

	if (tux_list_empty(&all))
		return;
	sigfillset(&every);
	tux_sched_enter();
	if (inside)
		tux_sys_sigmask(SIG_SETMASK, &every, NULL);
	if (tux_latch_take_within(&all_latch, TUX_MSEC(LATCH_MS))) {
		send_all();
		tux_latch_drop(&all_latch);
	}
	if (!inside)
		tux_sched_leave();
}

/* ---- the list ---- */

void tux_api_enrol(struct tux *t)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, mind_forks);
	tux_sched_enter();
	tux_latch_take(&all_latch);
	tux_list_push(&all, &t->node);
	tux_latch_drop(&all_latch);
	tux_sched_leave();
}

void tux_api_strike_off(struct tux *t)
{
	tux_sched_enter();
	tux_latch_take(&all_latch);
	tux_list_remove(&t->node);
	tux_latch_drop(&all_latch);
	tux_sched_leave();
}
