/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "workers.h"

struct push {
	struct engine *engine;
	struct workers workers;
	bool selective;		/* long procedures are the workers' */
	struct tux *tux;
	struct tux_service *service;
};

struct push_peer {
	struct peer peer;
	struct tux_connection *c;	/* with a reference */
};

/* ---- answers ------------------------------------------------------------------ */

static struct push_peer *push_peer_of(struct peer *p)
{
	return (struct push_peer *)p;
}

static void push_answer(struct peer *p, const struct iovec *iov, int n)
{
	struct tux_connection *c = push_peer_of(p)->c;
	int i, err = 0;

	for (i = 0; i < n && !err; i++)
		err = tux_send_wait(c, iov[i].iov_base, iov[i].iov_len, 0,
				    PEER_PATIENCE_NS);
	if (err)
		tux_abort(c);
}

static void push_answer_stream(struct peer *p, const struct iovec *iov, int n)
{
	struct tux_connection *c = push_peer_of(p)->c;
	size_t len = 0;
	int i;

	for (i = 0; i < n; i++)
		len += iov[i].iov_len;
	if (tux_writev_wait(c, iov, n, PEER_PATIENCE_NS) != (ssize_t)len)
		tux_abort(c);
}

static void push_free(struct peer *p)
{
	struct push_peer *o = push_peer_of(p);

	tux_put(o->c);
	free(o);
}

static const struct peer_ops messages = { push_answer, push_free };
static const struct peer_ops stream = { push_answer_stream, push_free };

/* ---- callbacks ----------------------------------------------------------------- */

/* What a client has is known by what comes first. */
static struct push_peer *push_peer(struct tux_connection *c, bool on_stream)
{
	struct push_peer *o = tux_user(c);

	if (o)
		return !o->peer.in == !on_stream ? o : NULL;
	o = malloc(sizeof(*o));
	if (!o || peer_init(&o->peer, on_stream ? &stream : &messages,
			    on_stream)) {
		free(o);
		return NULL;
	}
	tux_get(c);
	o->c = c;
	tux_set_user(c, o);
	return o;
}

static void push_job(struct push *p, struct batch *b, struct job *j)
{
	if (p->selective && j->proc->is_long)
		workers_give(&p->workers, j);
	else
		batch_add(b, p->engine, j);
}

static void push_message(struct tux_connection *c, struct tux_message *m,
			 unsigned n, void *arg)
{
	struct push_peer *o = push_peer(c, false);
	struct batch b = { 0 };
	unsigned i;

	for (i = 0; i < n; i++) {
		struct job *j = o ? job_new(&o->peer, m[i].p, m[i].len) : NULL;

		if (!j) {
			tux_abort(c);
			break;
		}
		push_job(arg, &b, j);
	}
	batch_run(&b, ((struct push *)arg)->engine);
}

/* Returns false if the bytes are no requests. */
static bool push_requests(struct push *p, struct push_peer *o)
{
	struct batch b = { 0 };
	struct job *j;
	uint32_t at = 0;
	bool bad;

	while ((j = job_of_stream(&o->peer, &at, &bad)))
		push_job(p, &b, j);
	batch_run(&b, p->engine);
	return !bad;
}

static void push_stream(struct tux_connection *c, void *arg)
{
	struct push_peer *o = push_peer(c, true);
	struct peer *p = &o->peer;
	ssize_t n;

	if (!o) {
		tux_abort(c);
		return;
	}
	while ((n = tux_read(c, p->in + p->in_n, PEER_IN - p->in_n)) > 0) {
		p->in_n += (uint32_t)n;
		if (!push_requests(arg, o)) {
			tux_abort(c);
			return;
		}
	}
	if (n == 0)
		tux_disconnect(c);
}

static void push_gone(struct tux_connection *c, int err, void *arg)
{
	struct push_peer *o = tux_user(c);

	(void)err;
	(void)arg;
	if (o)
		peer_put(&o->peer);
}

/* ---- the server ------------------------------------------------------------------ */

static struct tux *ends;		/* the stack that signals stop */

static void push_stop(int sig)
{
	(void)sig;
	tux_stop(ends);
}

static int push_listen(struct push *p, const struct serve_opts *o)
{
	int err = tux_service_new(p->tux, &p->service);

	if (!err)
		err = tux_set_group(p->service, p->engine->group);
	if (err)
		return err;
	tux_on_message(p->service, push_message, p);
	tux_on_stream(p->service, push_stream, p);
	tux_on_gone(p->service, push_gone, p);
	return tux_listen(p->service, o->host, o->port);
}

/* Jobs have references to connections, which end before the stack does. */
static void push_end(struct push *p)
{
	struct pollfd f = { tux_fd(p->tux), POLLIN, 0 };

	workers_stop(&p->workers);
	while (writers_busy(&p->engine->writers) && tux_turn(p->tux) >= 0)
		poll(&f, 1, 1);
}

int serve_push(struct engine *e, const struct serve_opts *o)
{
	struct push p = { .engine = e, .selective = o->workers };
	int err = tux_open(&p.tux, &o->tux);

	if (err)
		return err;
	writers_init(&e->writers, &e->store, p.tux);
	ends = p.tux;
	signal(SIGTERM, push_stop);
	signal(SIGINT, push_stop);
	err = workers_start(&p.workers, e, o->workers);
	if (!err)
		err = push_listen(&p, o);
	if (!err) {
		printf("port %d\n", tux_port(p.service));
		err = tux_run(p.tux);
	}
	push_end(&p);
	tux_close(p.tux);
	return err;
}
