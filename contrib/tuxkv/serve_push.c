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
	_Atomic bool ends;	/* requests are not taken any more */
	struct tux *tux;
	struct tux_service *service;
};

struct push_peer {
	struct peer peer;
	struct tux_connection *c;	/* with a reference */
	pthread_mutex_t lock;	/* of what follows */
	struct job_queue out;	/* answers for which there was no room */
};

/* ---- answers ------------------------------------------------------------- */

static struct push_peer *push_peer_of(struct peer *p)
{
	return (struct push_peer *)p;
}

/* Sends what is left of the answer.  0; -EAGAIN: there is no room for all of it, and the
 * room callback will run; other -errno: it cannot be sent. */
static int push_send(struct push_peer *o, struct job *j)
{
	const char *p = (const char *)&j->answer + j->sent;
	size_t left = j->answer.hdr.len - j->sent;
	ssize_t n;

	if (!o->peer.in)
		return tux_send(o->c, p, left, 0);
	n = tux_write(o->c, p, left);
	if (n < 0)
		return (int)n;
	j->sent += (uint32_t)n;
	return (size_t)n < left ? -EAGAIN : 0;
}

/* Sends as many as there is room for.  Jobs that are sent, or whose connection is over,
 * move to @done. */
static void push_send_all(struct push_peer *o, struct job_queue *done)
{
	int err = 0;

	while (o->out.first && err != -EAGAIN) {
		err = push_send(o, o->out.first);
		if (err && err != -EAGAIN)
			tux_abort(o->c);
		if (err != -EAGAIN)
			job_push(done, job_pop(&o->out));
	}
}

/* job_free() may drop the last reference to the client, so it comes after the lock.
 * Under the lock a routine is not preempted: others would wait for it in the kernel. */
static void push_flush(struct push_peer *o, struct job *const *job, unsigned n)
{
	struct job_queue done;
	struct job *j;
	unsigned i;

	job_queue_init(&done);
	tux_uninterruptible_enter();
	pthread_mutex_lock(&o->lock);
	for (i = 0; i < n; i++)
		job_push(&o->out, job[i]);
	push_send_all(o, &done);
	pthread_mutex_unlock(&o->lock);
	tux_uninterruptible_leave();
	while ((j = job_pop(&done)))
		job_free(j);
}

static void push_answer(struct peer *p, struct job *const *job, unsigned n)
{
	push_flush(push_peer_of(p), job, n);
}

static void push_room(struct tux_connection *c, void *arg)
{
	struct push_peer *o = tux_user(c);

	(void)arg;
	if (o)
		push_flush(o, NULL, 0);
}

static void push_done(struct peer *p)
{
	tux_disconnect(push_peer_of(p)->c);
}

static void push_free(struct peer *p)
{
	struct push_peer *o = push_peer_of(p);

	tux_put(o->c);
	free(o);
}

static const struct peer_ops push_ops = { push_answer, push_done, push_free };

/* ---- callbacks ----------------------------------------------------------- */

/* The client's first message, or the first bytes of its stream, decide which of the two
 * it uses. */
static struct push_peer *push_peer(struct tux_connection *c, bool on_stream)
{
	struct push_peer *o = tux_user(c);

	if (o)
		return !o->peer.in == !on_stream ? o : NULL;
	o = malloc(sizeof(*o));
	if (!o || peer_init(&o->peer, &push_ops, on_stream)) {
		free(o);
		return NULL;
	}
	pthread_mutex_init(&o->lock, NULL);
	job_queue_init(&o->out);
	tux_get(c);
	o->c = c;
	tux_set_user(c, o);
	return o;
}

static void push_job(struct push *p, struct batch *b, struct job *j)
{
	if (atomic_load(&p->ends))
		job_free(j);
	else if (p->selective && j->proc->is_long)
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

/* Returns false if the connection should end. */
static bool push_requests(struct push *p, struct peer *o)
{
	struct batch b = { .engine = p->engine, .in_callback = true };
	struct job *j;
	uint32_t at = 0;
	bool bad;

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
		peer_end(&o->peer);
	else
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

/* Frees the answers that waited for room, too. */
static void push_gone(struct tux_connection *c, int err, void *arg)
{
	struct push_peer *o = tux_user(c);

	(void)err;
	(void)arg;
	if (!o)
		return;
	push_flush(o, NULL, 0);
	peer_put(&o->peer);
}

/* ---- the server ---------------------------------------------------------- */

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
	tux_on_room(p->service, push_room, p);
	tux_on_gone(p->service, push_gone, p);
	return tux_listen(p->service, o->host, o->port);
}

/* No request is taken any more.  Those that were taken are answered, as far as there is
 * room; then connections end, which delivers the answers. */
static void push_end(struct push *p)
{
	struct pollfd f = { tux_fd(p->tux), POLLIN, 0 };

	atomic_store(&p->ends, true);
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
