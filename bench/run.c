/* SPDX-License-Identifier: BSD-2-Clause */
#include "run.h"

#include <errno.h>
#include <stdlib.h>

#include "sys/clock.h"

/* ---- the ring of connections with room ---- */

static void list(struct run *r, struct conn *c)
{
	uint32_t i = r->free_first + r->free_n;

	if (c->listed || !conn_room(c))
		return;
	c->listed = true;
	r->free[i < r->o.conns ? i : i - r->o.conns] = c;
	r->free_n++;
}

static struct conn *unlist(struct run *r)
{
	struct conn *c = r->free[r->free_first];

	r->free_first = r->free_first + 1 < r->o.conns ? r->free_first + 1 : 0;
	r->free_n--;
	c->listed = false;
	return c;
}

/* ---- asking and answering ---- */

/* What was under way on it has gone with it. */
static void lost(struct run *r, struct conn *c)
{
	r->report->errors += c->n ? c->n : 1;
	r->under_way -= c->n;
	r->alive_n--;
	conn_close(c);
}

static void flush(struct run *r, struct conn *c)
{
	if (conn_flush(c))
		lost(r, c);
}

/* Questions that are numbered change from one to the next, so that a lost or doubled
 * answer is seen; the others are about any key. */
static uint64_t pick(struct run *r)
{
	if (!r->talk.keys)
		return r->next_key++;
	return tux_rng_u64(&r->keys) % r->talk.keys;
}

static void ask(struct run *r, struct conn *c, tux_time meant)
{
	conn_ask(c, pick(r), meant);
	r->under_way++;
	if (r->left)
		r->left--;
}

static bool may_ask(const struct run *r)
{
	return r->asks && r->left;
}

static void ask_full(struct run *r, struct conn *c, tux_time now)
{
	while (may_ask(r) && conn_room(c))
		ask(r, c, now);
}

/* The questions that are due by @now, as far as there is room for them. */
static void ask_due(struct run *r, tux_time now)
{
	while (may_ask(r) && r->free_n && r->due.next <= now) {
		struct conn *c = unlist(r);

		if (!conn_alive(c))
			continue;
		ask(r, c, r->due.next);
		arrivals_step(&r->due);
		flush(r, c);
		list(r, c);
	}
}

static void answered(struct run *r, const struct conn_ask *a, tux_time now)
{
	tux_time took = tux_time_since(a->meant, now);

	r->under_way--;
	if (!r->counts)
		return;
	histogram_add(&r->report->latency, took);
	if (r->o.talk->is_long)
		histogram_add(r->o.talk->is_long(&r->talk, a->key) ?
			      &r->report->long_ones : &r->report->short_ones,
			      took);
}

/* Takes what has come for @c; in a closed loop, asks again. */
static void serve(struct run *r, struct conn *c)
{
	struct conn_ask of;
	tux_time now;
	ssize_t n;

	if (!conn_alive(c))
		return;
	n = conn_recv(c);
	now = tux_clock_read();
	while (n > 0 && (n = conn_answer(c, &of)) > 0) {
		answered(r, &of, now);
		if (!(r->o.rate > 0))
			ask_full(r, c, now);
	}
	if (n < 0 && n != -EAGAIN) {
		lost(r, c);
		return;
	}
	flush(r, c);
	list(r, c);
}

/* ---- turns ---- */

static void turn(struct run *r, tux_time until)
{
	void *ready[TRANSPORT_READY];
	int i, n;

	if (r->o.rate > 0 && may_ask(r)) {
		ask_due(r, tux_clock_read());
		if (r->free_n)
			until = tux_time_min(until, r->due.next);
	}
	n = r->by->ops->wait(r->by, until, ready);
	for (i = 0; i < n; i++)
		serve(r, ready[i]);
}

static void start_asking(struct run *r, tux_time now)
{
	uint32_t i;

	if (r->o.rate > 0)
		return;
	for (i = 0; i < r->o.conns; i++) {
		if (!conn_alive(&r->conn[i]))
			continue;
		ask_full(r, &r->conn[i], now);
		flush(r, &r->conn[i]);
	}
}

void run_ask(struct run *r, tux_time time, uint64_t requests, bool count)
{
	tux_time now = tux_clock_read(), end = tux_time_add(now, time);

	if (requests) {
		end = TUX_NEVER;
		r->left = requests > r->under_way ?
			requests - r->under_way : 0;
	} else {
		r->left = UINT64_MAX;
	}
	r->asks = true;
	r->counts = count;
	if (r->o.rate > 0)
		arrivals_init(&r->due, r->o.rate, r->o.seed + count, now);
	start_asking(r, now);
	while (r->alive_n && now < end && (r->left || r->under_way)) {
		turn(r, end);
		now = tux_clock_read();
	}
	r->asks = r->counts = false;
}

void run_rest(struct run *r, tux_time time)
{
	const tux_time patience = TUX_SEC(5);
	tux_time began = tux_clock_read(), now = began;

	while (r->alive_n && r->under_way && now - began < patience) {
		turn(r, began + patience);
		now = tux_clock_read();
	}
	r->report->errors += r->under_way;
	began = now;
	while (r->alive_n && now - began < time) {
		turn(r, began + time);
		now = tux_clock_read();
	}
}

/* ---- beginning and end ---- */

static int dial_all(struct run *r)
{
	int err;

	for (; r->alive_n < r->o.conns; r->alive_n++) {
		struct conn *c = &r->conn[r->alive_n];

		err = conn_open(c, r->by, &r->talk, r->o.depth);
		if (err)
			return err;
		list(r, c);
	}
	return 0;
}

int run_init(struct run *r, const struct run_opts *o, struct report *report)
{
	struct tux_key key = { o->seed, 1 };
	uint32_t i;
	int err;

	*r = (struct run){ .o = *o, .report = report };
	tux_rng_init(&r->keys, &key);
	r->conn = calloc(o->conns, sizeof(*r->conn));
	r->free = calloc(o->conns, sizeof(*r->free));
	if (!r->conn || !r->free)
		return -ENOMEM;
	for (i = 0; i < o->conns; i++)
		r->conn[i].h = -1;
	err = talk_init(&r->talk, o->talk, o->size, o->keys);
	r->talk.seed = o->seed;
	if (!err && o->zipf)
		zipf_init(&r->talk.zipf, o->keys, ZIPF_YCSB);
	if (!err)
		err = o->transport->open(&r->by, &o->to);
	return err ? err : dial_all(r);
}

void run_fini(struct run *r)
{
	uint32_t i;

	for (i = 0; r->conn && i < r->o.conns; i++)
		conn_close(&r->conn[i]);
	if (r->by)
		r->by->ops->close(r->by);
	talk_fini(&r->talk);
	free(r->conn);
	free(r->free);
}
