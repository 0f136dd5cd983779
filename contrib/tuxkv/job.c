/* SPDX-License-Identifier: BSD-2-Clause */
#include "job.h"

#include <errno.h>
#include <stdlib.h>

/* ---- clients ------------------------------------------------------------- */

int peer_init(struct peer *p, const struct peer_ops *ops, bool stream)
{
	*p = (struct peer){ .ops = ops, .refs = 1 };
	if (stream)
		p->in = malloc(PEER_IN);
	return stream && !p->in ? -ENOMEM : 0;
}

void peer_put(struct peer *p)
{
	if (atomic_fetch_sub(&p->refs, 1) != 1)
		return;
	free(p->in);
	p->ops->free(p);
}

void peer_end(struct peer *p)
{
	atomic_store(&p->ended, true);
	if (!atomic_load(&p->jobs))
		p->ops->done(p);
}

/* ---- jobs ---------------------------------------------------------------- */

struct job *job_new(struct peer *p, const void *request, size_t len)
{
	const struct proc *proc = len > KV_REQUEST_MAX ? NULL :
				  proc_of(request, (uint32_t)len);
	struct job *j = NULL;

	if (proc && atomic_load(&p->jobs) < KV_UNDER_WAY)
		j = malloc(sizeof(*j));
	if (!j)
		return NULL;
	memcpy(j->request.bytes, request, len);
	j->next = NULL;
	j->peer = p;
	j->proc = proc;
	j->step = 0;
	j->sent = 0;
	j->answer.hdr = j->request.hdr;
	j->answer.hdr.len = sizeof(j->answer.hdr);
	atomic_fetch_add(&p->refs, 1);
	atomic_fetch_add(&p->jobs, 1);
	return j;
}

void job_free(struct job *j)
{
	struct peer *p = j->peer;

	if (atomic_fetch_sub(&p->jobs, 1) == 1 && atomic_load(&p->ended))
		p->ops->done(p);
	peer_put(p);
	free(j);
}

/* The length of the request at @at; 0: @n bytes are not all of it. */
static uint32_t request_len(const uint8_t *at, uint32_t n)
{
	struct kv_hdr h;

	if (n < sizeof(h))
		return 0;
	memcpy(&h, at, sizeof(h));
	if (h.len > KV_REQUEST_MAX)
		return n;		/* no request: job_new() says so */
	return n < h.len ? 0 : h.len > sizeof(h) ? h.len : sizeof(h);
}

struct job *job_of_stream(struct peer *p, uint32_t *at, bool *bad)
{
	uint32_t left = p->in_n - *at, len = request_len(p->in + *at, left);
	struct job *j;

	*bad = false;
	if (!len) {
		memmove(p->in, p->in + *at, left);
		p->in_n = left;
		*at = 0;
		return NULL;
	}
	j = job_new(p, p->in + *at, len);
	*at += len;
	*bad = !j;
	return j;
}

/* ---- queues -------------------------------------------------------------- */

void job_queue_init(struct job_queue *q)
{
	q->first = NULL;
	q->last = &q->first;
}

void job_push(struct job_queue *q, struct job *j)
{
	j->next = NULL;
	*q->last = j;
	q->last = &j->next;
}

struct job *job_pop(struct job_queue *q)
{
	struct job *j = q->first;

	if (!j)
		return NULL;
	q->first = j->next;
	if (!q->first)
		q->last = &q->first;
	return j;
}
