/* SPDX-License-Identifier: BSD-2-Clause */
#include "api/users.h"

#include "sys/take.h"

void tux_api_services_enter(struct tux *t)
{
	tux_sched_enter();
	tux_latch_take(&t->services_latch);
}

void tux_api_services_leave(struct tux *t)
{
	tux_latch_drop(&t->services_latch);
	tux_sched_leave();
}

void tux_api_service_use(struct tux_service *s)
{
	tux_api_services_enter(s->t);
	s->users++;
	tux_api_services_leave(s->t);
}

/* Kept for the next service: on the network thread, free() could wait for a
 * callback that was preempted there. */
void tux_api_service_leave(struct tux_service *s)
{
	struct tux *t = s->t;

	tux_api_services_enter(t);
	if (!--s->users && atomic_load(&s->freed)) {
		tux_list_remove(&s->node);
		tux_list_push(&t->spare, &s->node);
	}
	tux_api_services_leave(t);
}
