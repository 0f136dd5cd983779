/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job - a request on its way through the server, and the client that it is of
 *
 * A job holds copies: of the request, and later of the answer.  So it needs no
 * transaction, and no memory of the network's, while it waits for its turn.
 */
#ifndef TUXKV_JOB_H
#define TUXKV_JOB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

#include "proc.h"
#include "proto.h"

/* ---- clients ------------------------------------------------------------- */

struct job;
struct peer;

struct peer_ops {
	/* Takes over @n jobs: sends their answers and frees them, now or when there
	 * is room.  Never waits in a callback.  Any thread, and any routine. */
	void (*answer)(struct peer *p, struct job *const *job, unsigned n);
	/* The client has ended its stream, and has all of its answers. */
	void (*done)(struct peer *p);
	void (*free)(struct peer *p);
};

enum { PEER_IN = 16384 };	/* bytes of requests that are looked at together */

struct peer {			/* the first member of a server's own struct */
	const struct peer_ops *ops;
	_Atomic unsigned refs;	/* the connection, and each of its jobs */
	_Atomic unsigned jobs;	/* not freed yet: under way, or the answer waits for
				 * room */
	_Atomic bool ended;	/* no request comes any more */
	uint32_t in_n;		/* of a stream: bytes that came, and are in `in` */
	uint8_t *in;		/* PEER_IN of them; NULL: it has messages */
};

/* With one reference, the connection's.  -ENOMEM. */
int peer_init(struct peer *p, const struct peer_ops *ops, bool stream);
/* Drops a reference; the last one frees the peer. */
void peer_put(struct peer *p);
/* No request comes any more: after the last answer, ops->done runs; at once if there is
 * none. */
void peer_end(struct peer *p);

/* ---- jobs ---------------------------------------------------------------- */

struct job {
	struct job *next;	/* in a queue */
	struct peer *peer;	/* with a reference */
	const struct proc *proc;
	unsigned step;		/* the next one of the procedure */
	uint32_t sent;		/* bytes of the answer */
	union {
		struct kv_hdr hdr;
		uint8_t bytes[KV_REQUEST_MAX];
	} request;
	struct {
		struct kv_hdr hdr;
		uint8_t result[KV_RESULT_MAX];
	} answer;
};

/* A job of @p for the @len bytes at @request, which is a whole one.  NULL: they are
 * no request, KV_UNDER_WAY are under way, or there is no memory; the connection should
 * end. */
struct job *job_new(struct peer *p, const void *request, size_t len);
void job_free(struct job *j);

/* The next job of the stream's bytes, from *@at on, which is moved.  NULL: there is
 * no whole request any more, and what is left has moved to the front of p->in; *@bad:
 * the connection should end. */
struct job *job_of_stream(struct peer *p, uint32_t *at, bool *bad);

/* ---- queues -------------------------------------------------------------- */

struct job_queue {
	struct job *first, **last;
};

void job_queue_init(struct job_queue *q);
void job_push(struct job_queue *q, struct job *j);
struct job *job_pop(struct job_queue *q);	/* NULL: there is none */

#endif
