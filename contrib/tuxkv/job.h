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

/* ---- clients -------------------------------------------------------------- */

struct peer;

struct peer_ops {
	/* Sends @n answers; waits for up to PEER_PATIENCE_NS if the client does
	 * not take them, and then ends its connection.  Any thread, and any
	 * routine. */
	void (*answer)(struct peer *p, const struct iovec *iov, int n);
	void (*free)(struct peer *p);
};

enum {
	PEER_IN = 16384,	/* bytes of requests that are looked at together */
	PEER_JOBS = 256,	/* under way: with more, a callback waits before it
				 * takes further requests */
};
#define PEER_PATIENCE_NS UINT64_C(1000000000)

struct peer {			/* the first member of a server's own struct */
	const struct peer_ops *ops;
	_Atomic unsigned refs;	/* the connection, and each of its jobs */
	uint32_t in_n;		/* of a stream: bytes that came, and are in `in` */
	uint8_t *in;		/* PEER_IN of them; NULL: it has messages */
};

/* With one reference, the connection's.  -ENOMEM. */
int peer_init(struct peer *p, const struct peer_ops *ops, bool stream);
/* Drops a reference; the last one frees the peer. */
void peer_put(struct peer *p);

static inline unsigned peer_jobs(struct peer *p)
{
	return atomic_load(&p->refs) - 1;
}

/* ---- jobs ------------------------------------------------------------------ */

struct job {
	struct job *next;	/* in a queue */
	struct peer *peer;	/* with a reference */
	const struct proc *proc;
	unsigned step;		/* the next one of the procedure */
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
 * no request, or there is no memory. */
struct job *job_new(struct peer *p, const void *request, size_t len);
void job_free(struct job *j);

/* The next job of the stream's bytes, from *@at on, which is moved.  NULL: there is
 * no whole request any more, and what is left has moved to the front of p->in; *@bad:
 * the bytes are no request. */
struct job *job_of_stream(struct peer *p, uint32_t *at, bool *bad);

/* ---- queues ----------------------------------------------------------------- */

struct job_queue {
	struct job *first, **last;
};

void job_queue_init(struct job_queue *q);
void job_push(struct job_queue *q, struct job *j);
struct job *job_pop(struct job_queue *q);	/* NULL: there is none */

#endif
