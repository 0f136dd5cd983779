/* SPDX-License-Identifier: BSD-2-Clause */
#include "replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/uio.h>

#include "client.h"

enum { SHOW = 16 };

/* The reels from their beginning. */
static void begin(struct replay *c, enum reel_verb verb)
{
	c->plan.verb = verb;
	reel_init(&c->out, &c->plan, false, c->first);
	reel_init(&c->in, &c->plan, true, c->first);
}

void replay_init(struct replay *c, const struct replay_opts *o, uint32_t id,
		 uint32_t from)
{
	memset(c, 0, sizeof(*c));
	c->o = o;
	c->id = id;
	c->first = from + id;
	c->fd = -1;
	c->last = o->may_end();
	c->plan = o->plan;
	begin(c, o->plan.verb);
}

bool replay_again(struct replay *c)
{
	if (c->last)
		return false;
	if (c->plan.verb == REEL_WRITE) {
		begin(c, REEL_READ);
	} else {
		c->last = c->o->may_end();
		begin(c, c->o->plan.verb);
	}
	return true;
}

static void print_bytes(const char *what, const uint8_t *p, size_t n)
{
	size_t i;

	fprintf(stderr, "  %s", what);
	for (i = 0; i < n && i < SHOW; i++)
		fprintf(stderr, " %02x", p[i]);
	fputs("  ", stderr);
	for (i = 0; i < n && i < SHOW; i++)
		fputc(p[i] >= ' ' && p[i] < 127 ? p[i] : '.', stderr);
	fputc('\n', stderr);
}

static void compare(struct replay *c, const uint8_t *got, size_t n)
{
	uint8_t want[REPLAY_CHUNK];

	while (n) {
		uint32_t item = c->in.item;
		uint64_t pos = c->in.pos;
		size_t m = reel_read(&c->in, want, n), i;

		if (!m)
			client_fail("connection %u: %zu bytes too many",
				    c->id, n);
		for (i = 0; i < m && got[i] == want[i]; i++)
			;
		if (i < m) {
			print_bytes("expected", want + i, m - i);
			print_bytes("got     ", got + i, m - i);
			client_fail("connection %u: the answer for value %u "
				    "(%u bytes) is wrong at byte %" PRIu64,
				    c->id, item,
				    reel_length(&c->plan, item), pos + i);
		}
		got += m;
		n -= m;
	}
}

/* Connections differ in the calls that they use, so that all are met. */
static ssize_t put(struct replay *c, const uint8_t *p, size_t n)
{
	struct iovec v[2] = { { (void *)p, n / 3 },
			      { (void *)(p + n / 3), n - n / 3 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	switch (c->id % 4) {
	case 0:
		return write(c->fd, p, n);
	case 1:
		return send(c->fd, p, n, MSG_NOSIGNAL);
	case 2:
		return writev(c->fd, v, 2);
	default:
		return sendmsg(c->fd, &m, MSG_NOSIGNAL);
	}
}

static ssize_t take(struct replay *c, uint8_t *p, size_t n)
{
	struct iovec v[2] = { { p, n / 3 }, { p + n / 3, n - n / 3 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 2 };

	switch (c->id % 4) {
	case 0:
		return read(c->fd, p, n);
	case 1:
		return recv(c->fd, p, n, 0);
	case 2:
		return readv(c->fd, v, 2);
	default:
		return recvmsg(c->fd, &m, 0);
	}
}

bool replay_may_send(const struct replay *c)
{
	if (c->at < c->len || c->out.pos)
		return true;
	return !reel_done(&c->out) &&
	       (c->out.item - c->in.item) / c->plan.step < c->o->depth;
}

void replay_send(struct replay *c)
{
	while (replay_may_send(c)) {
		ssize_t n;

		if (c->at == c->len) {
			c->len = reel_read(&c->out, c->buf, sizeof(c->buf));
			c->at = 0;
		}
		n = put(c, c->buf + c->at, c->len - c->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && !c->o->blocking)
			return;
		if (n < 0)
			client_fail("connection %u: sending value %u: %s",
				    c->id, c->out.item,
				    errno == EAGAIN ? "stuck" :
				    strerror(errno));
		c->at += (size_t)n;
		c->moved_at = client_now();
	}
}

bool replay_recv(struct replay *c)
{
	uint8_t buf[REPLAY_CHUNK];
	size_t cap = ++c->reads % 8 ? sizeof(buf) : 1 + c->reads * 37 % 1000;
	ssize_t n;

	do
		n = take(c, buf, cap);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN && !c->o->blocking)
		return false;
	if (n <= 0)
		client_fail("connection %u: waiting for value %u, byte %"
			    PRIu64 ": %s", c->id, c->in.item, c->in.pos,
			    !n ? "the server closed it" :
			    errno == EAGAIN ? "stuck" : strerror(errno));
	compare(c, buf, (size_t)n);
	c->moved_at = client_now();
	return true;
}

void replay_step(struct replay *c)
{
	bool came;

	if (!c->connected)
		client_connected(c->fd);
	c->connected = true;
	do {
		replay_send(c);
		came = false;
		while (!reel_done(&c->in) && replay_recv(c)) {
			came = true;
			if (!c->o->edge)
				break;
		}
	} while (came && (reel_done(&c->in) ? replay_again(c) :
			  replay_may_send(c)));
	if (reel_done(&c->in)) {
		close(c->fd);
		c->fd = -1;
	}
}
