/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * client - asks a tuxkv, for programs with a thread that may wait
 *
 * A client is one connection.  Many requests may be under way on it.  One thread uses
 * it, which runs the network in these calls.
 */
#ifndef TUXKV_CLIENT_H
#define TUXKV_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto.h"

struct kv_client;

struct kv_client_opts {		/* all zero: the defaults */
	const char *interface;	/* only over it; NULL: any but lo */
	bool udp;		/* over UDP sockets, not AF_XDP */
	bool stream;		/* on the stream, which also works where there is no
				 * Tux; else in messages */
};

struct kv_answer {
	struct kv_hdr hdr;	/* status, and the id of the request */
	uint32_t len;		/* of the result */
	uint8_t result[KV_RESULT_MAX];
};

/* Connects to the numeric address @host.  A NULL @o means the defaults.  -errno. */
int kv_open(struct kv_client **kp, const char *host, uint16_t port,
	    const struct kv_client_opts *o);
void kv_close(struct kv_client *k);	/* NULL is allowed */

/* Sends a request with the id @id; waits for room if need be.  0; -EMSGSIZE: longer
 * than KV_REQUEST_MAX; -EPROTONOSUPPORT: messages, and the server has no Tux; or why
 * the connection has ended, -errno. */
int kv_send(struct kv_client *k, enum kv_op op, const void *args, size_t len,
	    uint64_t id);

/* Takes the next answer, of any request; waits up to @ms milliseconds for it.  0;
 * -ETIMEDOUT; -EBADMSG: no answer of a tuxkv; or as kv_send().  A program that does not
 * take the answers to some 900 requests of 1 KB loses the connection. */
int kv_receive(struct kv_client *k, struct kv_answer *a, int ms);

/* The two in one, for a single request with no other under way. */
int kv_ask(struct kv_client *k, enum kv_op op, const void *args, size_t len,
	   struct kv_answer *a, int ms);

#endif
