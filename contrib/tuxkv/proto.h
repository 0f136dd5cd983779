/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * proto - what a client and tuxkv say to each other
 *
 * A request is a header and arguments, an answer is a header and a result.  As
 * messages, each is one message.  On a stream they follow one another.  Answers
 * come in any order, and each has the id of its request.
 *
 * A client may have KV_UNDER_WAY requests without an answer.  One more ends the
 * connection, and so do bytes that are no request.
 *
 * Integers are little-endian, and structs have no padding.
 */
#ifndef TUXKV_PROTO_H
#define TUXKV_PROTO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "structs are sent as they are in memory");

enum kv_op {			/* a stored procedure */
	KV_GET = 1,		/* YCSB: reads a record */
	KV_RMW,			/* YCSB: reads a record, changes a field of it,
				 * and writes it back */
	KV_NEW_ORDER,		/* TPC-C, see tpcc.h */
	KV_PAYMENT,
	KV_ORDER_STATUS,
	KV_DELIVERY,
	KV_STOCK_LEVEL,
	KV_OPS,
};

enum kv_status {
	KV_OK,
	KV_NOT_FOUND,		/* no such row */
	KV_BAD,			/* an argument is out of range */
	KV_ROLLED_BACK,		/* the procedure ended without a change, as it should */
	KV_FAILED,		/* the engine failed: the last transaction of the
				 * procedure, or its only one, did not take place */
};

struct kv_hdr {
	uint32_t len;		/* bytes, with this header */
	uint16_t op;		/* enum kv_op, in an answer as in the request */
	uint16_t status;	/* enum kv_status; 0 in a request */
	uint64_t id;		/* the client chooses it */
};

enum {
	KV_UNDER_WAY = 1024,	/* requests of a client */
	KV_REQUEST_MAX = 256,	/* bytes, with the header */
	KV_ANSWER_MAX = 1088,
	KV_RESULT_MAX = KV_ANSWER_MAX - (int)sizeof(struct kv_hdr),
};

/* ---- YCSB ---------------------------------------------------------------
 *
 * A record of 1 KB: ten fields of 100 bytes.  Its bytes follow from its key and
 * its version, so whoever reads one can check all of it.
 */

enum { KV_FIELDS = 10, KV_FIELD_LEN = 100 };

struct kv_key {			/* the arguments of both procedures */
	uint64_t key;
};

struct kv_record {		/* the result of both: after the change */
	uint64_t key;
	uint64_t version;	/* how often it was changed */
	uint8_t field[KV_FIELDS][KV_FIELD_LEN];
};

/* What fills field @i of a record: of its last change, or of the beginning. */
static inline uint8_t kv_byte(uint64_t key, uint64_t version, unsigned i)
{
	uint64_t last = version < i ? 0 : version - (version - i) % KV_FIELDS;

	return (uint8_t)(key * 31 + last * 7 + i);
}

static inline void kv_fill(struct kv_record *r, unsigned i)
{
	memset(r->field[i], kv_byte(r->key, r->version, i), KV_FIELD_LEN);
}

static inline void kv_record_init(struct kv_record *r, uint64_t key)
{
	unsigned i;

	r->key = key;
	r->version = 0;
	for (i = 0; i < KV_FIELDS; i++)
		kv_fill(r, i);
}

static inline void kv_record_change(struct kv_record *r)
{
	r->version++;
	kv_fill(r, (unsigned)(r->version % KV_FIELDS));
}

/* Is it whole, and the record of @key? */
static inline bool kv_record_check(const struct kv_record *r, uint64_t key)
{
	unsigned i;

	for (i = 0; i < KV_FIELDS; i++) {
		const uint8_t *f = r->field[i];

		if (f[0] != kv_byte(key, r->version, i) ||
		    memcmp(f, f + 1, KV_FIELD_LEN - 1))
			return false;
	}
	return r->key == key;
}

#endif
