/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "workers.h"

enum { LOOK_NS = 50000 };	/* so often a routine that waits looks */

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

/* The client's first message, or the first bytes of its stream, decide which of the two
 * it uses. */
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

/* Until the client has @most jobs under way.  Meanwhile no other callback of its
 * connection begins, and what it sends fills the room that it has. */
static void push_wait(struct peer *p, unsigned most)
{
	while (peer_jobs(p) > most)
		tux_sleep(LOOK_NS);
}

static void push_job(struct push *p, struct batch *b, struct job *j)
{
	if (p->selective && j->proc->is_long)
		workers_give(&p->workers, j);
	else
		batch_add(b, j);
}

static void push_message(struct tux_connection *c, struct tux_message *m,
			 unsigned n, void *arg)
{
	struct push_peer *o = push_peer(c, false);
	struct push *p = arg;
	struct batch b = { .engine = p->engine, .in_callback = true };
	unsigned i;

	if (o)
		push_wait(&o->peer, PEER_JOBS);
	for (i = 0; i < n; i++) {
		struct job *j = o ? job_new(&o->peer, m[i].p, m[i].len) : NULL;

		if (!j) {
			tux_abort(c);
			break;
		}
		push_job(p, &b, j);
	}
	batch_run(&b);
}

/* Returns false if the bytes are no requests. */
static bool push_requests(struct push *p, struct peer *o)
{
	struct batch b = { .engine = p->engine, .in_callback = true };
	struct job *j;
	uint32_t at = 0;
	bool bad;

	push_wait(o, PEER_JOBS);
	while ((j = job_of_stream(o, &at, &bad)))
		push_job(p, &b, j);
	batch_run(&b);
	return !bad;
}

static ssize_t push_read(struct tux_connection *c, struct peer *p)
{
	ssize_t n = tux_read(c, p->in + p->in_n, PEER_IN - p->in_n);

	if (n > 0)
		p->in_n += (uint32_t)n;
	return n;
}

/* The client has ended its stream, or never had one.  It still gets its answers. */
static void push_end_of_stream(struct tux_connection *c)
{
	struct push_peer *o = tux_user(c);

	if (o)
		push_wait(&o->peer, 0);
	tux_disconnect(c);
}

static void push_stream(struct tux_connection *c, void *arg)
{
	struct push_peer *o = NULL;
	char first;
	ssize_t n = tux_peek(c, &first, 1);
	bool bad = n > 0 && !(o = push_peer(c, true));

	while (n > 0 && !bad) {
		n = push_read(c, &o->peer);
		bad = n > 0 && !push_requests(arg, &o->peer);
	}
	if (bad)
		tux_abort(c);
	else if (n == 0)
		push_end_of_stream(c);
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

/* Nothing new begins.  What is under way ends before the stack does, which runs it, or
 * sends its answers. */
static void push_end(struct push *p)
{
	struct pollfd f = { tux_fd(p->tux), POLLIN, 0 };

	tux_service_free(p->service);
	while ((workers_busy(&p->workers) ||
		writers_busy(&p->engine->writers)) && tux_turn(p->tux) >= 0)
		poll(&f, 1, 1);
	workers_stop(&p->workers);
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
}

int serve_push(struct engine *e, const struct serve_opts *o)
{
	struct push p = { .engine = e, .selective = o->workers };
	int err = tux_open(&p.tux, &o->tux);

	if (err)
		return err;
	writers_init(&e->writers, &e->store, p.tux, e->group);
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
