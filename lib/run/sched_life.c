/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scheduler's making and its end.
 */
#include "run/sched.h"

#include <errno.h>
#include <stdlib.h>

#include "run/blocking.h"
#include "run/forked.h"
#include "run/hook.h"
#include "run/overflow.h"
#include "run/preempt.h"
#include "run/routine.h"
#include "run/sched_in.h"
#include "run/setxid.h"
#include "tick/exe.h"

enum {
	SLICE_US = 100,
	STACK_LEN = 256 * 1024,
	ROUTINES_MAX = 1024,
};

static _Atomic bool ever;

static void *heap_alloc(void *arg, size_t len)
{
	(void)arg;
	return calloc(1, len);
}

static void heap_free(void *arg, void *p)
{
	(void)arg;
	free(p);
}

static const struct tux_mem heap_mem = { heap_alloc, heap_free, NULL };

static void set_opts(struct tux_sched *s, const struct tux_sched_opts *o)
{
	s->o = *o;
	if (!s->o.slice)
		s->o.slice = TUX_USEC(SLICE_US);
	if (!s->o.stack_len)
		s->o.stack_len = STACK_LEN;
	if (!s->o.routines_max)
		s->o.routines_max = ROUTINES_MAX;
	s->slice = tux_tick_of(s->o.slice);
	s->most = s->slice / 10 * 9;
}

/* Why not; NULL: it can. */
static const char *cannot_preempt(struct tux_sched *s)
{
	if (TUX_FIBERS)
		return "callbacks are not preempted: a sanitizer is watching";
	if (!TUX_HOOKED)
		return "callbacks are not preempted: --disable-preemption";
	if (!s->tls)
		return "callbacks are not preempted: no FSGSBASE";
	s->sig = tux_preempt_init();
	if (s->sig < 0)
		return "callbacks are not preempted: no signal is free";
	return NULL;
}

static void set_preempt(struct tux_sched *s)
{
	const char *why = s->o.preempt ? cannot_preempt(s) : NULL;

	if (why)
		tux_sched_say(s, why);
	s->preempt = s->o.preempt && !why;
	if (s->preempt)
		tux_exe_critical();
	s->watch.slice = s->slice;
	tux_list_init(&s->watch.node);
}

static int lend(struct tux_sched *s)
{
	struct tux_donors_opts d = {
		.size = sizeof(struct tux_routine),
		.stack_len = s->o.stack_len,
		.max = s->o.routines_max,
		.parks = tux_routine_parks,
		.ends = tux_routine_ends,
		.called = tux_blocking_run,
		.more = s->o.wake,
		.arg = s->o.arg,
	};

	return tux_donors_init(&s->donors, &d);
}

int tux_sched_new(struct tux_sched **sp, const struct tux_sched_opts *o)
{
	struct tux_sched *s;
	int err = tux_switch_check();

	if (err)
		return err;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	ever = true;
	tux_tick_init();
	set_opts(s, o);
	s->opened_by = tux_sched_number();
	s->tls = tux_switch_has_tls();
	set_preempt(s);
	/* Where callbacks are never to be preempted, they have the thread's own. */
	s->tls = s->tls && s->o.preempt;
	tux_overflow_init();
	tux_list_init(&s->fresh);
	tux_list_init(&s->ready);
	tux_list_init(&s->idle);
	tux_heap_init(&s->asleep, &heap_mem);
	err = tux_forked_init();
	/* No allocation later: the network thread would wait for a lock that a
	 * preempted routine may hold. */
	if (!err)
		err = tux_heap_reserve(&s->asleep, s->o.routines_max);
	if (!err)
		err = lend(s);
	tux_setxid_init();
	if (err) {
		tux_heap_fini(&s->asleep);
		free(s);
		return err;
	}
	*sp = s;
	return 0;
}

bool tux_sched_ever(void)
{
	return ever;
}

void tux_sched_free(struct tux_sched *s)
{
	if (!s)
		return;
	tux_sched_back(s);
	if (s->preempt && s->thread)
		tux_watch_remove(&s->watch);
	tux_overflow_close(s->net_stack);
	tux_donors_fini(&s->donors);
	tux_heap_fini(&s->asleep);
	free(s);
}
