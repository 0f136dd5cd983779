/* SPDX-License-Identifier: BSD-2-Clause */
#include "client.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <tux.h>

enum { OPEN_MS = 10000, LOOK_MS = 1000, IN_CAP = 1 << 20 };

struct kv_client {
	struct tux *tux;
	struct tux_service *service;
	struct tux_connection *c;	/* NULL: it is over */
	bool stream, open;
	bool full;		/* the stream has bytes for which there was no room */
	int err;		/* why it is over */
	uint8_t *in;		/* answers that came, one after the other */
	size_t at, end;
};

/* ---- callbacks ----------------------------------------------------------- */

/* Room for @n bytes in k->in, or NULL. */
static uint8_t *client_room(struct kv_client *k, size_t n)
{
	if (k->at) {
		memmove(k->in, k->in + k->at, k->end - k->at);
		k->end -= k->at;
		k->at = 0;
	}
	return IN_CAP - k->end < n ? NULL : k->in + k->end;
}

static void client_open(struct tux_connection *c, void *arg)
{
	(void)c;
	((struct kv_client *)arg)->open = true;
}

static void client_stream(struct tux_connection *c, void *arg)
{
	struct kv_client *k = arg;
	uint8_t *to = client_room(k, 1);
	ssize_t n;

	k->full = !to;
	n = to ? tux_read(c, to, IN_CAP - k->end) : 0;

	if (n > 0)
		k->end += (size_t)n;
	else if (to && n == 0)
		tux_disconnect(c);
}

/* Without room for an answer, the program has asked for more than it takes. */
static void client_message(struct tux_connection *c, struct tux_message *m,
			   unsigned n, void *arg)
{
	struct kv_client *k = arg;

	for (; n; n--, m++) {
		uint8_t *to = client_room(k, m->len);

		if (!to) {
			tux_abort(c);
			return;
		}
		memcpy(to, m->p, m->len);
		k->end += m->len;
	}
}

static void client_gone(struct tux_connection *c, int err, void *arg)
{
	struct kv_client *k = arg;

	(void)c;
	k->c = NULL;
	k->err = err ? -err : -ECONNRESET;
}

/* ---- the network --------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* A turn of the loop; sleeps before it, for up to @ms, if there is nothing to do. */
static void client_turn(struct kv_client *k, int64_t ms)
{
	struct pollfd p = { tux_fd(k->tux), POLLIN, 0 };

	if (!tux_turn(k->tux) && ms > 0)
		poll(&p, 1, ms < LOOK_MS ? (int)ms : LOOK_MS);
}

/* ---- open and close ------------------------------------------------------ */

static int client_start(struct kv_client *k, const char *host, uint16_t port,
			const struct kv_client_opts *o)
{
	struct tux_opts opts = {
		.size = sizeof(opts), .slice_ns = TUX_NO_SLICE,
		.ifname = o->interface,
		.backend = o->udp ? TUX_BACKEND_UDP : TUX_BACKEND_AUTO,
	};
	int err = tux_open(&k->tux, &opts);

	if (!err)
		err = tux_service_new(k->tux, &k->service);
	if (err)
		return err;
	tux_on_open(k->service, client_open, k);
	tux_on_gone(k->service, client_gone, k);
	if (k->stream)
		tux_on_stream(k->service, client_stream, k);
	else
		tux_on_message(k->service, client_message, k);
	return tux_connect(k->service, host, port, NULL, &k->c);
}

int kv_open(struct kv_client **kp, const char *host, uint16_t port,
	    const struct kv_client_opts *o)
{
	static const struct kv_client_opts defaults;
	struct kv_client *k = calloc(1, sizeof(*k));
	int64_t until = now_ms() + OPEN_MS, left = OPEN_MS;
	int err = -ENOMEM;

	if (k && !o)
		o = &defaults;
	if (k && (k->in = malloc(IN_CAP))) {
		k->stream = o->stream;
		err = client_start(k, host, port, o);
	}
	while (!err && !k->open && k->c && left > 0) {
		client_turn(k, left);
		left = until - now_ms();
	}
	if (!err)
		err = !k->c ? k->err : k->open ? 0 : -ETIMEDOUT;
	if (err)
		kv_close(k);
	else
		*kp = k;
	return err;
}

void kv_close(struct kv_client *k)
{
	if (!k)
		return;
	tux_close(k->tux);
	free(k->in);
	free(k);
}

/* ---- requests and answers ------------------------------------------------ */

int kv_send(struct kv_client *k, enum kv_op op, const void *args, size_t len,
	    uint64_t id)
{
	struct kv_hdr h = { (uint32_t)(sizeof(h) + len), (uint16_t)op, 0, id };
	uint8_t request[KV_REQUEST_MAX];
	size_t done = 0;
	ssize_t n = -EAGAIN;

	if (len > sizeof(request) - sizeof(h))
		return -EMSGSIZE;
	memcpy(request, &h, sizeof(h));
	memcpy(request + sizeof(h), args, len);
	while (k->c && done < h.len) {
		n = k->stream ? tux_write(k->c, request + done, h.len - done) :
				tux_send(k->c, request, h.len, 0);
		if (n >= 0)
			done += k->stream ? (size_t)n : h.len;
		else if (n == -EAGAIN)
			client_turn(k, LOOK_MS);
		else
			return (int)n;
	}
	return done == h.len ? 0 : k->err;
}

/* The answer that comes next.  1; 0: it has not all come; -EBADMSG. */
static int client_take(struct kv_client *k, struct kv_answer *a)
{
	size_t left = k->end - k->at;

	if (left < sizeof(a->hdr))
		return 0;
	memcpy(&a->hdr, k->in + k->at, sizeof(a->hdr));
	if (a->hdr.len < sizeof(a->hdr) || a->hdr.len > KV_ANSWER_MAX)
		return -EBADMSG;
	if (left < a->hdr.len)
		return 0;
	a->len = a->hdr.len - (uint32_t)sizeof(a->hdr);
	memcpy(a->result, k->in + k->at + sizeof(a->hdr), a->len);
	k->at += a->hdr.len;
	return 1;
}

int kv_receive(struct kv_client *k, struct kv_answer *a, int ms)
{
	int64_t until = now_ms() + ms, left = ms;
	int got;

	while (!(got = client_take(k, a))) {
		if (!k->c)
			return k->err;
		if (left <= 0)
			return -ETIMEDOUT;
		if (k->full)
			tux_again(k->c);
		client_turn(k, left);
		left = until - now_ms();
	}
	return got < 0 ? got : 0;
}

int kv_ask(struct kv_client *k, enum kv_op op, const void *args, size_t len,
	   struct kv_answer *a, int ms)
{
	int err = kv_send(k, op, args, len, 0);

	return err ? err : kv_receive(k, a, ms);
}
