/* SPDX-License-Identifier: BSD-2-Clause */
#include "fill.h"

#include <errno.h>

enum { DEPTH = 256 };

/* Takes what has come; how many answers, or -errno. */
static int take(struct conn *c)
{
	ssize_t r = conn_recv(c);
	struct conn_ask of;
	int n = 0;

	if (r < 0)
		return r == -EAGAIN ? 0 : (int)r;
	while ((r = conn_answer(c, &of)) > 0)
		n++;
	return r < 0 ? (int)r : n;
}

static int fill_over(struct conn *c, uint32_t keys)
{
	void *ready[TRANSPORT_READY];
	uint32_t asked = 0, done = 0;
	int n;

	while (done < keys) {
		while (asked < keys && conn_room(c))
			conn_ask(c, asked++, 0);
		n = conn_flush(c);
		if (n)
			return n;
		if (c->by->ops->wait(c->by, TUX_NEVER, ready) <= 0)
			continue;
		n = take(c);
		if (n < 0)
			return n;
		done += (uint32_t)n;
	}
	return 0;
}

static int fill_by(struct transport *by, const struct talk *t)
{
	struct conn c;
	int err = conn_open(&c, by, t, DEPTH);

	if (!err)
		err = fill_over(&c, t->keys);
	conn_close(&c);
	return err;
}

int fill(const struct run_opts *o)
{
	struct transport_opts to = o->to;
	struct transport *by;
	struct talk t;
	int err;

	if (!o->talk->fill)
		return 0;
	err = talk_init(&t, o->talk->fill, o->size, o->keys);
	if (err)
		return err;
	to.spin = false;
	err = o->transport->open(&by, &to);
	if (!err) {
		err = fill_by(by, &t);
		by->ops->close(by);
	}
	talk_fini(&t);
	return err;
}
