/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msgbox - what an application and a loop share of one connection's messages
 *
 * A block of shareable memory beside the duplex.  Out: per lane, bytes and a
 * ring of notes that say where each message lies; the loop reads them, and
 * settles each note when the peer has the message or it has failed.  In: per
 * lane, bytes that the loop fills, and one ring that says which messages are
 * complete; the application reads them where they lie and releases each when
 * it is done.  No pointer crosses, and what the loop takes from a note it
 * checks.
 *
 * The application's threads hold the duplex's tx latch around a call about
 * sending, its rx latch around one about receiving.
 *
 * A message is small (up to TUX_MSG_SMALL) or bulk; each kind has room of its
 * own.  Room is given back in the order of sending: whoever keeps a received
 * message for long copies it, and releases it.
 */
#ifndef TUX_CONN_MSGBOX_H
#define TUX_CONN_MSGBOX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "wire/message.h"

enum {
	TUX_MSG_SMALL = 16384,		/* the longest in the small lane */
	TUX_MSG_SMALL_N = 256,		/* messages under way in a lane */
	TUX_MSG_BULK_N = 32,
	TUX_MSG_N = TUX_MSG_SMALL_N + TUX_MSG_BULK_N,
	TUX_MSG_IN = 512,		/* room for all that can be complete */
};

/* Flags of a message. */
enum { TUX_MSG_ORDERED = 0x01 };	/* behind all earlier ordered ones */

enum tux_note_state {
	TUX_NOTE_FREE,
	TUX_NOTE_OPEN,			/* reserved; being filled */
	TUX_NOTE_READY,			/* the loop may send it */
	TUX_NOTE_CANCEL,		/* ... but need not any more */
	TUX_NOTE_SENT,			/* the peer has it */
	TUX_NOTE_FAILED,		/* the peer will not have it: see err */
};

struct tux_note {			/* a message to be sent */
	_Atomic uint32_t state;		/* enum tux_note_state */
	uint32_t len, flags;
	uint32_t order;			/* its number, if it is ordered */
	uint32_t err;			/* errno */
	uint64_t at;			/* its place */
};

struct tux_msgbox_tx {			/* one lane, out */
	uint32_t cap, mem;		/* its bytes are at mem in the box */
	_Atomic uint32_t max;		/* longest that the peer takes */
	_Atomic uint64_t next;		/* notes written */
	uint64_t taken;			/* ... begun or refused; the loop's, while
					 * it has no connection */
	uint64_t first;			/* oldest note in use: who sends owns it */
	uint64_t head, tail;		/* places in use: the application's */
};

struct tux_msgbox_rx {			/* one lane, in */
	uint32_t cap, mem;
	_Atomic uint64_t freed;		/* bytes released so far */
	_Atomic uint64_t wake_at;	/* ring when freed reaches this */
};

struct tux_arrival {			/* a message that is complete */
	uint32_t id, len, at;
	uint8_t lane, flags;
};

struct tux_msgbox {
	struct tux_msgbox_tx tx[TUX_LANES];
	struct tux_msgbox_rx rx[TUX_LANES];
	_Atomic uint32_t err;		/* errno for who sends; 0: none */
	_Atomic uint32_t cancels;	/* notes were cancelled: look */
	uint32_t order;			/* of the next ordered message out */
	bool asks;			/* who sends asks what became of each */
	_Atomic uint32_t in_head;	/* arrivals: the loop's, */
	_Atomic uint32_t in_tail;	/* and the application's */
	struct tux_note note[TUX_MSG_N];
	_Atomic uint8_t released[TUX_MSG_N];
	struct tux_arrival in[TUX_MSG_IN];
};

static inline uint32_t tux_lane_n(unsigned lane)
{
	return lane ? TUX_MSG_BULK_N : TUX_MSG_SMALL_N;
}

/* Where message @i of @lane stands in an array of TUX_MSG_N. */
static inline uint32_t tux_lane_slot(unsigned lane, uint64_t i)
{
	return lane ? TUX_MSG_SMALL_N + (uint32_t)(i % TUX_MSG_BULK_N) :
		      (uint32_t)(i % TUX_MSG_SMALL_N);
}

/* The size of a box with lanes of @small and @bulk bytes, out and in; powers of
 * two from TUX_LANE_MIN to TUX_LANE_MAX. */
size_t tux_msgbox_size(uint32_t small, uint32_t bulk);

/* Sets up @b in zeroed memory of that size. */
void tux_msgbox_init(struct tux_msgbox *b, uint32_t small, uint32_t bulk);

/* The loop's side, while it has no connection: whatever waits to be sent fails
 * with @err (an errno), and so does what is tried, until there is one. */
void tux_msgbox_refuse(struct tux_msgbox *b, int err);

/* The longest message that may be sent, as far as is known. */
uint32_t tux_msgbox_longest(const struct tux_msgbox *b);

/* ---- sending; ring TUX_DOORBELL_MESSAGE (duplex.h) where said ------------ */

/* Room for a message of @len bytes: its address into *@p for the caller to
 * fill, its name into *@ref.  -EMSGSIZE; -EAGAIN: no room now, see
 * tux_msgbox_settled(); -EPROTONOSUPPORT: the peer has no Tux, or takes no
 * messages; -EPIPE after @shut; the connection's error. */
int tux_msgbox_reserve(struct tux_msgbox *b, uint32_t len, unsigned flags,
		       bool shut, void **p, uint64_t *ref);

/* The message is filled, and may go.  Then ring.  Messages of a lane go in the
 * order in which they were reserved: one that is not filled holds up others. */
void tux_msgbox_commit(struct tux_msgbox *b, uint64_t ref);

/* Both at once, with a copy of @iov.  Then ring. */
int tux_msgbox_send(struct tux_msgbox *b, const struct iovec *iov, int n,
		    unsigned flags, bool shut, uint64_t *ref);

/* Wants the message @ref not to be sent, or not to be reserved any longer.  As
 * long as its last byte has not left it fails with ECANCELED; else it goes
 * on: tux_msgbox_settled() tells.  Then ring.  False: it is settled already. */
bool tux_msgbox_cancel(struct tux_msgbox *b, uint64_t ref);

/* The next message of a lane that is settled: its name into *@ref, and 0 or its
 * errno into *@err.  Its room is free again.  False: none is.  Successes need
 * not be asked for, unless b->asks; what failed keeps its room until it is told
 * here. */
bool tux_msgbox_settled(struct tux_msgbox *b, uint64_t *ref, int *err);

/* All that tux_msgbox_settled() has not told: the names into @ref, and into @err
 * what became of them, @why for those that are not settled; of TUX_MSG_N each,
 * lane by lane.  How many. */
unsigned tux_msgbox_rest(const struct tux_msgbox *b, int why, uint64_t *ref,
			 int *err);

/* Has every message been settled, and what failed been told? */
bool tux_msgbox_idle(struct tux_msgbox *b);

/* ---- receiving ---------------------------------------------------------- */

struct tux_msg {			/* a complete message */
	const void *p;
	uint32_t len, flags;
	uint64_t ref;
};

/* Up to @n complete messages into @m, in the order of their delivery.  Each is
 * the caller's until tux_msgbox_release().  How many. */
unsigned tux_msgbox_take(struct tux_msgbox *b, struct tux_msg *m, unsigned n);

/* What a message of @len bytes takes of a lane of @cap bytes: a place in the
 * lane's ring is room, too. */
static inline uint32_t tux_msgbox_takes(uint32_t cap, unsigned lane,
					uint32_t len)
{
	uint32_t size = tux_lane_size(len), least = cap / tux_lane_n(lane);

	return size < least ? least : size;
}

/* Done with it.  True if the caller must ring. */
bool tux_msgbox_release(struct tux_msgbox *b, const struct tux_msg *m);

static inline bool tux_msgbox_any(const struct tux_msgbox *b)
{
	return atomic_load(&b->in_head) !=
	       atomic_load_explicit(&b->in_tail, memory_order_relaxed);
}

#endif
