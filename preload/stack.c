/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack.h"

#include <errno.h>
#include <sched.h>

#include "candidate.h"
#include "conf.h"
#include "loop/end.h"
#include "rest.h"
#include "say.h"
#include "sys/defer.h"
#include "sys/sys.h"
#include "wait.h"

enum { LOOK_MS = 1000 };	/* how often tuxd is looked for */

/* A start that failed is not tried again: every connection would pay for it.  One
 * that needs privilege or tuxd may succeed later. */
enum { NONE, STARTING, RUNNING, FAILED };

static struct tux_stack *_Atomic stack;
static _Atomic int state;
static _Atomic tux_time looked;		/* for tuxd, in vain; 0: never */

static void stack_on_ready(void *user, struct tux_wakes *wakes)
{
	sock_ready(user, wakes);
}

/* Of a peer that is silent once more there is nothing new to say. */
static void on_decided(void *user, bool tux, enum tux_reason why)
{
	struct sock *s = user;
	struct tux_grounds g = tux_end_grounds(s->end);
	bool again = s->rest.len && !tux && s->decided == why;

	s->decided = (uint8_t)why;
	candidate_decided(s, tux, why);
	if (!again)
		say_decided(s, tux, why, &g);
}

static void on_returned(void *user, tux_time until)
{
	struct sock *s = user;

	atomic_store(&s->rest_until, until);
	rest_told(s);
}

static void stack_on_gone(void *user)
{
	rest_told(user);
	sock_put(user);
}

/* The state that follows. */
static int stack_start(void)
{
	struct tux_stack_opts o = {
		.ifname = conf.iface,
		.io = conf.io,
		.threads = conf.threads,
		.loops = tux_sys_cpus(),
		.able = true,
		.attach_start = conf.attach_start,
		.yields = conf.path != TUX_PATH_MODE_TUX,
		.zerocopy = conf.zerocopy,
		.cc = conf.cc,
		.ready = stack_on_ready,
		.decided = on_decided,
		.gone = stack_on_gone,
		.returned = on_returned,
		.said = say_link,
	};
	struct tux_stack *s;
	int r;

	r = tux_stack_new(&s, &o);
	if (r == -EUNATCH) {
		atomic_store(&looked, wait_now());
		return NONE;
	}
	if (r < 0) {
		say_failed("start the network stack", -r);
		return FAILED;
	}
	atomic_store(&stack, s);
	return RUNNING;
}

struct tux_stack *preload_stack(void)
{
	return atomic_load_explicit(&stack, memory_order_acquire);
}

/* Was tuxd looked for a moment ago? */
static bool looked_lately(void)
{
	tux_time at = atomic_load_explicit(&looked, memory_order_relaxed);

	return at && wait_now() - at < TUX_MSEC(LOOK_MS);
}

static void stack_try(void)
{
	int none = NONE, saved = errno;

	tux_defer_enter();
	if (atomic_compare_exchange_strong(&state, &none, STARTING))
		atomic_store(&state, stack_start());
	tux_defer_leave();
	while (atomic_load(&state) == STARTING)
		sched_yield();
	errno = saved;
}

struct tux_stack *stack_get(enum tux_reason *why)
{
	if (!preload_stack() && !looked_lately())
		stack_try();
	if (why)
		*why = preload_stack() ? TUX_REASON_NONE :
		       atomic_load(&state) == FAILED ? TUX_REASON_NOT_STARTED :
						       TUX_REASON_NO_PRIVILEGE;
	return preload_stack();
}

void stack_end(tux_time for_ns)
{
	struct tux_stack *s = atomic_exchange(&stack, NULL);

	if (!s)
		return;
	tux_defer_enter();
	tux_channel_drain(s, for_ns);
	if (conf.verbose)
		tux_stack_count(s);
	tux_defer_leave();
}

void stack_forked(void)
{
	struct tux_stack *s = atomic_exchange(&stack, NULL);

	atomic_store(&state, NONE);
	if (s)
		tux_stack_forked(s);
}
