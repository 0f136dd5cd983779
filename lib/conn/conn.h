/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn - one connection; private to lib/conn
 *
 * Cut by direction and by kind of input:
 *   conn_life.c   birth, death, doorbells
 *   hello.c       the opening exchange
 *   upgrade.c     announcing, arming, committing: policy around duplex*.c
 *   conn_recv.c   a packet in
 *   conn_ack.c    what it acknowledges
 *   conn_send.c   a packet out
 *   conn_fill.c   what goes into it
 *   conn_ecn.c    what routers mark
 *   conn_timer.c  the deadline
 *   conn_tcp.c    a switched direction's TCP: marker, frames, end
 *   back.c        the way back to TCP, and again to Tux
 *   message*.c    messages: see message.h
 * Each may use conn_in.h's helpers and the lower ones in this list; core.c calls
 * them all.
 */
#ifndef TUX_CONN_CONN_H
#define TUX_CONN_CONN_H

#include "base/bytes.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/rng.h"
#include "conn/core.h"
#include "conn/message.h"
#include "conn/pair.h"
#include "conn/table.h"
#include "part/ackq.h"
#include "part/loss.h"
#include "part/recvbuf.h"
#include "part/rtt.h"
#include "part/sendbuf.h"
#include "part/sentq.h"
#include "wire/frame.h"
#include "wire/pkt.h"

enum tux_phase {
	TUX_PHASE_OPENING,	/* HELLOs; the path is not proved */
	TUX_PHASE_PROVED,
	TUX_PHASE_DEAD,		/* the application has been told the error */
};

enum tux_path { TUX_PATH_NONE, TUX_PATH_TUX, TUX_PATH_TCP };

/* Farther from what we expect than this, a number is no honest one: span has
 * 16 bits.  And an acknowledgment from farther back is not, either: who knows no
 * more than the id of a connection must guess both (RFC 5961's thought). */
enum { TUX_SEQ_REACH = 1 << 16 };

/* What a packet carries besides stream bytes; also what is still to be sent. */
enum {
	TUX_DO_PREPARE = 0x01,
	TUX_DO_PREPARED = 0x02,
	TUX_DO_PING = 0x04,
	TUX_DO_RAW = 0x08,
	TUX_DO_RESET = 0x10,		/* once, and not again when lost */
	TUX_DO_HELLO = 0x20,
	TUX_DO_ACK = 0x40,		/* now, whatever else there is */
	TUX_SENT_FIN = 0x80,		/* in a sent packet only */
	TUX_DO_ROOM = 0x100,		/* for messages; over the path in use */
	TUX_SENT_PROBE = 0x200,		/* in a sent packet only: padded, to see
					 * whether so much passes */
	TUX_DO_NUMBERED = TUX_DO_PREPARE | TUX_DO_PREPARED | TUX_DO_PING |
			  TUX_DO_RAW,
};

struct tux_conn_open {			/* the opening exchange */
	tux_time at;			/* the next HELLO by timer */
	tux_time sent_at;
	unsigned tries;			/* HELLOs sent by timer */
	bool refused;			/* the loop has no handle of TCP: never */
};

struct tux_conn_tx {			/* the direction that we send */
	struct tux_sendbuf buf;		/* valid once path is not NONE */
	enum tux_path path;
	uint32_t gen;			/* open generation; 0: none */
	uint64_t gen_at;		/* its N */
	uint32_t ack_gen;		/* PREPARED came while the latch was held */
	unsigned voids;			/* generations that came to nothing */
	uint64_t ahead;			/* how far to look ahead next time */
	tux_time announce_at;		/* not before */
	tux_time quiet_at;		/* look whether the writer rests short of N */
	uint64_t quiet_off;
	tux_time hold;			/* how long to stay on TCP next time */
	tux_time away_at;		/* not switched, stalled: no messages
					 * until then; TUX_NEVER: it is not */
	uint32_t kept;			/* TUX_DO_*: lost, and said again when
					 * the path is tried again */
	tux_time probe_at;		/* PING: a way back to Tux, or news */
	tux_time probe_in;		/* how long to wait for news next time */
	tux_time back_at;
	uint32_t window;		/* the peer's first window */
	bool tail;			/* one packet may leave in spite of it */
	bool done;			/* the peer has everything; TCP is shut */
	bool raw_wanted;
	enum tux_reason raw_why;	/* who wants it */
};

struct tux_conn_rx {			/* the direction that we receive */
	struct tux_recvbuf buf;		/* valid once gen is not 0 */
	uint32_t gen;			/* generation that buf was set up for */
	uint32_t arm_gen;		/* PREPARE came while the latch was held */
	uint64_t arm_at;
	uint32_t answer;		/* generation to say PREPARED for */
	bool on_ring;			/* the switch is known here */
	bool tux;			/* stream bytes came over Tux last */
	bool prove;			/* try tux_duplex_prove() again */
	bool tcp_ended;			/* the kernel's end of file was read */
	int tcp_err;
};

struct tux_conn_out {			/* bytes on their way to TCP */
	/* A marker; or a frame's header, and a message's, or ROOM. */
	uint8_t hdr[TUX_FRAME_HDR + TUX_ROOM_LEN];
	uint8_t hdr_len;
	uint8_t hdr_left;		/* of hdr, still to be written */
	uint8_t type;			/* enum tux_frame_type; 0: marker */
	uint64_t off;			/* the body's next byte */
	uint32_t left;			/* of the body */
	bool busy;			/* a frame is under way */
	bool marker, fin, sw, raw;	/* what is due, in this order */
	bool latched;			/* the marker is being written */
	bool fin_sent;
	bool turn;			/* a message's, not the stream's */
	struct tux_msg_pick pick;	/* the message's fragment under way */
};

struct tux_conn_in {			/* bytes coming from TCP */
	uint8_t hdr[TUX_FRAME_HDR + TUX_ROOM_LEN];
	uint8_t have, need;		/* of hdr */
	bool message;			/* the body is a message's, `part` */
	struct tux_message_hdr part;	/* what is still to come of it */
	struct tux_frame frame;
	uint64_t off;			/* of the body's next byte */
	uint32_t left;			/* of the body */
	bool starved;			/* it waits for room in the ring */
};

struct tux_conn {
	struct tux_core *core;
	struct tux_duplex *dx;
	void *user;
	struct tux_list sendq;		/* in core->sendq if it has output */
	struct tux_heap_node timer;	/* never later than the deadline */
	struct tux_list untimed;	/* in core->untimed if it may be */

	struct tux_tuple tuple;
	bool active;
	bool peer_messages;		/* it takes them */
	bool closed;			/* the application is done with it */
	uint64_t closed_at;		/* what had arrived by then */
	bool gone;			/* the gone event was told */
	bool decided_tux;		/* what tux_conn_decide() last told */
	enum tux_phase phase;
	enum tux_reason reason;

	struct tux_key key, session, seal;
	uint32_t id, peer_id;
	uint64_t nonce, peer_nonce;
	uint64_t peer_token;		/* names the peer's loop; 0: not known */
	struct tux_addr peer;		/* where packets go; port 0: not known */
	uint32_t mtu, pkt_max;

	uint32_t todo;			/* TUX_DO_* */
	tux_time retry_at;		/* a latch was held: try again */
	tux_time progress_at;		/* something was acknowledged, or what
					 * we wait for now began to leave */
	tux_time linger_at;		/* closed: give up */
	tux_time reset_at;		/* told of a reset: TCP is read until then */
	uint32_t reset_why;

	struct tux_conn_open open;
	struct tux_conn_tx tx;
	struct tux_conn_rx rx;
	struct tux_conn_out out;
	struct tux_conn_in in;
	struct tux_messages *msg;	/* NULL: the application takes none */

	uint64_t first, peer_first;	/* the first numbers, for traces */
	uint64_t since;			/* the peer must acknowledge more than
					 * this to be believed */
	struct tux_rtt rtt;
	struct tux_loss loss;
	struct tux_pair *pair;		/* once the peer is known */
	struct tux_list waitq;		/* in pair->waitq if that holds us back */
	struct tux_list use;		/* in pair->users if we send this way */
	struct tux_ackq ackq;
	struct tux_ecn_counts came;	/* the peer's numbered packets */
	struct tux_ecn_sent ecn;	/* ours */
	struct tux_sentq sentq;
	struct tux_conn_stats stats;
};

struct tux_settled {			/* by one packet's acknowledgments */
	uint64_t bytes;
	uint64_t n;			/* packets, those not lost included */
	uint64_t ect_n;			/* ... that had left with ECT(0) */
	uint32_t reach;			/* the longest datagram */
	uint64_t top;			/* sentq.top before */
	tux_time sent_at;		/* when the newest left */
	bool timed;			/* the timer had passed for that one */
};

struct tux_core {
	const struct tux_mem *mem;
	const struct tux_core_events *ev;
	void *arg;
	struct tux_rng rng;
	struct tux_table table;
	struct tux_heap timers;
	struct tux_list sendq;		/* connections with something to send */
	struct tux_list untimed;	/* whose deadline may have changed */
	struct tux_pairs pairs;
	uint64_t token;
	uint16_t port;
	uint32_t pkt_max;
	tux_time ack_delay;
	uint32_t conn_n;
	uint8_t ecn_rx;			/* of the datagram being read */
	int8_t ecn_tx;			/* ... being built; -1: not chosen yet */
	struct tux_core_stats stats;
};

/* ---- conn_life.c ---- */

/* The reason is @why now; told (as `ready`) if that or the path has changed. */
void tux_conn_decide(struct tux_conn *c, enum tux_reason why);

/* The connection is broken: the application reads what is complete, then @err
 * (an errno).  With @why, the peer is told in a RESET. */
void tux_conn_die(struct tux_conn *c, int err, enum tux_reason why);
/* The peer says over Tux that it is broken. */
void tux_conn_told_reset(struct tux_conn *c, tux_time now);

/* Closed: bytes that arrive have no reader.  They are passed over while ours
 * still go out, and answered with a reset after that. */
void tux_conn_sink(struct tux_conn *c);

/* Nothing is left to do for the core: says `gone`, once. */
void tux_conn_gone(struct tux_conn *c, bool reset);
void tux_conn_gone_broken(struct tux_conn *c);

/* The last message is settled: FIN or RAW may have waited for that. */
void tux_conn_drained(struct tux_conn *c, tux_time now);

/* Closed, and nothing left to do?  Then says `gone`. */
void tux_conn_check_end(struct tux_conn *c, tux_time now);

/* ---- hello.c ---- */

void tux_hello_start(struct tux_conn *c, tux_time now);
void tux_hello_touch(struct tux_conn *c, tux_time now);
void tux_hello_expire(struct tux_conn *c, tux_time now);
/* Begins anew with the HELLOs by timer, if the path is not proved. */
void tux_hello_again(struct tux_conn *c, tux_time now);
/* An opening packet for this connection, its MAC is right. */
void tux_hello_recv(struct tux_conn *c, const struct tux_addr *from,
		    const struct tux_hello *h, tux_time now);
/* Any numbered packet under our id proves the path, too. */
void tux_hello_proved(struct tux_conn *c, tux_time now);
size_t tux_hello_build(struct tux_conn *c, uint8_t *buf, size_t cap,
		       tux_time now);

/* ---- upgrade.c ---- */

/* Looks at the state of tx and does what is next: announce, note a void
 * generation or a commitment. */
void tux_upgrade_tx(struct tux_conn *c, tux_time now);
void tux_upgrade_prepared(struct tux_conn *c, uint32_t gen, tux_time now);
void tux_upgrade_prepare(struct tux_conn *c, uint32_t gen, uint64_t at,
			 tux_time now);
/* Looks at the state of rx: has it switched? */
void tux_upgrade_rx(struct tux_conn *c, tux_time now);
/* Tries again what a latch held up, and what time has made due. */
void tux_upgrade_expire(struct tux_conn *c, tux_time now);
tux_time tux_upgrade_deadline(const struct tux_conn *c);

/* ---- conn_recv.c ---- */

void tux_conn_recv(struct tux_conn *c, const struct tux_addr *from,
		   const struct tux_pkt *h, const uint8_t *p, tux_time now);

/* ---- conn_ack.c ---- */

/* Takes the acknowledgments of the packet with header @h; its SACK, if any, is
 * @sack.  False: they are none of an honest peer. */
bool tux_conn_acked(struct tux_conn *c, const struct tux_pkt *h,
		    const struct tux_record *sack, tux_time now);
/* What is late by now is lost. */
void tux_conn_detect(struct tux_conn *c, tux_time now);
/* All that is in flight is lost, for the timer passed.  Returns how many
 * packets. */
unsigned tux_conn_lose_all(struct tux_conn *c, tux_time now);
/* What @s carried must be sent again. */
void tux_conn_again(struct tux_conn *c, const struct tux_sent *s);

/* ---- conn_fill.c ---- */

/* The arrived numbers beyond the first gap, highest first. */
void tux_fill_sack(struct tux_conn *c, struct tux_writer *w);
/* All that fits.  Returns what the packet says beside content (TUX_DO_...,
 * TUX_SENT_FIN); *@e are its stream bytes, *@frag_n counts its fragments. */
uint32_t tux_fill(struct tux_conn *c, struct tux_writer *w,
		  struct tux_extent *e, uint16_t *frag_n);

/* ---- conn_send.c ---- */

/* Builds the next packet into @cap bytes at @buf, behind @before bytes of the
 * same datagram; its length, or 0: nothing to send now, or it wants a datagram
 * with more room (then *@more is set).  Behind a packet, *@more says whether to
 * ask again.  Only the first of a datagram may be longer than
 * tux_conn_room(). */
size_t tux_conn_send(struct tux_conn *c, uint8_t *buf, size_t before,
		     size_t cap, bool *more, tux_time now);

/* ---- conn_ecn.c ---- */

/* A numbered packet leaves: with ECT(0)?  All of a datagram does or does not, as
 * the first chooses.  One that must get through goes without: a probe of the
 * tail, and all after a timeout until something is acknowledged. */
bool tux_conn_ect(struct tux_conn *c);
/* The packet with header @h has settled @got. */
void tux_conn_ecn_acked(struct tux_conn *c, const struct tux_pkt *h,
			const struct tux_settled *got, tux_time now);
/* A numbered packet came, and is kept. */
void tux_conn_ecn_came(struct tux_conn *c, tux_time now);

/* ---- conn_tcp.c ---- */

/* Begins a frame in c->out: a header for a body of @len bytes. */
void tux_conn_frame(struct tux_conn *c, uint8_t type, uint64_t off,
		    uint32_t len);

/* ---- conn_timer.c ---- */

tux_time tux_conn_deadline(struct tux_conn *c);
void tux_conn_expire(struct tux_conn *c, tux_time now);
/* Its timer goes off in time for the deadline as it is now. */
void tux_conn_set_timer(struct tux_conn *c);

/* ---- back.c ---- */

void tux_back(struct tux_conn *c, tux_time now);
/* There is something to send, and others have found that nobody answers: it need
 * not wait to find out itself. */
void tux_back_early(struct tux_conn *c, tux_time now);
/* The path has answered while on TCP. */
void tux_back_alive(struct tux_conn *c, tux_time now);
/* The SWITCH frame has gone into TCP. */
void tux_back_again(struct tux_conn *c, tux_time now);
/* Wants plain TCP for good, in both directions; the first who does says @why. */
void tux_back_raw(struct tux_conn *c, enum tux_reason why, tux_time now);
/* Drained?  Then RAW is due. */
void tux_back_raw_step(struct tux_conn *c, tux_time now);

#endif
