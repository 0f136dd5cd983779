/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RECV_MIN = 65536 };

static int buf_init(struct conn_buf *b, size_t cap)
{
	*b = (struct conn_buf){ .p = malloc(cap), .cap = cap };
	return b->p ? 0 : -ENOMEM;
}

/* Moves what is in it to the front if there is not room for @n behind. */
static void buf_room(struct conn_buf *b, size_t n)
{
	if (b->at == b->end) {
		b->at = b->end = 0;
	} else if (b->cap - b->end < n) {
		memmove(b->p, b->p + b->at, b->end - b->at);
		b->end -= b->at;
		b->at = 0;
	}
}

int conn_open(struct conn *c, struct transport *by, const struct talk *t,
	      uint32_t depth)
{
	int err;

	*c = (struct conn){ .by = by, .talk = t, .depth = depth, .h = -1 };
	c->ask = calloc(depth, sizeof(*c->ask));
	err = c->ask ? 0 : -ENOMEM;
	if (!err)
		err = buf_init(&c->out, t->room * (depth + 1));
	if (!err)
		err = buf_init(&c->in, 2 * t->room + RECV_MIN);
	if (!err) {
		c->h = by->ops->dial(by, c);
		err = c->h < 0 ? c->h : 0;
	}
	if (err)
		conn_close(c);
	return err;
}

void conn_close(struct conn *c)
{
	if (c->h >= 0)
		c->by->ops->hang_up(c->by, c->h);
	c->h = -1;
	free(c->ask);
	free(c->out.p);
	free(c->in.p);
	c->ask = NULL;
	c->out.p = c->in.p = NULL;
}

static struct conn_ask *ask_at(const struct conn *c, uint32_t i)
{
	i += c->first;
	return &c->ask[i < c->depth ? i : i - c->depth];
}

void conn_ask(struct conn *c, uint64_t key, tux_time meant)
{
	struct conn_buf *b = &c->out;
	*ask_at(c, c->n++) = (struct conn_ask){ meant, key };
	buf_room(b, c->talk->room);
	b->end += c->talk->ops->ask(c->talk, key, b->p + b->end);
}

int conn_flush(struct conn *c)
{
	struct conn_buf *b = &c->out;
	ssize_t n = 0;

	while (b->at < b->end && n >= 0) {
		n = c->by->ops->send(c->by, c->h, b->p + b->at, b->end - b->at);
		if (n > 0)
			b->at += (size_t)n;
	}
	return n < 0 && n != -EAGAIN ? (int)n : 0;
}

ssize_t conn_recv(struct conn *c)
{
	struct conn_buf *b = &c->in;
	ssize_t n;

	buf_room(b, RECV_MIN);
	n = c->by->ops->recv(c->by, c->h, b->p + b->end, b->cap - b->end);
	if (n > 0)
		b->end += (size_t)n;
	return n ? n : -ECONNRESET;
}

/* The question that is answered by what comes next, of those that may be; how
 * long the answer is, 0 and -1 as in talk.h. */
static ssize_t find(const struct conn *c, struct conn_ask **a)
{
	const struct conn_buf *b = &c->in;
	bool any = c->by->ops->unordered || c->talk->ops->any_order;
	uint32_t i, n = any ? c->n : 1;
	ssize_t len = -1;

	for (i = 0; i < n && len < 0; i++) {
		*a = ask_at(c, i);
		len = c->talk->ops->check(c->talk, (*a)->key, b->p + b->at,
					  b->end - b->at);
	}
	return len;
}

int conn_answer(struct conn *c, struct conn_ask *of)
{
	struct conn_buf *b = &c->in;
	struct conn_ask *a;
	ssize_t n;

	if (b->at == b->end)
		return 0;
	if (!c->n)
		return -EBADMSG;
	n = find(c, &a);
	if (n <= 0)
		return n < 0 ? -EBADMSG : 0;
	b->at += (size_t)n;
	*of = *a;
	*a = c->ask[c->first];
	c->first = c->first + 1 < c->depth ? c->first + 1 : 0;
	c->n--;
	return 1;
}
