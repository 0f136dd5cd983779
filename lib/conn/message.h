/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message - the loop's side of one connection's messages; private to lib/conn
 *
 *   message_life.c  made and freed; doorbell; end
 *   message_tcp.c   messages and ROOM in frames
 *   message_rx.c    receiving: fragments, deliveries
 *   message_room.c  receiving: room for the peer
 *   message_fate.c  sending: acknowledgments, losses, cancellation, the peer's
 *                   room
 *   message_begin.c sending: the application's notes become messages
 *   message_tx.c    sending: which fragment goes next
 *
 * A message begins when it gets its id and its position in the peer's lane,
 * which needs room there.  Up to four messages of a lane are under way at once,
 * and send fragments in turns.  The fragments that a packet in flight carries
 * are noted in a ring of their own (tux_messages.sent), to which
 * tux_sent.frag_at points.  Whole messages one behind the other share an entry.
 */
#ifndef TUX_CONN_MESSAGE_H
#define TUX_CONN_MESSAGE_H

#include "base/list.h"
#include "base/mem.h"
#include "base/time.h"
#include "conn/msgbox.h"
#include "transport/frag.h"
#include "transport/sentq.h"
#include "wire/frame.h"
#include "wire/message.h"
#include "wire/pkt.h"

struct tux_conn;

/* ---- out ---- */

struct tux_msg_out {			/* a message that has begun */
	struct tux_list work;		/* in its lane's `work` if it has something
					 * to send */
	uint64_t id;
	uint64_t note;			/* the number of its note */
	uint64_t pos;			/* position in the peer's lane */
	uint32_t at;			/* offset in this end's lane */
	uint32_t total;			/* length */
	uint32_t order;			/* number among the ordered messages */
	uint32_t next;			/* first byte never sent */
	uint8_t flags;			/* TUX_MESSAGE_ORDER, _BULK */
	bool live;			/* begun and not settled */
	bool fresh;			/* no fragment of it was sent yet */
	bool complete;			/* all of it has been sent, once at least */
	bool cancelled;
	bool cancel_due;		/* the peer must be told */
	bool parted;			/* it has tux_msg_parts */
};

/* Which bytes of a message have what fate, once that is not the same for all of
 * it.  Most messages go in one piece, and never have these. */
struct tux_msg_parts {
	struct tux_frag acked, lost;
};

struct tux_msg_lane_tx {
	struct tux_list work;		/* messages with something to send */
	uint64_t first, next;		/* ids: oldest not settled; next to begin */
	uint64_t zero;			/* the id at entry 0 */
	uint64_t pos;			/* end of the last message that has begun */
	uint64_t note;			/* the next note to begin */
	uint64_t ids, limit;		/* the peer allows ids and positions below */
	uint32_t cap;			/* of the peer's lane; 0: not known */
	uint32_t open_n;		/* messages begun and not sent completely */
};

/* In a packet in flight: a fragment; or @n whole messages, with ids from @id
 * on. */
struct tux_msg_sent {
	uint32_t off, len;		/* of the fragment */
	uint32_t id;
	uint16_t n;			/* 0: a fragment */
	uint8_t lane;
	bool cancel;
};

enum {
	TUX_MSG_SENT = 4 * TUX_SENTQ_CAP,	/* entries of the ring */
	TUX_MSG_SENT_FEW = 16,			/* of these, in few[] */
};

struct tux_msg_pick {			/* a fragment to be sent */
	struct tux_msg_out *m;
	struct tux_message_hdr h;
	unsigned lane;
};

/* ---- in ---- */

/* GONE: cancelled by the peer. */
enum tux_msg_state { TUX_MSG_NONE, TUX_MSG_PART, TUX_MSG_WHOLE, TUX_MSG_GONE };

struct tux_msg_in {			/* a message of the peer's */
	uint8_t state;			/* enum tux_msg_state */
	uint8_t flags;			/* TUX_MESSAGE_ORDER */
	bool parted;			/* its entry of tux_messages.got is in use */
	uint32_t total, order;		/* length; number among the ordered ones */
	uint64_t pos;			/* position in the lane */
};

struct tux_msg_lane_rx {
	uint64_t first;			/* oldest id that is not free again */
	uint64_t zero;			/* the id at entry 0 */
	uint64_t top;			/* highest id known, plus one */
	uint64_t tail;			/* positions below are free again */
	uint64_t base;			/* the position that is at offset 0 */
	uint64_t freed;			/* sum of tux_msgbox_takes() of the complete
					 * messages below `first` */
	uint64_t told_ids, told_tail;	/* `first` and `tail` of the last ROOM */
	uint64_t end;			/* if fin: the peer's ids end here */
};

struct tux_msg_slot {
	struct tux_msg_out out;
	struct tux_msg_in in;
};

/* The fields that few messages need come first, and share a page: whenever nothing
 * is on the way, entries are used from the first one on again. */
struct tux_messages {
	struct tux_msgbox *box;
	struct tux_msg_lane_tx tx[TUX_LANES];
	struct tux_msg_lane_rx rx[TUX_LANES];
	uint64_t order;			/* next ordered message to deliver */
	uint32_t sent_next;		/* next entry: tux_message_sent() */
	int32_t ahead;			/* bytes that messages have sent more than
					 * the stream, lately */
	int32_t lead;			/* bytes that small messages have sent more
					 * than bulk ones that wait */
	bool ended;			/* no more messages will begin */
	bool fin;			/* END has come: the peer's ids are known */
	struct tux_msg_sent few[TUX_MSG_SENT_FEW];	/* the ring's first */
	/* By tux_lane_slot() of the id, counted from `zero`. */
	struct tux_msg_slot slot[TUX_MSG_N];
	struct tux_msg_sent more[TUX_MSG_SENT - TUX_MSG_SENT_FEW];	/* others */
	uint16_t wait[TUX_MSG_IN];	/* by order: slot + 1 of a message that waits
					 * for its turn; 0: none */
	struct tux_msg_parts parts[TUX_MSG_N];	/* of `out` */
	struct tux_frag got[TUX_MSG_N];	/* of `in`: ranges that have arrived */
};

/* ---- questions ---- */

/* The note with number @i of @lane. */
static inline struct tux_note *tux_message_note(struct tux_messages *g,
						unsigned lane, uint64_t i)
{
	return tux_msgbox_note(g->box, lane, i);
}

/* The entry for message @id of @lane. */
static inline struct tux_msg_out *tux_message_out(struct tux_messages *g,
						  unsigned lane, uint64_t id)
{
	return &g->slot[tux_lane_slot(lane, id - g->tx[lane].zero)].out;
}

/* The index of the entry @m. */
static inline uint32_t tux_message_out_slot(const struct tux_messages *g,
					    const struct tux_msg_out *m)
{
	return (uint32_t)(TUX_CONTAINER(m, const struct tux_msg_slot, out) -
			  g->slot);
}

/* Entry @at of the ring of what packets in flight carry. */
static inline struct tux_msg_sent *tux_message_sent(struct tux_messages *g,
						    uint32_t at)
{
	at %= TUX_MSG_SENT;
	return at < TUX_MSG_SENT_FEW ? &g->few[at] :
				       &g->more[at - TUX_MSG_SENT_FEW];
}

/* The index of the entry for message @id of the peer's @lane. */
static inline uint32_t tux_message_in_slot(const struct tux_messages *g,
					   unsigned lane, uint64_t id)
{
	return tux_lane_slot(lane, id - g->rx[lane].zero);
}

/* ... and that entry. */
static inline struct tux_msg_in *tux_message_in(struct tux_messages *g,
						unsigned lane, uint64_t id)
{
	return &g->slot[tux_message_in_slot(g, lane, id)].in;
}

/* The position behind @m. */
static inline uint64_t tux_message_behind(const struct tux_msg_in *m)
{
	return m->pos + tux_lane_size(m->total);
}

/* The parts of @m, which are none at first. */
static inline struct tux_msg_parts *tux_message_parts(struct tux_messages *g,
						      struct tux_msg_out *m)
{
	struct tux_msg_parts *p = &g->parts[tux_message_out_slot(g, m)];

	if (!m->parted) {
		m->parted = true;
		tux_frag_init(&p->acked);
		tux_frag_init(&p->lost);
	}
	return p;
}

/* The bytes of @m, in the lane of this end's box. */
static inline const uint8_t *tux_message_bytes(const struct tux_messages *g,
					       unsigned lane,
					       const struct tux_msg_out *m)
{
	return (const uint8_t *)g->box + g->box->tx[lane].mem + m->at;
}

/* The bytes of @m that must be sent again; NULL: there are none. */
static inline struct tux_frag *tux_message_again(struct tux_messages *g,
						 const struct tux_msg_out *m)
{
	struct tux_frag *lost = &g->parts[tux_message_out_slot(g, m)].lost;

	return m->parted && lost->n ? lost : NULL;
}

/* Are there notes of @lane that have not begun? */
static inline bool tux_message_unbegun(const struct tux_messages *g,
				       unsigned lane)
{
	return !g->ended &&
	       g->tx[lane].note != atomic_load(&g->box->tx[lane].next);
}

/* Have all messages come that END counts?  Also true before END: it comes
 * before FIN, and a peer that takes no messages sends none. */
bool tux_messages_all_here(const struct tux_messages *g);

#endif
