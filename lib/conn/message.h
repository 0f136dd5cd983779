/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * message - the loop's side of one connection's messages; private to lib/conn
 *
 *   message_life.c birth, doorbell, end
 *   message_tx.c   what goes next
 *   message_fate.c what became of it
 *   message_rx.c   fragments in, deliveries, room
 *   message_tcp.c  both in frames
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
	bool cancelled, cancel_due;	/* ... and the peer must hear of it */
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

/* ---- message_life.c ---- */

/* NULL: no memory. */
struct tux_messages *tux_messages_new(const struct tux_mem *mem,
				      struct tux_msgbox *box);
void tux_messages_free(const struct tux_mem *mem, struct tux_messages *g);

/* The application has rung: notes, cancellations, releases. */
void tux_messages_rung(struct tux_conn *c);

/* The path is proved: the peer takes messages, or not. */
void tux_messages_proved(struct tux_conn *c);

/* Nobody has answered: what waits fails, and so does what comes. */
void tux_messages_silent(struct tux_conn *c);

/* No message will be sent any more: those not settled fail with @err. */
void tux_messages_fail(struct tux_conn *c, int err);

/* No new message will be begun, and those that wait fail with @err. */
void tux_messages_end(struct tux_conn *c, int err);

/* Something was settled, or TCP has moved: what waited for that? */
void tux_messages_settled(struct tux_conn *c, tux_time now);

/* Is nothing waiting, and nothing under way? */
bool tux_messages_idle(const struct tux_conn *c);
/* Does something wait, and nothing is under way? */
bool tux_messages_want_room(const struct tux_conn *c);

/* ---- message_tx.c ---- */

/* What would go next in a record or frame with a body of up to @room bytes?
 * False: nothing, or nothing worth that little room. */
bool tux_message_pick(struct tux_conn *c, size_t room, struct tux_msg_pick *k);
/* It is being sent: over Tux, as one more of @frag_n, or (NULL) in a frame. */
void tux_message_take(struct tux_conn *c, const struct tux_msg_pick *k,
		      uint16_t *frag_n);
/* Bytes [@off, @off + @len) of it to @dst. */
void tux_message_copy(const struct tux_conn *c, const struct tux_msg_pick *k,
		      uint32_t off, void *dst, size_t len);

/* Are there messages of the lane that have not begun? */
static inline bool tux_message_unbegun(const struct tux_messages *g,
				       unsigned lane)
{
	return g->tx[lane].note != atomic_load(&g->box->tx[lane].next);
}

/* Has a message that has begun something to send?  Or is there one that has not
 * begun? */
bool tux_message_waits(const struct tux_conn *c);
bool tux_message_any(const struct tux_conn *c);

/* What END says. */
void tux_message_tell_end(const struct tux_conn *c, uint8_t *p);

/* Adds fragments to the packet until it is full or nothing is left; their number
 * to *@frag_n.  Bytes. */
uint32_t tux_message_add(struct tux_conn *c, struct tux_writer *w,
			 uint16_t *frag_n);

/* Puts @m where it belongs in its lane's work; @first: before the others. */
void tux_message_requeue(struct tux_messages *g, unsigned lane,
			 struct tux_msg_out *m, bool first);

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

/* ---- message_fate.c ---- */

/* Packet @s has arrived, or is lost. */
void tux_message_acked(struct tux_conn *c, const struct tux_sent *s);
void tux_message_lost(struct tux_conn *c, const struct tux_sent *s);
/* A frame has gone into TCP: as good as arrived. */
void tux_message_framed(struct tux_conn *c, const struct tux_msg_pick *k);

/* Message @m is settled: its note's @state and @err say how. */
void tux_message_settle(struct tux_conn *c, unsigned lane,
			struct tux_msg_out *m, uint32_t state, int err);
/* Does what cancelled notes ask for. */
void tux_message_cancels(struct tux_conn *c);
/* ROOM has come. */
int tux_message_room(struct tux_conn *c, const uint8_t *p, size_t len);

/* ---- message_tcp.c ---- */

/* May this direction of TCP carry frames for messages now? */
bool tux_message_may_frame(const struct tux_conn *c);
/* Begins a FIN frame, with END in it if the peer takes messages. */
void tux_message_fin_frame(struct tux_conn *c);
/* Begins a frame with ROOM, or with a fragment, in c->out.  False: none. */
bool tux_message_room_frame(struct tux_conn *c);
bool tux_message_frame(struct tux_conn *c);
/* How long the header of frame @f is, with what belongs to messages. */
uint8_t tux_message_frame_need(const struct tux_frame *f);
/* The header of a MESSAGE or ROOM frame is in c->in; bytes of its body.  0, or
 * what tux_message_put() says. */
int tux_message_frame_in(struct tux_conn *c);
int tux_message_frame_body(struct tux_conn *c, const uint8_t *p, uint32_t len);

/* ---- message_rx.c ---- */

/* A fragment @h with its bytes at @p, from a packet or a @frame.  0; -EBADMSG:
 * it is none that an honest peer sends; -ENOBUFS: it cannot be noted, it is as
 * if lost. */
int tux_message_put(struct tux_conn *c, const struct tux_message_hdr *h,
		    const uint8_t *p, bool frame);
/* What the application has released is free again. */
void tux_message_released(struct tux_conn *c);
/* All that was begun is here: the ordered messages that others wait for were
 * never sent, and are passed over. */
void tux_message_no_more(struct tux_conn *c);
/* END has come. */
int tux_message_fin(struct tux_conn *c, const uint8_t *p, size_t len);
/* With END: is every message here? */
bool tux_messages_all_here(const struct tux_messages *g);
/* Would ROOM say enough to be worth its bytes in a packet that leaves anyway? */
bool tux_message_room_news(const struct tux_conn *c);

/* What ROOM says now. */
void tux_message_tell_room(struct tux_conn *c, uint8_t *p);

#endif
