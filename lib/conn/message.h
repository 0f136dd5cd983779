/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message - the loop's side of one connection's messages; private to lib/conn
 *
 *   message_life.c  birth, doorbell, end
 *   message_tcp.c   messages and room in frames
 *   message_rx.c    fragments in, deliveries, room
 *   message_fate.c  what became of messages out
 *   message_tx.c    which fragment goes next
 *
 * A message begins (gets its id and its place) when the peer has room and its
 * turn has come; a few of a lane are under way at once and take turns.  What a
 * packet carried stands in a ring beside sentq.
 */
#ifndef TUX_CONN_MESSAGE_H
#define TUX_CONN_MESSAGE_H

#include "base/list.h"
#include "base/mem.h"
#include "base/time.h"
#include "conn/msgbox.h"
#include "part/frag.h"
#include "part/sentq.h"
#include "wire/frame.h"
#include "wire/message.h"
#include "wire/pkt.h"

struct tux_conn;

/* ---- out ---- */

struct tux_msg_out {			/* begun, not settled */
	struct tux_list work;		/* in its lane's list if it has some */
	uint64_t note;			/* its note's number */
	uint64_t pos, at;		/* its place there and here */
	uint32_t total, order;
	uint32_t next;			/* first byte never sent */
	uint8_t flags;			/* TUX_MESSAGE_ORDER, _BULK */
	bool live;
	bool fresh;			/* nothing of it was ever sent */
	bool cancelled;
	bool cancel_due;		/* the peer must be told */
	struct tux_frag acked, lost;
};

struct tux_msg_lane_tx {
	struct tux_list work;		/* messages with something to send */
	uint64_t first, next;		/* ids begun and not settled */
	uint64_t pos;			/* end of the last begun */
	uint64_t note;			/* the next note to begin */
	uint64_t ids, limit;		/* what the peer allows */
	uint32_t cap;			/* of the peer's lane; 0: not known */
	uint32_t open_n;		/* begun, and not all sent once */
};

struct tux_msg_sent {			/* a fragment in a packet in flight */
	uint32_t off, len;
	uint32_t id;
	uint8_t lane;
	bool cancel;
};

enum { TUX_MSG_SENT = 4 * TUX_SENTQ_CAP };

struct tux_msg_pick {			/* a fragment to be sent */
	struct tux_msg_out *m;
	struct tux_message_hdr h;
	unsigned lane;
	uint64_t id;
};

/* ---- in ---- */

enum tux_msg_state { TUX_MSG_NONE, TUX_MSG_PART, TUX_MSG_WHOLE, TUX_MSG_GONE };

struct tux_msg_in {
	uint8_t state;			/* enum tux_msg_state */
	uint8_t flags;
	uint32_t total, order;
	uint64_t pos;
	struct tux_frag got;
};

struct tux_msg_lane_rx {
	uint64_t first;			/* oldest id not yet released */
	uint64_t top;			/* highest id known, plus one */
	uint64_t tail;			/* places below are free again */
	uint64_t freed;			/* of what the application has released,
					 * as the box counts it: below `first` */
	uint64_t told_ids, told_tail;	/* what the last ROOM said */
	uint64_t end;			/* with fin: ids of the peer */
};

struct tux_messages {
	struct tux_msgbox *box;
	struct tux_msg_lane_tx tx[TUX_LANES];
	struct tux_msg_lane_rx rx[TUX_LANES];
	uint64_t order;			/* next ordered message to deliver */
	uint32_t sent_next;		/* of the ring below */
	int32_t ahead;			/* bytes of messages beyond the stream */
	int32_t lead;			/* small bytes beyond bulk */
	bool ended;			/* nothing more will be begun */
	bool fin;			/* the peer has told its last ids */
	struct tux_msg_sent sent[TUX_MSG_SENT];
	uint16_t wait[TUX_MSG_IN];	/* by order, complete: slot + 1 */
	struct tux_msg_out out[TUX_MSG_N];
	struct tux_msg_in in[TUX_MSG_N];
};

/* ---- questions ---- */

static inline struct tux_note *tux_message_note(struct tux_messages *g,
						unsigned lane, uint64_t i)
{
	return &g->box->note[tux_lane_slot(lane, i)];
}

static inline struct tux_msg_out *tux_message_out(struct tux_messages *g,
						  unsigned lane, uint64_t id)
{
	return &g->out[tux_lane_slot(lane, id)];
}

/* Are there messages of the lane that have not begun? */
static inline bool tux_message_unbegun(const struct tux_messages *g,
				       unsigned lane)
{
	return g->tx[lane].note != atomic_load(&g->box->tx[lane].next);
}

/* With END: is every message of the peer's here? */
bool tux_messages_all_here(const struct tux_messages *g);

#endif
