/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services: callbacks, and what is the same for all their connections.
 */
#include "api/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/listen.h"

static struct tux_service *take_spare(struct tux *t)
{
	struct tux_service *s = NULL;

	tux_sched_enter();
	if (!tux_list_empty(&t->spare)) {
		s = TUX_CONTAINER(t->spare.next, struct tux_service, node);
		tux_list_remove(&s->node);
		memset(s, 0, sizeof(*s));
	}
	tux_sched_leave();
	return s;
}

int tux_service_new(struct tux *t, struct tux_service **sp)
{
	struct tux_service *s;

	if (t->forked)
		return -EOWNERDEAD;
	s = take_spare(t);
	if (!s)
		s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->t = t;
	s->group = TUX_GROUP;
	tux_list_init(&s->listeners);
	tux_strand_init(&s->strand);
	tux_sched_enter();
	tux_list_push(&t->services, &s->node);
	tux_sched_leave();
	*sp = s;
	return 0;
}

static void service_release(struct tux_service *s)
{
	tux_list_remove(&s->node);
	free(s);
}

static void end_all(struct tux_service *s)
{
	struct tux *t = s->t;
	uint32_t i;

	for (i = 1; i < t->used; i++) {
		uint8_t stage = atomic_load(&t->at[i].stage);

		if (t->at[i].s == s && stage != TUX_STAGE_FREE &&
		    stage != TUX_STAGE_GONE)
			tux_disconnect(&t->at[i]);
	}
}

void tux_service_free(struct tux_service *s)
{
	if (!s || s->t->forked)
		return;
	tux_sched_enter();
	tux_api_unlisten(s);
	s->freed = true;
	if (s->connection_n)
		end_all(s);
	else
		service_release(s);
	tux_sched_leave();
}

void tux_api_service_end(struct tux_service *s)
{
	tux_api_unlisten(s);
	service_release(s);
}

/* ---- callbacks ---- */

void tux_on_open(struct tux_service *s, tux_open_fn *fn, void *arg)
{
	s->on_open.fn = fn;
	s->on_open.arg = arg;
}

void tux_on_stream(struct tux_service *s, tux_stream_fn *fn, void *arg)
{
	s->on_stream.fn = fn;
	s->on_stream.arg = arg;
}

void tux_on_message(struct tux_service *s, tux_message_fn *fn, void *arg)
{
	s->on_message.fn = fn;
	s->on_message.arg = arg;
}

void tux_on_room(struct tux_service *s, tux_room_fn *fn, void *arg)
{
	s->on_room.fn = fn;
	s->on_room.arg = arg;
}

void tux_on_settled(struct tux_service *s, tux_settled_fn *fn, void *arg)
{
	s->on_settled.fn = fn;
	s->on_settled.arg = arg;
}

void tux_on_gone(struct tux_service *s, tux_gone_fn *fn, void *arg)
{
	s->on_gone.fn = fn;
	s->on_gone.arg = arg;
}

void tux_set_serial(struct tux_service *s, int on)
{
	s->serial = on;
}

int tux_set_group(struct tux_service *s, unsigned n)
{
	if (!n || n > TUX_GROUP_MAX)
		return -EINVAL;
	s->group = n;
	return 0;
}

int tux_port(const struct tux_service *s)
{
	return s->port;
}
