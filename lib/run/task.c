/* SPDX-License-Identifier: BSD-2-Clause */
#include "run/task.h"

#include <locale.h>

#include "run/fifo.h"
#include "run/mask.h"
#include "run/routine.h"

/* A callback leaves nothing behind for the next one in its storage. */
static void clean(struct tux_routine *r)
{
	tux_routine_set_errno(0);
	if (r->masked || r->strange)
		tux_mask_aside(r);
	r->masked = r->strange = false;
	if (r->localed)
		uselocale(r->locale);
	if (tux_switch_modes() != r->modes)
		tux_switch_set_modes(r->modes);
}

/* Preemption is off except while a task runs: no routine may see the lists of
 * the scheduler half done. */
static void run_one(struct tux_routine *r, struct tux_task *t)
{
	tux_fifo_began(r, t);
	tux_sched_leave();
	t->run(t);
	tux_sched_enter();
	clean(r);
	tux_fifo_ended(r);
}

static void routine_main(void *arg)
{
	struct tux_routine *r = arg;
	struct tux_task *t;

	/* With the storage of the thread, it may be anything. */
	tux_routine_set_errno(0);
	for (;;) {
		while ((t = tux_fifo_next(r->sched)))
			run_one(r, t);
		tux_routine_leave(r, TUX_ROUTINE_IDLE);
	}
}

struct tux_routine *tux_routine_make(struct tux_sched *s)
{
	struct tux_donor *d;
	struct tux_routine *r;

	d = tux_donors_get(&s->donors);
	if (!d)
		return NULL;
	r = (struct tux_routine *)d;
	r->sched = s;
	r->number = s->stats.routines_ever;
	r->preempt_count = 1;
	r->modes = tux_switch_modes();
	tux_list_init(&r->node);
	tux_switch_make(&r->at, d->low, d->top, s->tls ? d->tls : 0,
			routine_main, r);
	s->stats.routines_ever++;
	return r;
}
