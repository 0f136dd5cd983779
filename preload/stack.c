/* SPDX-License-Identifier: BSD-2-Clause */
#include "stack.h"

#include <errno.h>
#include <sched.h>

#include "conf.h"
#include "loop/end.h"
#include "say.h"
#include "young.h"
#include "sys/defer.h"

/* A start that failed is not tried again: every connection would pay for it. */
enum { NONE, STARTING, RUNNING, FAILED };

static struct tux_stack *_Atomic stack;
static _Atomic int state;

static void stack_on_ready(void *user, struct tux_wakes *wakes)
{
	sock_ready(user, wakes);
}

static void on_decided(void *user, bool tux, enum tux_reason why)
{
	const struct sock *s = user;
	struct tux_grounds g = tux_end_grounds(s->end);

	young_decided(s, tux, why);
	say_decided(s, tux, why, &g);
}

static void stack_on_gone(void *user)
{
	sock_put(user);
}

static void stack_start(void)
{
	struct tux_stack_opts o = {
		.ifname = conf.iface,
		.io = conf.io,
		.threads = conf.threads,
		.attach_start = conf.attach_start,
		.yields = conf.path != TUX_PATH_MODE_TUX,
		.zerocopy = conf.zerocopy,
		.cc = conf.cc,
		.ready = stack_on_ready,
		.decided = on_decided,
		.gone = stack_on_gone,
		.said = say_link,
	};
	struct tux_stack *s;
	int saved = errno;
	int r = tux_stack_new(&s, &o);

	if (r < 0)
		say_failed("start the network stack", -r);
	else
		atomic_store(&stack, s);
	atomic_store(&state, r < 0 ? FAILED : RUNNING);
	errno = saved;
}

struct tux_stack *preload_stack(void)
{
	return atomic_load_explicit(&stack, memory_order_acquire);
}

struct tux_stack *stack_get(void)
{
	int none = NONE;

	if (preload_stack())
		return preload_stack();
	tux_defer_enter();
	if (atomic_compare_exchange_strong(&state, &none, STARTING))
		stack_start();
	tux_defer_leave();
	while (atomic_load(&state) == STARTING)
		sched_yield();
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
