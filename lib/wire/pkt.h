/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pkt - packets and records, to structs and back
 *
 * Reading borrows: what a record points to lies in the packet.  Every length
 * is checked here, so that nothing above needs to.
 */
#ifndef TUX_WIRE_PKT_H
#define TUX_WIRE_PKT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sip.h"
#include "wire/addr.h"
#include "wire/wire.h"

struct tux_pkt {			/* a header */
	uint8_t version, flags;
	uint16_t len, span, delay;	/* delay in 16 us units */
	uint32_t id, seq, ack, window;
	uint64_t got;
	uint32_t seal;			/* what its CRC is XORed with */
	uint8_t ect, ce;		/* counts of part/ecn.h */
};

struct tux_hello {
	uint8_t flags, version;
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
	uint32_t reason;		/* RESET */
	const uint8_t *data;		/* STREAM: the bytes */
	uint16_t data_len;
};

struct tux_reader {			/* a walk over the records of a packet */
	const uint8_t *at, *end;
};

/* Looks at the next packet in the @len bytes at @p.  0 with *@h filled, and the
 * packet is h->len bytes long; -EBADMSG: no Tux packet, or damaged (magic,
 * length; the CRC, but see tux_pkt_sealed()); -EPROTONOSUPPORT: a version that
 * we do not speak (then h->version, h->flags, h->len and h->id are valid). */
int tux_pkt_decode(struct tux_pkt *h, const uint8_t *p, size_t len);

/* Is the packet at @p, decoded into @h and without OPEN, undamaged, and made by
 * somebody who knows @k? */
bool tux_pkt_sealed(const struct tux_pkt *h, const uint8_t *p,
		    const struct tux_key *k);

/* Starts a walk over the records of the packet at @p, decoded into @h. */
void tux_reader_init(struct tux_reader *r, const struct tux_pkt *h,
		     const uint8_t *p);

/* The next record into *@rec.  1; 0 at the end; -EBADMSG if it is malformed.
 * Unknown types are returned with their body, for the caller to pass over. */
int tux_reader_next(struct tux_reader *r, struct tux_record *rec);

/* Passes over all but the first record of @type, as long as their lengths make
 * sense.  False: there is none, or it is malformed. */
bool tux_reader_find(struct tux_reader *r, uint8_t type,
		     struct tux_record *rec);

/* Range @i of a SACK record with rec->len / TUX_SACK_EACH ranges. */
void tux_sack_get(const struct tux_record *rec, unsigned i, uint32_t *start,
		  uint32_t *end);

/* A HELLO record's body into *@h, id, seq and token as they travel: masked.  0,
 * or -EBADMSG (length, family, zeros). */
int tux_hello_decode(struct tux_hello *h, const struct tux_record *rec);

/* Hides id, seq and token of @h, whose nonce is set, from everybody who does not
 * know @k; or shows them again.  What all later packets are recognised by must
 * not be read by whoever holds the UDP port at the moment. */
void tux_hello_mask(struct tux_hello *h, const struct tux_key *k);

/* The MAC of the whole opening packet at @p (HELLO is its first record) is
 * right under @k? */
bool tux_hello_mac_ok(const uint8_t *p, const struct tux_pkt *h,
		      const struct tux_key *k);

/* A packet being built in the caller's buffer. */
struct tux_writer {
	uint8_t *p;
	size_t len, cap;
};

/* Begins a packet in @cap bytes at @p (at most TUX_PKT_MAX are used; @cap is at
 * least TUX_PKT_HDR).  The header is written by tux_writer_end(). */
void tux_writer_init(struct tux_writer *w, uint8_t *p, size_t cap);

/* How many bytes a record's body could still have; 0 if not even a header fits. */
size_t tux_writer_room(const struct tux_writer *w);

/* Appends a record with a body of @len bytes and returns the body for the
 * caller to fill; NULL if there is no room. */
uint8_t *tux_writer_add(struct tux_writer *w, uint8_t type, uint8_t flags,
			size_t len);

/* Appends a HELLO, masked by the caller (its MAC comes with tux_writer_end()).
 * False: no room. */
bool tux_writer_hello(struct tux_writer *w, const struct tux_hello *h);

/* Finishes the packet: header from @h (len and version are set here), then the
 * CRC.  With @k, the packet has the MAC of its HELLO if it has OPEN, else the
 * seal.  Returns the packet's length. */
size_t tux_writer_end(struct tux_writer *w, struct tux_pkt *h,
		      const struct tux_key *k);

#endif
