/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duo - two cores joined by hand
 *
 * One connection, its active end on one core and its passive end on another.
 * Nothing moves by itself: a test carries datagrams and TCP's bytes across,
 * makes some, drops some, and says what time it is.
 */
#ifndef TUX_UNIT_CONN_DUO_H
#define TUX_UNIT_CONN_DUO_H

#include "conn/conn_in.h"
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

struct duo;

struct duo_stream {			/* what TCP brings to an end */
	uint8_t p[DUO_TCP];
	size_t head, tail;
	size_t room;			/* it takes so many bytes more */
	bool eof;
	int err;
};

struct duo_end {
	struct duo *duo;
	struct duo_end *peer;
	struct tux_core *core;
	struct tux_conn *c;		/* NULL: closed */
	struct tux_duplex *dx;
	struct tux_msgbox *box;		/* NULL: it takes no messages */
	struct tux_addr addr;		/* with the UDP port */
	struct tux_tcp tcp;		/* as the duplex uses it */
	struct duo_stream in;
	int own_err;			/* what duplicating comes to */
	bool own_late;			/* ... which the test says itself */
	unsigned ready_n, own_n, tcp_n, shut_n, gone_n;	/* effects so far */
	bool gone_reset;
	unsigned trace_n[TUX_TRACE_N];
	struct tux_trace trace[TUX_TRACE_N];	/* the last of each kind */
};

struct duo {
	struct test_mem mem;		/* both cores' */
	tux_time now;
	struct duo_end a, b;		/* a called connect() */
};

/* ---- birth ---- */

/* Cores without connections, at one second. */
struct duo *duo_new(void);
/* @e's end of the connection is opened at @e's now; with @messages, a takes
 * them.  What tux_core_open() says. */
int duo_open(struct duo_end *e, bool messages);
/* Another connection of @e's core, from a's TCP port @port, with what it needs. */
int duo_open_more(struct duo_end *e, uint16_t port, struct tux_duplex *dx,
		  struct tux_msgbox *box, struct tux_conn **cp);
struct tux_duplex *duo_duplex(void);
struct tux_msgbox *duo_box(void);
/* A second connection between the two cores, beside that of
 * duo_setup_proved(): its path is proved, too, and nothing announced.  @a and
 * @b are its ends. */
struct duo_other {
	struct tux_duplex *dx;
	struct tux_conn *c;
};

void duo_other(struct duo *d, struct duo_other *a, struct duo_other *b);
void duo_other_close(struct duo *d, struct duo_other *a, struct duo_other *b);
/* Closes what is open; all memory must have been given back. */
void duo_free(struct duo *d);

/* For cmocka: both ends are open; the path is proved, too, and nothing announced
 * yet; both directions are on rings; each of these, and both take messages.
 * Counts begin at zero then. */
int duo_setup(void **state);
int duo_setup_proved(void **state);
int duo_setup_switched(void **state);
int duo_setup_open_messages(void **state);
int duo_setup_plain_messages(void **state);
int duo_setup_messages(void **state);
int duo_teardown(void **state);

/* What @e's core asks for is counted; a descriptor is duplicated. */
void duo_effects(struct duo_end *e);
/* Behind a handler that a test has called itself: what follows from the state
 * of @e's connection, in which @dirty (TUX_DIRTY_*) has changed, too. */
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

/* The next datagram of @e's core; its length, 0 if there is none now. */
size_t duo_out(struct duo_end *e, struct duo_pkt *k);
/* Its first packet is taken off; false if that was all. */
bool duo_next(struct duo_pkt *k);
/* The first record of @type in its first packet; NULL: none. */
const struct tux_record *duo_rec(const struct duo_pkt *k, uint8_t type);
/* It arrives at @e, from the peer, with the mark that it left with. */
void duo_in(struct duo_end *e, const struct duo_pkt *k);
/* All that @e has to send now arrives, or is lost.  How many. */
unsigned duo_carry(struct duo_end *e);
unsigned duo_drop(struct duo_end *e);
/* @e's connection fills the window of its pair, and @other, which is of the
 * same pair, stands in line with a PING. */
void duo_fill(struct duo_end *e, struct tux_conn *other);

/* A packet that a test makes for @to, as one who knows the key can.  Header and
 * number are at first those of an honest peer with nothing to say. */
struct duo_forge {
	struct duo_end *to;
	struct tux_pkt h;
	struct tux_writer w;
	uint8_t p[TUX_PKT_MAX];
};

void duo_forge(struct duo_forge *f, struct duo_end *to);
/* Its number is @by beyond the next; numbers in between are still waited for. */
void duo_forge_skip(struct duo_forge *f, unsigned by);
uint8_t *duo_forge_add(struct duo_forge *f, uint8_t type, uint8_t flags,
		       size_t len);
/* It arrives.  Was it kept, and not dropped or doubled? */
bool duo_forge_in(struct duo_forge *f);

/* ---- TCP and applications ---- */

/* The application's calls, and its doorbell.  What the duplex says. */
ssize_t duo_write(struct duo_end *e, const void *p, size_t len);
ssize_t duo_read(struct duo_end *e, void *p, size_t len);
/* @bits are rung, with those that already wait. */
void duo_ring(struct duo_end *e, uint32_t bits);
/* A message of @len bytes, all @fill; its name. */
uint64_t duo_send(struct duo_end *e, uint32_t len, unsigned flags, int fill);

/* @e's loop writes TCP, at most @max bytes; how many. */
size_t duo_tcp_out(struct duo_end *e, size_t max);
/* @e's loop reads TCP, as much as it wants; how many. */
size_t duo_tcp_in(struct duo_end *e);
/* A frame for @e, whole, as if TCP had brought it: its body is the @len bytes
 * at @body, or none (NULL). */
void duo_frame_in(struct duo_end *e, uint8_t type, uint64_t off,
		  const void *body, uint32_t len);

/* Datagrams and TCP go to and fro, at this instant, until nothing moves. */
void duo_settle(struct duo *d);
/* ... and a millisecond later the acknowledgments that were held back. */
void duo_settle_all(struct duo *d);
/* It is @later from now, and what is due is done; nothing is carried. */
void duo_pass(struct duo *d, tux_time later);

#endif
