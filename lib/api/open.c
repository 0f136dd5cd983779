/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stack's beginning and end.
 */
#include "api/api_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/announce.h"
#include "api/ask.h"
#include "api/connection.h"
#include "api/embed.h"
#include "api/hand_over.h"
#include "api/listen.h"
#include "api/process.h"
#include "api/request.h"
#include "api/ring.h"
#include "api/routine.h"
#include "api/say.h"
#include "api/serve.h"
#include "api/service.h"
#include "api/shared.h"
#include "api/sleep.h"
#include "api/threads.h"
#include "api/turn.h"
#include "stack/channel.h"
#include "stack/loops.h"
#include "stack/stack_in.h"
#include "sys/clock.h"
#include "sys/fd.h"
#include "sys/sys.h"
#include "sys/take.h"

enum {
	SLICE_MIN_NS = 5000, SLICE_MAX_NS = 1000000,
	MESSAGE_MAX_DEFAULT = 1 << 20, MESSAGE_MOST = 8 << 20,
	CLOSE_S = 1,
};

/* ---- options ---- */

static bool is_good(const struct tux_opts *o)
{
	return o->size >= offsetof(struct tux_opts, ifname) &&
	       (unsigned)o->backend <= TUX_BACKEND_TCP &&
	       (unsigned)o->path <= TUX_USE_TCP &&
	       (!o->slice_ns || o->slice_ns == TUX_NO_SLICE ||
		(o->slice_ns >= SLICE_MIN_NS && o->slice_ns <= SLICE_MAX_NS)) &&
	       o->message_max <= MESSAGE_MOST &&
	       o->threads <= TUX_THREADS_MAX &&
	       o->threads_min <= (o->threads ? o->threads : 1) &&
	       (!o->ifname || strlen(o->ifname) <
			      sizeof(((struct tux *)0)->ifname));
}

/* Of what they share, @t has the options of the one that it is opened beside. */
static void copy_common(struct tux *t, const struct tux *beside)
{
	t->o.ifname = beside->o.ifname;
	t->o.backend = beside->o.backend;
	t->o.path = beside->o.path;
	t->o.message_max = beside->o.message_max;
}

/* What an older caller does not know of is zero. */
static int copy_opts(struct tux *t, const struct tux_opts *o)
{
	static const struct tux_opts none = { .size = sizeof(none) };

	if (!o)
		o = &none;
	memcpy(&t->o, o, o->size < sizeof(*o) ? o->size : sizeof(*o));
	if (t->o.beside)
		copy_common(t, t->o.beside);
	if (!is_good(&t->o))
		return -EINVAL;
	if (t->o.ifname)
		strcpy(t->ifname, t->o.ifname);
	t->o.ifname = t->o.ifname ? t->ifname : NULL;
	if (!t->o.message_max)
		t->o.message_max = MESSAGE_MAX_DEFAULT;
	return 0;
}

/* ---- beginning ---- */

static void said_by_sched(const char *line, void *arg)
{
	tux_api_say_line(arg, line);
}

static void wake(void *arg)
{
	tux_api_ring(arg);
}

static int open_sched(struct tux *t)
{
	struct tux_sched_opts o = {
		.slice = t->o.slice_ns == TUX_NO_SLICE ? 0 : t->o.slice_ns,
		.preempt = t->o.slice_ns != TUX_NO_SLICE,
		.stack_len = t->o.stack_len,
		.routines_max = t->o.routines_max,
		.say = said_by_sched,
		.wake = wake,
		.arg = t,
	};

	return tux_sched_new(&t->sched, &o);
}

static int open_parts(struct tux *t)
{
	int err = tux_api_table_init(t);

	tux_spin_init(&t->spin, t->o.spin ? TUX_SPIN_ALWAYS :
					    TUX_SPIN_IF_IT_PAYS);
	if (!err)
		err = tux_waiter_init(&t->w, 2 * TUX_CONNECTIONS_MAX);
	if (!err)
		err = tux_api_ring_init(t);
	if (err)
		return err;
	t->epfd = tux_fd_lift(tux_sys_epoll_create());
	err = t->epfd < 0 ? t->epfd : tux_api_share(t);
	if (!err)
		err = tux_api_embed(t);
	return err ? err : open_sched(t);
}

static void close_all(struct tux *t)
{
	if (t->sched)
		tux_api_start_none(t);
	tux_api_close_given(t);
	tux_sched_free(t->sched);
	tux_api_ring_free(t);
	tux_api_unembed(t);
	tux_fd_close(t->epfd);
	if (tux_api_share_end(t))
		tux_api_free(t);
}

static void open_init(struct tux *t, struct tux *first)
{
	t->pid = getpid();
	t->first = first;
	t->fd = t->timer_fd = t->epfd = t->w.fd = -1;
	tux_list_init(&t->node);
	tux_list_init(&t->services);
	tux_list_init(&t->spare);
	tux_list_init(&t->paused);
	tux_list_init(&t->closing);
	tux_list_init(&t->dead);
	tux_list_init(&t->going);
	tux_list_init(&t->gone);
	tux_list_init(&t->requests);
}

/* One loop, of the stack of @first; NULL: the first one of a stack. */
static int open_one_loop(struct tux **tp, const struct tux_opts *o,
			 struct tux *first)
{
	struct tux *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	open_init(t, first ? first : t);
	err = copy_opts(t, o);
	if (!err && t->o.beside && t->o.beside->forked)
		err = -EOWNERDEAD;
	if (!err)
		err = open_parts(t);
	if (err) {
		close_all(t);
		return err;
	}
	tux_api_enrol(t);
	*tp = t;
	return 0;
}

static void close_one_loop(struct tux *t)
{
	tux_api_strike_off(t);
	close_all(t);
}

static int open_other(struct tux *first)
{
	struct tux_opts o = first->o;
	struct tux *t;
	int err;

	o.size = sizeof(o);
	o.beside = first;
	err = open_one_loop(&t, &o, first);
	if (err)
		return err;
	err = tux_api_threads_add(first, t);
	if (err)
		close_one_loop(t);
	return err;
}

/* What one loop has asked of another lies in its routines' stacks: it is forgotten
 * before any of these is freed. */
static void close_loops(struct tux *t)
{
	unsigned i, n = tux_api_loops(t);

	tux_api_threads_end(t);
	for (i = 0; i < n; i++)
		tux_api_requests_forget(tux_api_loop(t, i));
	while (--n)
		close_one_loop(tux_api_loop(t, n));
	close_one_loop(t);
}

int tux_open(struct tux **tp, const struct tux_opts *o)
{
	struct tux *t;
	int err = open_one_loop(&t, o, NULL);

	if (err)
		return err;
	while (!err && tux_api_loops(t) < t->o.threads)
		err = open_other(t);
	if (err) {
		close_loops(t);
		return err;
	}
	if (t->threads)
		tux_api_hand_over_init(t);
	*tp = t;
	return 0;
}

/* ---- the end ---- */

static void end_connections(struct tux *t)
{
	struct tux_connection *c;
	uint32_t i = 0;

	while ((c = tux_api_next(t, &i)))
		tux_api_shutdown(c);
}

/* Closes the end of @c, also if a callback of @c has not returned.  The routines
 * that wait for room on @c are freed next, so no thread may wake them any more. */
static void close_rest(struct tux_connection *c)
{
	atomic_store(&c->closed, 1);
	if (c->end)
		tux_end_close(c->end, false);
	tux_latch_take(&c->waits_latch);
	tux_list_init(&c->waits);
	atomic_store(&c->waits_n, 0);
	tux_latch_drop(&c->waits_latch);
}

/* Frees the ends that the loop is done with.  Are there others? */
static bool ends_left(struct tux *t)
{
	struct tux_connection *c;
	bool left = false;
	uint32_t i = 0;

	while ((c = tux_api_next(t, &i))) {
		if (!c->end)
			continue;
		if (!tux_end_over(c->end)) {
			left = true;
		} else {
			tux_end_free(c->end);
			c->end = NULL;
		}
	}
	return left;
}

static void drive_a_little(struct tux *t)
{
	_Atomic uint32_t never = 0;

	tux_api_drive(t, &never, tux_clock_read() + TUX_MSEC(1));
}

static bool has_connections(const struct tux *t)
{
	return atomic_load(&t->connections_now);
}

/* Calls that block use what the program has given them, messages too. */
static bool calls_under_way(const struct tux *t)
{
	return tux_sched_away(t->sched) || tux_api_ring_busy(t);
}

static bool any_loop(const struct tux *t, bool (*is)(const struct tux *t))
{
	while (t && !is(t))
		t = t->next_run;
	return t;
}

/* The loops that a thread runs.  Connections are told gone, and what they wrote goes
 * out.  Callbacks of each loop may use connections of the others, so all go on until
 * no thread has callbacks. */
static void wind_up(struct tux *first)
{
	tux_time until = tux_clock_read() + TUX_SEC(CLOSE_S);
	_Atomic unsigned *unended = &first->first->unended;
	struct tux *t;

	for (t = first; t; t = t->next_run) {
		tux_api_awake(t);
		tux_api_accept_given(t);
		end_connections(t);
	}
	while ((any_loop(first, has_connections) ||
		any_loop(first, calls_under_way)) && tux_clock_read() < until)
		drive_a_little(first);
	for (t = first; t; t = t->next_run)
		tux_sched_end_blocking(t->sched);
	while (any_loop(first, calls_under_way))
		drive_a_little(first);
	atomic_fetch_sub(unended, 1);
	while (atomic_load(unended))
		drive_a_little(first);
	tux_api_end(first);
	/* What is left of callbacks finds nothing of ours any more. */
	tux_sched_back(first->sched);
}

static void wind_up_other(struct tux_thread *x)
{
	if (x->runs && !tux_api_begin(x->runs))
		wind_up(x->runs);
	else
		atomic_fetch_sub(&x->all->loop[0]->unended, 1);
}

/* Without the loops of others, which their threads run: the helper runs this
 * one's. */
static void close_loop_ends(struct tux *t, tux_time until)
{
	struct tux_connection *c;
	uint32_t i = 0;

	while ((c = tux_api_next(t, &i)))
		close_rest(c);
	while (ends_left(t) && tux_clock_read() < until)
		tux_channel_wait(NULL, NULL, NULL, 0,
				 tux_clock_read() + TUX_MSEC(1), NULL);
}

void tux_close(struct tux *t)
{
	tux_time until = tux_clock_read() + TUX_SEC(CLOSE_S);
	unsigned i;

	if (!t || t->forked || tux_api_begin(t))
		return;
	tux_api_stop_others(t);
	atomic_store(&t->ends, true);
	atomic_store(&t->stop, 0);
	tux_api_services_unlisten(t);
	atomic_store(&t->unended, tux_api_loops(t));
	tux_api_threads_do(t, wind_up_other);
	wind_up(t);
	tux_api_threads_wait(t);
	for (i = 0; i < tux_api_loops(t); i++)
		close_loop_ends(tux_api_loop(t, i), until);
	tux_api_services_end(t);
	close_loops(t);
}
