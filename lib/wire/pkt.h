/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt - reads and writes packets and their records
 *
 * Reading copies nothing: pointers in a struct tux_record point into the
 * packet.  Reading checks every length, so the callers need not.
 */
#ifndef TUX_WIRE_PKT_H
#define TUX_WIRE_PKT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sip.h"
#include "wire/addr.h"
#include "wire/wire.h"

struct tux_pkt {			/* a header; wire.h has the fields */
	uint8_t version, flags;
	uint16_t len, span, delay;	/* delay in units of 16 us */
	uint32_t id, seq, ack, window;
	uint64_t got;
	uint32_t seal;			/* the CRC field XOR the CRC; of an
					 * undamaged packet, its seal */
	uint8_t ect, ce;		/* struct tux_ecn_counts */
};

struct tux_hello {
	uint8_t flags, version;
	uint8_t why;			/* not 0: a refusal, and its reason */
	uint16_t port;
	uint32_t id, seq, window;
	uint64_t nonce, echo, token;
	uint16_t pkt_max, delay;	/* delay in 0.1 ms */
	struct tux_tuple tuple;
};

struct tux_record {
	uint8_t type, flags;
	uint16_t len;			/* of body */
	const uint8_t *body;
	uint64_t off;			/* STREAM: offset; PREPARE: N */
	uint32_t gen;			/* PREPARE, PREPARED */
	uint32_t turn;			/* PREPARE */
	uint32_t reason;		/* RESET */
	const uint8_t *data;		/* STREAM: the bytes */
	uint16_t data_len;
};

struct tux_reader {			/* walks over the records of a packet */
	const uint8_t *at, *end;
};

/* Reads the header of the packet at @p, where @len bytes are left of its
 * datagram, into *@h.  Returns 0; the packet is h->len bytes long.  -EBADMSG:
 * it is not a Tux packet, or its length or CRC is wrong; but the CRC of a
 * packet without OPEN is left to tux_pkt_sealed().  -EPROTONOSUPPORT: it has
 * another version than TUX_WIRE_VERSION; only h->version, h->flags, h->len and
 * h->id are valid. */
int tux_pkt_decode(struct tux_pkt *h, const uint8_t *p, size_t len);

/* Is the packet at @p, without OPEN and decoded into @h, undamaged and sealed
 * with @k? */
bool tux_pkt_sealed(const struct tux_pkt *h, const uint8_t *p,
		    const struct tux_key *k);

/* Begins at the first record of the packet at @p, which was decoded into @h. */
void tux_reader_init(struct tux_reader *r, const struct tux_pkt *h,
		     const uint8_t *p);

/* Reads the next record into *@rec.  Returns 1; 0 at the end of the packet;
 * -EBADMSG if the record is malformed.  A record of an unknown type is returned
 * as well; the caller ignores it. */
int tux_reader_next(struct tux_reader *r, struct tux_record *rec);

/* Finds the first record of @type.  Of the records before it, only the lengths
 * are checked.  Returns false if there is none, or if it is malformed. */
bool tux_reader_find(struct tux_reader *r, uint8_t type,
		     struct tux_record *rec);

/* Range @i of a SACK record, which has rec->len / TUX_SACK_EACH ranges. */
void tux_sack_get(const struct tux_record *rec, unsigned i, uint32_t *start,
		  uint32_t *end);

/* Reads the body of a HELLO record into *@h; id, seq and token stay masked.
 * Returns 0, or -EBADMSG: the length or the family is wrong, or bytes that must
 * be zero are not. */
int tux_hello_decode(struct tux_hello *h, const struct tux_record *rec);

/* Masks id, seq and token of @h under @k, or unmasks them; h->nonce must be
 * set.  Later packets are recognised by these fields.  So a process of another
 * user that holds the UDP port for a while must not be able to read them. */
void tux_hello_mask(struct tux_hello *h, const struct tux_key *k);

/* Is the MAC of the packet with OPEN at @p, decoded into @h, right under @k?
 * HELLO must be its first record. */
bool tux_hello_mac_ok(const uint8_t *p, const struct tux_pkt *h,
		      const struct tux_key *k);

struct tux_writer {			/* builds a packet in a buffer */
	uint8_t *p;
	size_t len, cap;
};

/* Begins a packet in the caller's @cap bytes at @p.  @cap is at least
 * TUX_PKT_HDR; at most TUX_PKT_MAX bytes are used. */
void tux_writer_init(struct tux_writer *w, uint8_t *p, size_t cap);

/* The longest body that another record could have.  0 if there is no room for
 * more than the header of a record, or not even for that. */
size_t tux_writer_room(const struct tux_writer *w);

/* Appends a record with a body of @len bytes.  Returns the body, for the caller
 * to fill; NULL if there is no room. */
uint8_t *tux_writer_add(struct tux_writer *w, uint8_t type, uint8_t flags,
			size_t len);

/* Appends the HELLO @h, which the caller has masked; tux_writer_end() adds the
 * MAC.  Returns false if there is no room. */
bool tux_writer_hello(struct tux_writer *w, const struct tux_hello *h);

/* Finishes the packet: sets h->len and h->version, and writes the header from
 * @h and the CRC.  With @k (not NULL), it adds the MAC of HELLO to a packet
 * with OPEN, and the seal to any other.  Returns the length of the packet. */
size_t tux_writer_end(struct tux_writer *w, struct tux_pkt *h,
		      const struct tux_key *k);

#endif
