/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls that wait for room: routines and threads.
 */
#include "api/wait.h"

#include <linux/futex.h>

#include "api/deliver.h"
#include "api/threads.h"
#include "sys/clock.h"
#include "sys/sys.h"
#include "sys/take.h"

/* The caller is in no routine.  A network thread that sleeps makes no room, and one
 * that does not run makes none either. */
static bool makes_no_room(const struct tux *t)
{
	return tux_sched_is_here(t->first->sched) &&
	       (!tux_api_threads_run(t->first) || tux_api_is_ours(t));
}

/* Thread 0 waits outside of routines: the loop of @w must not come to it
 * meanwhile. */
static void pin_loop(struct tux_wait *w)
{
	struct tux *t = w->t;

	w->pins = !w->r && t->first->threads &&
		  tux_sched_is_here(t->first->sched);
	if (!w->pins)
		return;
	tux_latch_take(&t->go_latch);
	t->outside_n++;
	tux_latch_drop(&t->go_latch);
}

static void unpin_loop(struct tux_wait *w)
{
	struct tux *t = w->t;

	if (!w->pins)
		return;
	tux_latch_take(&t->go_latch);
	t->outside_n--;
	tux_latch_drop(&t->go_latch);
}

/* A routine of another stack is freed with that stack.  If the service has a settled
 * callback, a message keeps its room until that callback has run; so another
 * callback of the same strand, which has to return before, must not wait for the
 * room. */
static bool is_in_its_own_way(const struct tux_connection *c,
			      enum tux_wait_kind kind)
{
	if (tux_sched_inside() ? !tux_api_here(c->t) : makes_no_room(c->t))
		return true;
	return kind == TUX_WAIT_MESSAGE && c->s->on_settled.fn &&
	       tux_sched_holds(c->task.strand);
}

int tux_api_wait_begin(struct tux_wait *w, struct tux_connection *c, tux_time ns,
		       enum tux_wait_kind kind)
{
	*w = (struct tux_wait){
		.c = c, .r = tux_sched_self(), .kind = kind,
		.until = tux_time_add(tux_clock_read(), ns),
	};
	tux_get(c);
	tux_latch_take(&c->waits_latch);
	tux_list_push(&c->waits, &w->node);
	/* It stays there as long as somebody waits. */
	w->t = c->t;
	atomic_fetch_add(&c->waits_n, 1);
	atomic_fetch_add(&c->writes_n, kind == TUX_WAIT_STREAM);
	tux_latch_drop(&c->waits_latch);
	pin_loop(w);
	return is_in_its_own_way(c, kind) ? -EDEADLK : 0;
}

static void sleep_once(struct tux_wait *w, tux_time now)
{
	tux_time ns = tux_time_since(now, w->until);
	struct timespec left = {
		.tv_sec = (time_t)(ns / TUX_SEC(1)),
		.tv_nsec = (long)(ns % TUX_SEC(1)),
	};

	if (w->r)
		tux_sched_block_until(w->until);
	else
		tux_sys_futex(&w->woken, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0,
			      w->until == TUX_NEVER ? NULL : &left);
}

/* Woken again and again, a wait ends all the same. */
int tux_api_wait(struct tux_wait *w)
{
	tux_time now = tux_clock_read();

	while (!atomic_exchange(&w->woken, 0)) {
		if (!w->r && atomic_load(&w->c->t->halted))
			return -ESHUTDOWN;
		if (now >= w->until)
			return -ETIMEDOUT;
		sleep_once(w, now);
		now = tux_clock_read();
	}
	if (now >= w->until && w->late)
		return -ETIMEDOUT;
	w->late = now >= w->until;
	/* Its own task finds an error of TCP only when this has returned. */
	if (tux_sched_holds(w->c->task.strand))
		tux_api_look_at_break(w->c);
	return 0;
}

bool tux_api_wait_leads(struct tux_wait *w)
{
	struct tux_connection *c = w->c;
	bool leads = true;
	struct tux_list *n;

	tux_latch_take(&c->waits_latch);
	TUX_LIST_EACH(n, &c->waits) {
		struct tux_wait *x = TUX_CONTAINER(n, struct tux_wait, node);

		if (x->kind == w->kind) {
			leads = x == w;
			break;
		}
	}
	tux_latch_drop(&c->waits_latch);
	return leads;
}

void tux_api_wait_end(struct tux_wait *w)
{
	struct tux_connection *c = w->c;

	tux_latch_take(&c->waits_latch);
	tux_list_remove(&w->node);
	atomic_fetch_sub(&c->waits_n, 1);
	atomic_fetch_sub(&c->writes_n, w->kind == TUX_WAIT_STREAM);
	tux_latch_drop(&c->waits_latch);
	unpin_loop(w);
	/* The next that writes. */
	if (w->kind == TUX_WAIT_STREAM)
		tux_api_wake(c);
	tux_put(c);
}

void tux_api_wait_halt(struct tux *t, bool halted)
{
	struct tux_connection *c;
	uint32_t i = 0;

	atomic_store(&t->halted, halted);
	while (halted && (c = tux_api_next(t, &i)))
		if (atomic_load(&c->waits_n))
			tux_api_wake_all(c);
}
