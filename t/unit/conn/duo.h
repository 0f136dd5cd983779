/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duo - two cores joined by hand
 *
 * One connection, its active end on one core and its passive end on another.
 * Nothing moves by itself: a test carries datagrams and bytes of TCP from one
 * end to the other, forges or drops some, and sets the time.
 */
#ifndef TUX_UNIT_CONN_DUO_H
#define TUX_UNIT_CONN_DUO_H

#include "conn/conn_in.h"
#include "conn/message_rx.h"
#include "conn/message_tx.h"
#include "../../duo/end.h"
#include "../test.h"

enum {
	DUO_RING = 4096,		/* bytes in a duplex's ring */
	DUO_MTU = 1472,
	DUO_PORT = 7000,		/* a's UDP port; b's is the next */
	DUO_SMALL = 65536,		/* lanes of messages */
	DUO_BULK = 131072,
	DUO_TCP = 1 << 18,		/* all that TCP ever carries one way */
	DUO_RECORDS = 32,
};

struct duo_log {			/* what a core has traced */
	unsigned n[TUX_TRACE_N];
	struct tux_trace last[TUX_TRACE_N];
};

struct duo {
	struct test_mem mem;		/* both cores' */
	tux_time now;
	struct duo_end a, b;		/* a called connect() */
	struct duo_log log_a, log_b;
	uint8_t tcp[2][DUO_TCP];
};

/* ---- birth ---- */

/* Two cores without connections; the time is one second. */
struct duo *duo_new(void);
/* Opens @e's end of the connection, with a message box if @messages.  Returns
 * what tux_core_open() does. */
int duo_open(struct duo_end *e, bool messages);
struct tux_duplex *duo_duplex(void);
struct tux_msgbox *duo_box(void);
/* Makes @o another end of @e's core, with a message box if @messages; for
 * duo_end_open(). */
void duo_beside(struct duo_end *o, const struct duo_end *e, bool messages);
/* Closes the connection of @e, if it is open, and frees its memory. */
void duo_close(struct duo_end *e);
/* Opens a second connection between the two cores, beside that of
 * duo_setup_proved(), with the ends @a and @b.  Its path is proved, too, and
 * nothing is announced. */
void duo_other(struct duo *d, struct duo_end *a, struct duo_end *b);
void duo_other_close(struct duo_end *a, struct duo_end *b);
/* Closes what is open, and asserts that all memory was freed. */
void duo_free(struct duo *d);

/* Fixtures for cmocka: both ends are open; the path is proved as well, and
 * nothing is announced yet; both directions are on Tux as well.  Then the same
 * three, with messages at both ends.  All counters are zero then, of effects
 * and of the trace. */
int duo_setup(void **state);
int duo_setup_proved(void **state);
int duo_setup_switched(void **state);
int duo_setup_open_messages(void **state);
int duo_setup_plain_messages(void **state);
int duo_setup_messages(void **state);
int duo_teardown(void **state);

/* The settle step, for a test that has called a handler itself; @dirty
 * (TUX_DIRTY_*) has changed as well. */
void duo_derive(struct duo_end *e, uint32_t dirty);

/* ---- datagrams ---- */

struct duo_pkt {			/* a datagram, and its first packet */
	uint8_t p[TUX_PKT_MAX];
	size_t len;			/* of the datagram */
	struct tux_addr to, from;
	uint8_t ecn;
	struct tux_pkt h;
	unsigned rec_n;
	struct tux_record rec[DUO_RECORDS];
};

/* The next datagram of @e's core.  Returns its length; 0: there is none now. */
size_t duo_out(struct duo_end *e, struct duo_pkt *k);
/* Removes the first packet of the datagram.  False: it was the last. */
bool duo_next(struct duo_pkt *k);
/* The first record of @type in the first packet; NULL: none. */
const struct tux_record *duo_rec(const struct duo_pkt *k, uint8_t type);
/* The datagram arrives at @e, from its peer, with the ECN mark it left with. */
void duo_in(struct duo_end *e, const struct duo_pkt *k);
/* All datagrams that @e has to send now arrive, or are lost.  Returns how
 * many. */
unsigned duo_carry(struct duo_end *e);
unsigned duo_drop(struct duo_end *e);
/* From now on, @c's window takes one packet, and no more of @c's own. */
void duo_narrow(struct tux_conn *c);
/* Fills the window of the pair with packets of @e's connection, so that @other,
 * of the same pair, waits in line with a PING. */
void duo_fill(struct duo_end *e, struct tux_conn *other);

/* A packet to @to that a test makes with the connection's key.  duo_forge()
 * sets header and number as an honest peer with nothing to say would. */
struct duo_forge {
	struct duo_end *to;
	struct tux_pkt h;
	struct tux_writer w;
	uint8_t p[TUX_PKT_MAX];
};

void duo_forge(struct duo_forge *f, struct duo_end *to);
/* Sets the number @by beyond the next; the numbers in between may still
 * come. */
void duo_forge_skip(struct duo_forge *f, unsigned by);
uint8_t *duo_forge_add(struct duo_forge *f, uint8_t type, uint8_t flags,
		       size_t len);
/* The packet arrives.  False: it was dropped, or taken for a duplicate. */
bool duo_forge_in(struct duo_forge *f);

/* ---- TCP and applications ---- */

/* Hands in a message of @len bytes, all @fill, and does not ring.  Returns its
 * name. */
uint64_t duo_hand_in(struct duo_end *e, uint32_t len, unsigned flags, int fill);
/* The same, and rings. */
uint64_t duo_send(struct duo_end *e, uint32_t len, unsigned flags, int fill);

/* Begins the messages of @c that may begin, and picks what goes next. */
static inline bool duo_pick(struct tux_conn *c, size_t room,
			    struct tux_msg_pick *k)
{
	tux_message_begin(c);
	return tux_message_pick(c, room, k);
}

/* A fragment that is a whole small message, of which a test changes what it is
 * about. */
static inline struct tux_message_hdr duo_frag(uint32_t id, uint32_t pos,
					      uint32_t total)
{
	return (struct tux_message_hdr){
		.flags = TUX_MESSAGE_FIRST | TUX_MESSAGE_LAST, .id = id,
		.pos = pos, .total = total, .len = total,
	};
}

/* It comes to b, in a packet.  Returns what tux_message_put() does. */
static inline int duo_message(struct duo *d, struct tux_message_hdr h)
{
	static const uint8_t bytes[DUO_BULK] = { 1 };

	return tux_message_put(d->b.c, &h, bytes, false);
}

/* The application of b takes what is there, and is done with the first @n.
 * Returns how many there were. */
static inline unsigned duo_take(struct duo *d, unsigned n)
{
	struct tux_msg m[TUX_MSG_IN];
	unsigned k = tux_msgbox_take(d->b.box, m, TUX_MSG_IN);

	tux_msgbox_release(d->b.box, m, n < k ? n : k);
	return k;
}

/* @e's loop writes its next frame to TCP, and TCP takes all of it.  Returns how
 * many bytes that is with its body; 0: there is none. */
size_t duo_frame_out(struct duo_end *e, struct tux_frame *f);
/* @e goes back to TCP, its peer not yet.  It is of an older kind, which does not
 * know the frame PLAIN. */
void duo_stall(struct duo_end *e);
/* A whole frame reaches @e, as if over TCP, with the @len bytes at @body; @body
 * may be NULL. */
void duo_frame_in(struct duo_end *e, uint8_t type, uint64_t off,
		  const void *body, uint32_t len);

/* Carries datagrams and TCP both ways until nothing moves; no time passes. */
void duo_settle(struct duo *d);
/* The same, then a millisecond passes, and delayed acknowledgments are
 * carried. */
void duo_settle_all(struct duo *d);
/* @later passes, and timers that are due expire; nothing is carried. */
void duo_pass(struct duo *d, tux_time later);

#endif
