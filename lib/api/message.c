/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection's messages, on top of post.h.
 */
#include "api/api_in.h"

#include <errno.h>

#include "api/tell.h"
#include "api/wait.h"
#include "stack/post.h"

/* ---- sending ---- */

/* 0, or why no message can be sent. */
static int ready(struct tux_connection *c, unsigned flags)
{
	int err = tux_api_unusable(c);

	if (flags & ~(unsigned)TUX_ORDERED)
		return -EINVAL;
	if (!err)
		err = -(int)atomic_load(&c->err);
	return err ? err : c->messages ? 0 : -EPROTONOSUPPORT;
}

/* What failed keeps its room until somebody asks; nobody but us will. */
static void make_room(struct tux_connection *c)
{
	if (tux_api_usable(c) && c->messages && !c->s->on_settled.fn)
		tux_api_reap(c);
}

/* What makes room after this, tells; the caller looks once more. */
static bool want_room(struct tux_connection *c, int err)
{
	if (err != -EAGAIN)
		return false;
	atomic_fetch_or(&c->wants, TUX_WANTS_MESSAGE);
	make_room(c);
	return true;
}

static bool message_fits(const struct tux_connection *c,
			 const struct iovec *iov, int n)
{
	size_t left = c->t->o.message_max;
	int i;

	for (i = 0; i < n && iov[i].iov_len <= left; i++)
		left -= iov[i].iov_len;
	return i == n;
}

static int try_post(struct tux_connection *c, const struct iovec *iov, int n,
		    unsigned flags, uint64_t *ref)
{
	int err = ready(c, flags);

	if (!err && !message_fits(c, iov, n))
		err = -EMSGSIZE;
	return err ? err : tux_post_send(c->end, iov, n, flags, ref, false);
}

static int post(struct tux_connection *c, const struct iovec *iov, int n,
		unsigned flags, uint64_t *ref)
{
	int err = n < 0 ? -EINVAL : try_post(c, iov, n, flags, ref);

	return want_room(c, err) ? try_post(c, iov, n, flags, ref) : err;
}

static int post_within(struct tux_connection *c, const struct iovec *iov, int n,
		       unsigned flags, uint64_t *ref, tux_time ns)
{
	int sent = n < 0 ? -EINVAL : try_post(c, iov, n, flags, ref), err;
	struct tux_wait w;

	if (sent != -EAGAIN)
		return sent;
	err = tux_api_wait_begin(&w, c, ns, TUX_WAIT_MESSAGE);
	while (!err) {
		make_room(c);
		sent = try_post(c, iov, n, flags, ref);
		if (sent != -EAGAIN)
			break;
		err = tux_api_wait(&w);
	}
	tux_api_wait_end(&w);
	return err ? err : sent;
}

int tux_sendv(struct tux_connection *c, const struct iovec *iov, int n,
	      unsigned flags, uint64_t *ref)
{
	uint64_t own;
	int err;

	tux_sched_enter();
	err = post(c, iov, n, flags, ref ? ref : &own);
	tux_sched_leave();
	return err;
}

int tux_send(struct tux_connection *c, const void *p, size_t n, unsigned flags)
{
	struct iovec v = { (void *)(uintptr_t)p, n };

	return tux_sendv(c, &v, 1, flags, NULL);
}

int tux_sendv_wait(struct tux_connection *c, const struct iovec *iov, int n,
		   unsigned flags, uint64_t *ref, uint64_t ns)
{
	uint64_t own;
	int err;

	tux_sched_enter();
	err = post_within(c, iov, n, flags, ref ? ref : &own, ns);
	tux_sched_leave();
	return err;
}

int tux_send_wait(struct tux_connection *c, const void *p, size_t n,
		  unsigned flags, uint64_t ns)
{
	struct iovec v = { (void *)(uintptr_t)p, n };

	return tux_sendv_wait(c, &v, 1, flags, NULL, ns);
}

static int try_reserve(struct tux_connection *c, size_t n, unsigned flags,
		       void **pp, uint64_t *ref)
{
	int err = ready(c, flags);

	if (!err && n > c->t->o.message_max)
		err = -EMSGSIZE;
	return err ? err : tux_post_reserve(c->end, (uint32_t)n, flags, pp,
					    ref);
}

static int reserve(struct tux_connection *c, size_t n, unsigned flags,
		   void **pp, uint64_t *ref)
{
	int err = try_reserve(c, n, flags, pp, ref);

	return want_room(c, err) ? try_reserve(c, n, flags, pp, ref) : err;
}

int tux_reserve(struct tux_connection *c, size_t n, unsigned flags, void **pp,
		uint64_t *ref)
{
	int err;

	tux_sched_enter();
	err = reserve(c, n, flags, pp, ref);
	tux_sched_leave();
	return err;
}

/* A connection that ends lets what was reserved go, too. */
static bool may_finish(const struct tux_connection *c)
{
	uint8_t stage = atomic_load(&c->stage);

	return c->messages && (stage == TUX_STAGE_OPEN ||
			       stage == TUX_STAGE_CLOSING) &&
	       !atomic_load(&c->closed);
}

int tux_commit(struct tux_connection *c, uint64_t ref)
{
	int err = -ENOTCONN;

	tux_sched_enter();
	if (may_finish(c)) {
		tux_post_commit(c->end, ref, false);
		err = 0;
	}
	tux_sched_leave();
	return err;
}

int tux_cancel(struct tux_connection *c, uint64_t ref)
{
	int err = -ENOTCONN;

	tux_sched_enter();
	if (may_finish(c))
		err = tux_post_cancel(c->end, ref) ? 0 : -EALREADY;
	tux_sched_leave();
	return err;
}

size_t tux_send_max(const struct tux_connection *c)
{
	size_t max = 0;

	tux_sched_enter();
	if (tux_api_usable(c) && c->messages)
		max = tux_post_longest(c->end);
	if (max > c->t->o.message_max)
		max = c->t->o.message_max;
	tux_sched_leave();
	return max;
}

/* ---- messages that are kept ---- */

void tux_hold(struct tux_message *m)
{
	if (m->flags & TUX_HELD)
		return;
	m->flags |= TUX_HELD;
	tux_get(m->c);
}

void tux_release(const struct tux_message *m)
{
	const struct tux_msg in = {
		.p = m->p, .len = m->len, .flags = m->flags, .ref = m->ref,
	};

	if (!(m->flags & TUX_HELD) || m->c->t->forked)
		return;
	tux_sched_enter();
	tux_post_release(m->c->end, &in, 1);
	tux_put(m->c);
	tux_sched_leave();
}
