/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/hand_over.h"

#include <linux/futex.h>
#include <sys/epoll.h>

#include "api/connection.h"
#include "api/sleep.h"
#include "api/turn.h"
#include "sys/clock.h"
#include "sys/sys.h"
#include "sys/take.h"

enum {
	LOOK_MS = 50,			/* from one look to the next; */
	PAUSE_MS = 1000,		/* if a loop could not leave, */
	WAIT_MS = 20,			/* which was waited for so long */
	FULL = 1000,			/* all of the time, in a share */
};

/* ---- looks ---- */

static unsigned share_of(tux_tick spent, tux_time in)
{
	tux_time ns = tux_time_min(tux_tick_ns(spent), in);

	return in ? (unsigned)(ns * FULL / in) : 0;
}

/* What loop @t has taken of the time, ever. */
static tux_tick spent_by(const struct tux *t, tux_tick now)
{
	tux_tick spent = atomic_load_explicit(&t->spent, memory_order_relaxed);
	tux_tick since = atomic_load_explicit(&t->slice_since,
					      memory_order_relaxed);

	return since && since < now ? spent + (now - since) : spent;
}

/* What each loop has taken since the last look, into @share; NULL. */
static void look_begin(struct tux_threads *a, unsigned *share)
{
	tux_time now = tux_clock_read(), in = tux_time_since(a->looked_at, now);
	tux_tick tick = tux_tick_read();
	unsigned i;

	for (i = 0; i < a->n; i++) {
		tux_tick spent = spent_by(a->loop[i], tick);

		if (share)
			share[i] = spent > a->seen[i] ?
				   share_of(spent - a->seen[i], in) : 0;
		a->seen[i] = spent;
	}
	a->looked_at = now;
	atomic_store(&a->look_at, now + TUX_MSEC(LOOK_MS));
}

/* Is loop @t to go to another thread? */
static bool is_to_move(const struct tux_threads *a, const struct tux *t)
{
	return a->scale.thread[t->number] != atomic_load(&t->thread);
}

static void begin_moves(struct tux_threads *a)
{
	unsigned i;

	a->left = a->stayed = false;
	atomic_store(&a->move_until, a->looked_at + TUX_MSEC(WAIT_MS));
	for (i = 0; i < a->n; i++)
		if (is_to_move(a, a->loop[i])) {
			atomic_fetch_add(&a->moves, 1);
			tux_api_ring(a->loop[i]);
		}
}

static void look(struct tux_threads *a, tux_time now)
{
	unsigned share[TUX_THREADS_MAX];

	tux_latch_take(&a->latch);
	if (now >= atomic_load(&a->look_at) && !atomic_load(&a->moves) &&
	    !atomic_load(&a->ends)) {
		look_begin(a, share);
		a->before = a->scale;
		if (tux_scale_look(&a->scale, share))
			begin_moves(a);
	}
	tux_latch_drop(&a->latch);
}

/* ---- moves ---- */

/* The loops of @x have changed: its scheduler's links follow. */
static void link_loops(struct tux_thread *x)
{
	struct tux *t;

	for (t = x->runs; t; t = t->next_run)
		tux_sched_link(t->sched,
			       t->next_run ? t->next_run->sched : NULL);
}

/* It may be asleep with any of its loops, or without one. */
static void call(struct tux_thread *x)
{
	struct tux_threads *a = x->all;
	unsigned i;

	atomic_store(&x->called, 1);
	tux_sys_futex(&x->called, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL);
	for (i = 0; i < a->n; i++)
		if (atomic_load(&a->loop[i]->thread) == x->number)
			tux_api_ring(a->loop[i]);
}

/* Nothing of the thread's is in it any more. */
static void leave_thread(struct tux_thread *x, struct tux *t)
{
	tux_sched_hold(t->sched, false);
	tux_api_awake(t);
	tux_api_set_timer(t, TUX_NEVER);
	if (t->nested)
		tux_sys_epoll_ctl(t->first->fd, EPOLL_CTL_DEL, t->fd, NULL);
	t->nested = false;
	tux_api_release(t);
	tux_sched_part(t->sched, x->runs ? x->runs->sched : NULL);
}

static void hand_to(struct tux_threads *a, struct tux *t)
{
	struct tux_thread *to = &a->at[atomic_load(&t->thread)];

	t->next_run = to->given;
	to->given = t;
	atomic_fetch_add(&a->moved, 1);
	call(to);
}

/* Its callbacks may wait for what only this loop does: so they begin again. */
static void stay(struct tux_threads *a, struct tux *t)
{
	tux_sched_hold(t->sched, false);
	tux_api_ring(t);
	a->scale.thread[t->number] = (uint8_t)atomic_load(&t->thread);
}

/* A loop has moved, or stays.  What the loops took meanwhile says little.  Thread 0
 * sleeps until the next look, if one is due. */
static void move_ends(struct tux_threads *a, bool left)
{
	a->left |= left;
	a->stayed |= !left;
	if (atomic_fetch_sub(&a->moves, 1) > 1)
		return;
	if (!a->left)
		tux_scale_undo(&a->scale, &a->before);
	atomic_store(&a->running, tux_scale_threads(&a->scale));
	look_begin(a, NULL);
	if (a->stayed)
		atomic_store(&a->look_at,
			     a->looked_at + TUX_MSEC(PAUSE_MS));
	tux_api_ring(a->loop[0]);
}

/* Are its callbacks where they can go on in another thread?  Between turns, thread 0
 * runs code of the program, which may want a lock of libc that one of them has. */
static bool callbacks_may_leave(const struct tux *t, unsigned to)
{
	if (!tux_sched_has_storage(t->sched))
		return !tux_sched_stats(t->sched)->routines;
	return to || !tux_sched_in_critical(t->sched);
}

/* May it go now?  Then it is the other thread's: see runs_elsewhere() in
 * request.c. */
static bool may_leave(const struct tux_threads *a, struct tux *t)
{
	bool may;

	if (!callbacks_may_leave(t, a->scale.thread[t->number]))
		return false;
	tux_latch_take(&t->go_latch);
	may = tux_list_empty(&t->requests) && !t->outside_n;
	if (may)
		atomic_store(&t->thread, a->scale.thread[t->number]);
	tux_latch_drop(&t->go_latch);
	return may;
}

/* False: the loop of @x has left. */
static bool stays_here(struct tux_thread *x, struct tux *t)
{
	struct tux_threads *a = x->all;

	if (!is_to_move(a, t))
		return true;
	if (may_leave(a, t))
		return false;
	if (tux_clock_read() >= atomic_load(&a->move_until)) {
		stay(a, t);
		move_ends(a, false);
	} else {
		tux_sched_hold(t->sched, true);
		x->holds = true;
	}
	return true;
}

static void give_away(struct tux_thread *x)
{
	struct tux **p = &x->runs, *t;

	x->holds = false;
	while ((t = *p)) {
		if (stays_here(x, t)) {
			p = &t->next_run;
			continue;
		}
		*p = t->next_run;
		leave_thread(x, t);
		hand_to(x->all, t);
		move_ends(x->all, true);
	}
	link_loops(x);
}

void tux_api_hand_over_give(struct tux_thread *x, tux_time now)
{
	struct tux_threads *a = x->all;

	if (!a->scales)
		return;
	if (atomic_load_explicit(&a->moves, memory_order_relaxed)) {
		tux_latch_take(&a->latch);
		if (!atomic_load(&a->ends))
			give_away(x);
		tux_latch_drop(&a->latch);
	} else if (now >= atomic_load_explicit(&a->look_at,
					       memory_order_relaxed)) {
		look(a, now);
	}
}

void tux_api_hand_over_take(struct tux_thread *x)
{
	struct tux **p = &x->runs;

	tux_latch_take(&x->all->latch);
	atomic_store(&x->called, 0);
	while (*p)
		p = &(*p)->next_run;
	*p = x->given;
	x->given = NULL;
	tux_latch_drop(&x->all->latch);
	link_loops(x);
}

void tux_api_hand_over_wait(struct tux_thread *x)
{
	while (!atomic_load(&x->called) && !atomic_load(&x->all->ends))
		tux_sys_futex(&x->called, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0,
			      NULL);
}

tux_time tux_api_hand_over_deadline(const struct tux_thread *x)
{
	const struct tux_threads *a = x->all;
	bool moves = atomic_load(&a->moves);

	if (!a->scales)
		return TUX_NEVER;
	if (moves)
		return x->holds ? atomic_load(&a->move_until) : TUX_NEVER;
	/* With fewer threads there is nothing to be saved. */
	return !x->number && atomic_load(&a->running) > a->scale.least ?
	       atomic_load(&a->look_at) : TUX_NEVER;
}

/* ---- all of them ---- */

/* More threads than processors would only wait for each other. */
void tux_api_hand_over_init(struct tux *t)
{
	struct tux_threads *a = t->threads;
	unsigned least = t->o.threads_min, most = tux_sys_cpus(), i;

	if (!least)
		least = a->n;
	if (most < least)
		most = least;
	if (most > a->n)
		most = a->n;
	a->scales = least < most;
	a->ends = true;
	a->running = least;
	tux_scale_init(&a->scale, a->n, least, most);
	for (i = a->n; i--;) {
		struct tux_thread *x = &a->at[a->scale.thread[i]];

		a->loop[i]->thread = x->number;
		a->loop[i]->next_run = x->runs;
		x->runs = a->loop[i];
	}
	for (i = 0; i < a->n; i++)
		link_loops(&a->at[i]);
}

void tux_api_hand_over_begin(struct tux_threads *a)
{
	tux_latch_take(&a->latch);
	atomic_store(&a->ends, false);
	look_begin(a, NULL);
	tux_latch_drop(&a->latch);
}

static void move_no_more(struct tux_threads *a)
{
	unsigned i;

	atomic_store(&a->moves, 0);
	for (i = 0; i < a->n; i++)
		a->scale.thread[i] = (uint8_t)atomic_load(&a->loop[i]->thread);
	atomic_store(&a->running, tux_scale_threads(&a->scale));
}

void tux_api_hand_over_end(struct tux_threads *a)
{
	unsigned i;

	tux_latch_take(&a->latch);
	if (!atomic_exchange(&a->ends, true)) {
		move_no_more(a);
		for (i = 0; i < a->n; i++)
			call(&a->at[i]);
	}
	tux_latch_drop(&a->latch);
}

void tux_api_hand_over_leave(struct tux_thread *x)
{
	struct tux *t;

	tux_api_hand_over_take(x);
	x->holds = false;
	for (t = x->runs; t; t = t->next_run)
		tux_sched_hold(t->sched, false);
}
