/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The callbacks for the beginning, for messages, for what became of them, and
 * for the end.
 */
#include "api/tell.h"

#include <errno.h>

#include "api/wake.h"
#include "stack/post.h"

/* ---- the beginning ---- */

void tux_api_tell_open(struct tux_connection *c)
{
	c->told = true;
	if (c->s->on_open.fn)
		TUX_TELL(c, on_open);
}

/* ---- messages ---- */

static void tell_give_back(struct tux_connection *c, const struct tux_msg *in,
			   const struct tux_message *m, unsigned n)
{
	unsigned i, held = 0;

	for (i = 0; i < n; i++)
		held += (m[i].flags & TUX_HELD) != 0;
	if (!held) {
		tux_post_release(c->end, in, n);
		return;
	}
	for (i = 0; i < n; i++)
		if (!(m[i].flags & TUX_HELD))
			tux_post_release(c->end, &in[i], 1);
}

static void tell_group(struct tux_connection *c, struct tux_msg *in,
		       struct tux_message *m, unsigned cap)
{
	unsigned i, n = tux_post_take(c->end, in, cap);

	if (!n)
		return;
	for (i = 0; i < n; i++)
		m[i] = (struct tux_message){
			.p = in[i].p, .len = in[i].len, .flags = in[i].flags,
			.c = c, .ref = in[i].ref,
		};
	c->t->messages += n;
	if (c->s->on_message.fn && !atomic_load(&c->asked))
		TUX_TELL(c, on_message, m, n);
	tell_give_back(c, in, m, n);
}

/* Most groups are short, and so is their place on the stack. */
static void tell_few(struct tux_connection *c)
{
	struct tux_msg in[TUX_GROUP];
	struct tux_message m[TUX_GROUP];

	tell_group(c, in, m, c->s->group);
}

static void __attribute__((noinline)) tell_many(struct tux_connection *c)
{
	struct tux_msg in[TUX_GROUP_MAX];
	struct tux_message m[TUX_GROUP_MAX];

	tell_group(c, in, m, c->s->group);
}

void tux_api_tell_messages(struct tux_connection *c)
{
	if (!tux_post_any(c->end))
		return;
	if (c->s->group <= TUX_GROUP)
		tell_few(c);
	else
		tell_many(c);
}

/* ---- messages that have settled ---- */

bool tux_api_reap(struct tux_connection *c)
{
	unsigned failed, n = tux_post_reap(c->end, &failed);

	if (failed)
		atomic_fetch_add(&c->failed, failed);
	return n;
}

static void tell_settled(struct tux_connection *c, uint64_t ref, int err)
{
	if (err)
		atomic_fetch_add(&c->failed, 1);
	if (c->s->on_settled.fn)
		TUX_TELL(c, on_settled, ref, err);
}

void tux_api_give_up(struct tux_connection *c, int why)
{
	uint64_t ref[TUX_MSG_N];
	int err[TUX_MSG_N];
	unsigned i, n;

	if (!c->messages)
		return;
	n = tux_post_rest(c->end, why ? why : ECONNABORTED, ref, err);
	for (i = 0; i < n; i++)
		tell_settled(c, ref[i], err[i]);
}

void tux_api_settle(struct tux_connection *c)
{
	uint64_t ref;
	int err;

	if (!c->s->on_settled.fn) {
		if (tux_api_reap(c))
			tux_api_wake(c);
		return;
	}
	while (tux_post_settled(c->end, &ref, &err)) {
		tell_settled(c, ref, err);
		/* Its room is free only now. */
		tux_api_wake(c);
	}
}

/* ---- the end ---- */

void tux_api_tell_gone(struct tux_connection *c, int err)
{
	if (c->s->on_gone.fn && c->told)
		TUX_TELL(c, on_gone, err);
}
