/* SPDX-License-Identifier: BSD-2-Clause */
#include "sock/stack.h"

#include <errno.h>

#include "ground/conf.h"
#include "loop/end.h"
#include "sock/candidate.h"
#include "sock/holders.h"
#include "sock/option.h"
#include "sock/say.h"
#include "sock/stage.h"
#include "sock/unclaim.h"
#include "sys/clock.h"
#include "sys/deep.h"
#include "sys/defer.h"
#include "sys/sys.h"
#include "sys/take.h"

/* A start that failed is tried again, because tuxd may be loaded, or a port or
 * a descriptor free by then; but not for every connection, which would pay for
 * it. */
enum { AGAIN_MS = 1000 };

enum { NONE, STARTING, RUNNING, OVER };

static _Atomic int state;
static struct tux_stack *started;	/* also in a child that is new, which finds no
					 * process_here.stack */
static _Atomic tux_time failed_at;	/* 0: never */
static _Atomic int failed_for = TUX_REASON_NOT_STARTED;

static void stack_on_ready(void *user, struct tux_wakes *wakes)
{
	sock_ready(user, wakes);
}

/* Of a peer that is silent once more there is nothing new to say, nor of a
 * connection that may move now. */
static void on_decided(void *user, bool tux, enum tux_reason why)
{
	struct sock *s = user;
	struct tux_grounds g = tux_end_grounds(s->end);
	bool news = tux || (why && !(s->pause.len && s->decided == why));

	s->decided = (uint8_t)why;
	candidate_decided(s, tux, why);
	if (news)
		say_decided(s, tux, why, &g);
}

static void give_options(void *user, int fd)
{
	option_give(user, fd);
}

static bool on_sleeps(void *user, const struct tux_carried *c)
{
	return unclaim_slept(user, c);
}

/* Threads in the middle of a call go on with the kernel's, or, of a connection that may
 * move again, as they are. */
static void on_recalled(void *user, bool asleep)
{
	struct sock *s = user;

	tux_end_with_fd(s->end, give_options, s);
	if (asleep || stage_try(s, SOCK_CLAIMED, SOCK_PLAIN))
		sock_ring(s);
	if (!asleep)
		holders_set_plain(s->holders);
}

static void on_returned(void *user, tux_time until)
{
	struct sock *s = user;

	atomic_store(&s->pause_until, until);
	unclaim_ask(s);
}

static void stack_on_gone(void *user)
{
	unclaim_ask(user);
	sock_put(user);
}

/* Of the same error there is nothing new to say. */
static void stack_failed(int err)
{
	static int said;
	bool lacks = err == -EUNATCH;

	if (!lacks && err != said)
		say_failed("start the network stack", -err);
	said = err;
	atomic_store(&failed_for, lacks ? TUX_REASON_NO_PRIVILEGE :
					  TUX_REASON_NOT_STARTED);
	atomic_store(&failed_at, tux_clock_read());
}

/* Stores the state that follows. */
static void stack_start(void *arg)
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
		.sleeps = on_sleeps,
		.recalled = on_recalled,
		.said = say_link,
	};
	struct tux_stack *s;
	int r;

	(void)arg;
	r = tux_stack_new(&s, &o);
	if (r < 0) {
		stack_failed(r);
		atomic_store(&state, NONE);
		return;
	}
	started = s;
	atomic_store(&process_here.stack, s);
	atomic_store(&state, RUNNING);
}

static bool failed_lately(void)
{
	tux_time at = atomic_load_explicit(&failed_at, memory_order_relaxed);

	return at && tux_clock_read() - at < TUX_MSEC(AGAIN_MS);
}

static void stack_try(void)
{
	int none = NONE, saved = errno;

	tux_defer_enter();
	if (atomic_compare_exchange_strong(&state, &none, STARTING) &&
	    tux_deep_call(stack_start, NULL)) {
		stack_failed(-ENOMEM);
		atomic_store(&state, NONE);
	}
	tux_defer_leave();
	for (unsigned i = 1; atomic_load(&state) == STARTING; i++)
		tux_await(i);
	errno = saved;
}

struct tux_stack *stack_get(enum tux_reason *why)
{
	if (!preload_stack() && !failed_lately())
		stack_try();
	if (why)
		*why = preload_stack() ? TUX_REASON_NONE :
		       (enum tux_reason)atomic_load(&failed_for);
	return preload_stack();
}

void stack_end(tux_time for_ns)
{
	struct tux_stack *s = atomic_exchange(&process_here.stack, NULL);

	started = NULL;
	if (!s)
		return;
	tux_defer_enter();
	tux_channel_drain(s, for_ns);
	if (conf.verbose)
		tux_stack_count(s);
	tux_defer_leave();
}

void stack_leave(void)
{
	struct tux_stack *s;
	int is = RUNNING;

	/* Another thread may be about to start it. */
	for (unsigned i = 1;
	     !atomic_compare_exchange_strong(&state, &is, OVER); i++) {
		if (is == STARTING) {
			tux_await(i);
			is = RUNNING;
		}
	}
	s = atomic_exchange(&process_here.stack, NULL);
	started = NULL;
	if (s)
		tux_stack_leave(s);
}

void stack_forks(void)
{
	if (preload_stack())
		tux_stack_forks(preload_stack());
}

void stack_forked(void)
{
	struct tux_stack *s = started;

	started = NULL;
	atomic_store(&process_here.stack, NULL);
	if (atomic_load(&state) != OVER)
		atomic_store(&state, NONE);
	if (s)
		tux_stack_forked(s);
}
