/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services: callbacks, and what is the same for all their connections.
 */
#include "api/service.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/listen.h"
#include "api/request.h"
#include "api/threads.h"
#include "api/users.h"

/* ---- beginning ---- */

static struct tux_service *take_spare(struct tux *t)
{
	struct tux_service *s = NULL;

	tux_api_services_enter(t);
	if (!tux_list_empty(&t->spare)) {
		s = TUX_CONTAINER(t->spare.next, struct tux_service, node);
		tux_list_remove(&s->node);
		memset(s, 0, sizeof(*s));
	}
	tux_api_services_leave(t);
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
	tux_api_services_enter(t);
	tux_list_push(&t->services, &s->node);
	tux_api_services_leave(t);
	*sp = s;
	return 0;
}

/* ---- the end ---- */

struct ending {
	struct tux_service *s;
	struct tux *t;
	struct tux_list removed;	/* listeners */
};

/* On the first loop. */
static void end_listeners(void *arg)
{
	struct ending *x = arg;

	tux_api_unlisten(x->s, &x->removed);
}

/* On each loop. */
static void end_connections_of(void *arg)
{
	const struct ending *x = arg;
	struct tux_connection *c;
	uint32_t i = 0;

	while ((c = tux_api_next(x->t, &i)))
		if (c->s == x->s && atomic_load(&c->stage) != TUX_STAGE_GONE)
			tux_disconnect(c);
}

void tux_service_free(struct tux_service *s)
{
	struct ending x = { .s = s };
	unsigned i;

	if (!s || s->t->forked)
		return;
	tux_list_init(&x.removed);
	tux_api_service_use(s);
	atomic_store(&s->freed, true);
	tux_api_do(s->t, end_listeners, &x);
	tux_api_listeners_free(&x.removed);
	for (i = 0; i < tux_api_loops(s->t); i++) {
		x.t = tux_api_loop(s->t, i);
		tux_api_do(x.t, end_connections_of, &x);
	}
	tux_api_service_leave(s);
}

static void free_each(struct tux_list *all)
{
	struct tux_list *n, *m;

	TUX_LIST_EACH_SAFE(n, m, all) {
		tux_list_remove(n);
		free(TUX_CONTAINER(n, struct tux_service, node));
	}
}

void tux_api_services_unlisten(struct tux *t)
{
	struct tux_list *n, removed = { &removed, &removed };

	TUX_LIST_EACH(n, &t->services)
		tux_api_unlisten(TUX_CONTAINER(n, struct tux_service, node),
				 &removed);
	tux_api_listeners_free(&removed);
}

void tux_api_services_end(struct tux *t)
{
	free_each(&t->services);
	free_each(&t->spare);
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
