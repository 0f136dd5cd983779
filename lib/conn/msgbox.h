/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msgbox - the memory of one connection's messages that an application and a
 * loop share
 *
 * A message box is a block of memory beside the duplex.
 *
 * To send: each lane has bytes, and a ring of notes that tell where each
 * message lies.  The application fills both.  The loop reads the notes, and
 * settles a note when the peer's stack has the message, or when the message has
 * failed.
 *
 * To receive: each lane has bytes that the loop fills.  One ring for both lanes
 * tells which messages are complete.  The application reads a message where it
 * lies, and releases it when it is done with it.
 *
 * The box holds no pointers.  The loop checks what it reads from a note,
 * because the application can write there.
 *
 * A thread of the application holds the duplex's tx latch during a call about
 * sending, and its rx latch during a call about receiving.
 *
 * A message is small (up to TUX_MSG_SMALL bytes) or bulk; each lane has room of
 * its own.  Room for received messages becomes free in the order in which they
 * were sent, so an application that keeps a message for long should copy and
 * release it.
 *
 * Whenever a lane is empty, its bytes, notes and places are used from the first one
 * on again, so that what is exchanged in turns stays in the processor's caches.
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
	TUX_MSG_SMALL = 16384,		/* longest message of the small lane */
	TUX_MSG_SMALL_N = 256,		/* notes of the small lane */
	TUX_MSG_BULK_N = 32,		/* notes of the bulk lane */
	TUX_MSG_N = TUX_MSG_SMALL_N + TUX_MSG_BULK_N,
	TUX_MSG_IN = 512,		/* arrivals; more than TUX_MSG_N */
};

/* Flags of a message. */
enum { TUX_MSG_ORDERED = 0x01 };	/* deliver in the order of sending */

/* The application sets FREE to CANCEL, the loop SENT and FAILED. */
enum tux_note_state {
	TUX_NOTE_FREE,
	TUX_NOTE_OPEN,			/* reserved; the application fills it */
	TUX_NOTE_READY,			/* the loop may send it */
	TUX_NOTE_CANCEL,		/* the loop need not send it any more */
	TUX_NOTE_SENT,			/* settled: the peer's stack has it */
	TUX_NOTE_FAILED,		/* settled: it has failed; see err */
};

struct tux_note {			/* a message to be sent */
	_Atomic uint32_t state;		/* enum tux_note_state */
	uint32_t len, flags;
	uint32_t order;			/* number among the ordered messages */
	uint32_t err;			/* errno, when it has failed */
	uint64_t at;			/* position in the lane's space */
};

/* A lane of messages to send.  Notes are numbered from 0; positions count the
 * bytes of the lane's space. */
struct tux_msgbox_tx {
	uint32_t cap, mem;		/* bytes of the lane, and their offset
					 * in the box */
	_Atomic uint32_t max;		/* the longest message that the peer
					 * takes, as far as is known */
	_Atomic uint64_t next;		/* notes below were written; the
					 * application's */
	uint64_t taken;			/* notes below were begun or refused;
					 * the loop's, valid while the core has
					 * no connection for the box */
	uint64_t first;			/* the oldest note in use; the
					 * application's */
	_Atomic uint64_t zero;		/* the note at index 0; the
					 * application's */
	uint64_t head, tail;		/* positions in use: [tail, head); the
					 * application's */
};

/* A lane of received messages.  Behind its bytes there is half as much memory
 * again, into which a message may reach: so each is in one piece. */
struct tux_msgbox_rx {
	uint32_t cap, mem;		/* as above */
	_Atomic uint64_t freed;		/* bytes released so far, as counted by
					 * tux_msgbox_takes() */
	_Atomic uint64_t wake_at;	/* ring when freed reaches this */
};

struct tux_arrival {			/* a complete message */
	uint32_t len, flags;
	uint32_t at;			/* offset in the bytes of its lane */
};

/* An entry for a message to be sent, and for one that has come. */
struct tux_msgbox_slot {
	struct tux_note note;
	/* By tux_message_in_slot(): the message that is complete, and that the
	 * application is done with it. */
	struct tux_arrival arrived;
	_Atomic uint8_t released;
};

/* The fields that few messages need come first, and share a page. */
struct tux_msgbox {
	struct tux_msgbox_tx tx[TUX_LANES];
	struct tux_msgbox_rx rx[TUX_LANES];
	_Atomic uint32_t err;		/* errno for sending; 0: none */
	_Atomic uint32_t cancels;	/* notes were cancelled: look at them */
	uint32_t order;			/* of the next ordered message */
	uint32_t refused;		/* ordered messages that were refused before
					 * they began: the peer does not count them;
					 * the loop's */
	bool asks;			/* the application asks for the outcome
					 * of each message: keep its note until
					 * tux_msgbox_settled() has told it */
	_Atomic uint32_t in_head;	/* arrivals written; the loop's */
	_Atomic uint32_t in_tail;	/* arrivals taken; the application's */
	uint16_t in[TUX_MSG_IN];	/* the arrivals' slots, a ring */
	struct tux_msgbox_slot slot[TUX_MSG_N];
};

/* The number of notes, and of received messages, that @lane has room for. */
static inline uint32_t tux_lane_n(unsigned lane)
{
	return lane ? TUX_MSG_BULK_N : TUX_MSG_SMALL_N;
}

/* The index of entry @i of @lane in an array of TUX_MSG_N entries. */
static inline uint32_t tux_lane_slot(unsigned lane, uint64_t i)
{
	return lane ? TUX_MSG_SMALL_N + (uint32_t)(i % TUX_MSG_BULK_N) :
		      (uint32_t)(i % TUX_MSG_SMALL_N);
}

/* Note @i of @lane. */
static inline struct tux_note *tux_msgbox_note(struct tux_msgbox *b,
					       unsigned lane, uint64_t i)
{
	uint64_t zero = atomic_load_explicit(&b->tx[lane].zero,
					     memory_order_relaxed);

	return &b->slot[tux_lane_slot(lane, i - zero)].note;
}

/* The size of a box with lanes of @small and @bulk bytes in each direction;
 * both are powers of two from TUX_LANE_MIN to TUX_LANE_MAX. */
size_t tux_msgbox_size(uint32_t small, uint32_t bulk);

/* Sets up @b in memory of tux_msgbox_size(@small, @bulk) bytes.  Touches the
 * front only: an entry is set when it is used. */
void tux_msgbox_init(struct tux_msgbox *b, uint32_t small, uint32_t bulk);

/* The loop's side, while the core has no connection for the box: every message
 * that waits to be sent fails with @err (an errno), and so does every attempt
 * to send until b->err is 0 again. */
void tux_msgbox_refuse(struct tux_msgbox *b, int err);

/* The longest message that can be sent, as far as is known. */
uint32_t tux_msgbox_longest(const struct tux_msgbox *b);

/* ---- sending; "then ring" means TUX_DOORBELL_MESSAGE of duplex.h --------- */

/* Reserves room for a message of @len bytes.  Puts its address, for the caller
 * to fill, into *@p, and its name into *@ref.  @shut: the application has ended
 * the direction.  Returns 0 or
 *   -EMSGSIZE          it is too long
 *   -EAGAIN            there is no room now; see tux_msgbox_settled()
 *   -EPROTONOSUPPORT   the peer has no Tux, or takes no messages
 *   -EPIPE             @shut
 *   another error      of the connection */
int tux_msgbox_reserve(struct tux_msgbox *b, uint32_t len, unsigned flags,
		       bool shut, void **p, uint64_t *ref);

/* The message is filled and may be sent; then ring.  Messages of a lane are
 * sent in the order in which they were reserved, so a message that is not
 * filled blocks those behind it. */
void tux_msgbox_commit(struct tux_msgbox *b, uint64_t ref);

/* Reserves, copies @iov and commits; then ring. */
int tux_msgbox_send(struct tux_msgbox *b, const struct iovec *iov, int n,
		    unsigned flags, bool shut, uint64_t *ref);

/* Asks that the message @ref be given up; then ring.  It fails with ECANCELED,
 * unless its last byte has left already: tux_msgbox_settled() tells.  Returns
 * false if it is settled already. */
bool tux_msgbox_cancel(struct tux_msgbox *b, uint64_t ref);

/* The outcome of the oldest message of a lane, if it is settled: its name into
 * *@ref, and 0 or an errno into *@err.  Its room is free again.  Returns false
 * if no lane has such a message.  Unless b->asks, messages that succeed free
 * their room without this call; those that fail keep it until this call. */
bool tux_msgbox_settled(struct tux_msgbox *b, uint64_t *ref, int *err);

/* The same for all messages that are settled, in each lane up to the first that is
 * not, for an application that asks for no outcome: frees their room.  Returns how
 * many there were, and how many of them have failed, in *@failed. */
unsigned tux_msgbox_reap(struct tux_msgbox *b, unsigned *failed);

/* All messages for which tux_msgbox_settled() has told no outcome yet, lane by
 * lane: their names into @ref, and 0 or an errno into @err, which is @why for
 * those that are not settled.  Both arrays have TUX_MSG_N entries.  Returns how
 * many messages there are. */
unsigned tux_msgbox_rest(const struct tux_msgbox *b, int why, uint64_t *ref,
			 int *err);

/* Is every message settled, and the outcome of each failed one told?  With
 * b->asks, the outcome of each one. */
bool tux_msgbox_idle(struct tux_msgbox *b);

/* ---- receiving ---------------------------------------------------------- */

struct tux_msg {			/* a complete message */
	const void *p;
	uint32_t len, flags;
	uint64_t ref;
};

/* Takes up to @n complete messages into @m, in the order of their delivery.
 * Their bytes stay valid until tux_msgbox_release().  Returns how many. */
unsigned tux_msgbox_take(struct tux_msgbox *b, struct tux_msg *m, unsigned n);

/* How much of a lane of @cap bytes a received message of @len bytes takes: its
 * bytes, or its share of the lane's tux_lane_n() places, whichever is more. */
static inline uint32_t tux_msgbox_takes(uint32_t cap, unsigned lane,
					uint32_t len)
{
	uint32_t size = tux_lane_size(len);
	uint32_t least = lane ? cap / TUX_MSG_BULK_N : cap / TUX_MSG_SMALL_N;

	return size < least ? least : size;
}

/* The application is done with @n messages.  Returns true if the caller must
 * ring. */
bool tux_msgbox_release(struct tux_msgbox *b, const struct tux_msg *m,
			unsigned n);

/* Are there complete messages to take? */
static inline bool tux_msgbox_any(const struct tux_msgbox *b)
{
	return atomic_load(&b->in_head) !=
	       atomic_load_explicit(&b->in_tail, memory_order_relaxed);
}

#endif
