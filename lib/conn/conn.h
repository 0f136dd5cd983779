/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn - one connection; private to lib/conn
 *
 * An input is a packet, bytes of TCP, the doorbell, the timer or a completion.
 * Its entry point stands in core.c or step.c.  The entry point calls a handler,
 * which changes the state of the connection and marks in `dirty` what kind of
 * change that was.  Then it calls the settle step (settle.c), the only place
 * that derives what follows from the state and records effects for the loop.
 *
 *   core.c        many connections as one engine: datagrams, timers, effects
 *   step.c        the entry points that concern one connection
 *   settle.c      what follows from the state of a connection
 *   conn_timer.c  the deadline, and what happens when it passes
 *   conn_recv.c   a packet in
 *   conn_send.c   a packet out
 *   conn_fill.c   what goes into it
 *   conn_tcp.c    a switched direction's TCP: marker, frames, end
 *   conn_life.c   birth, closing, death, the doorbell
 *   hello.c       the opening exchange
 *   upgrade.c     announcing, arming, committing: policy around duplex*.c
 *   back.c        the way back to TCP, and again to Tux; RAW
 *   conn_ack.c    what a packet acknowledges
 *   conn_ecn.c    what routers mark
 *   message*.c    messages: see message.h
 *   state.c       the life of a connection and the path of each direction
 *
 * Calls point down this list.
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
#include "conn/life.h"
#include "conn/table.h"
#include "part/ackq.h"
#include "part/loss.h"
#include "part/recvbuf.h"
#include "part/rtt.h"
#include "part/sendbuf.h"
#include "part/sentq.h"
#include "wire/frame.h"
#include "wire/pkt.h"

/* An honest number is no farther than this from the expected one: the field
 * `span` has 16 bits.  An acknowledgment from farther back is not accepted
 * either, so that an attacker who knows only the id of a connection has to guess
 * both (as in RFC 5961). */
enum { TUX_SEQ_REACH = 1 << 16 };

/* What a packet carries besides stream bytes; in tux_conn.todo, what is still to
 * be sent. */
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
	TUX_SENT_PROBE = 0x200,		/* in a sent packet only: padded, to find
					 * out whether the path carries it */
	TUX_DO_NUMBERED = TUX_DO_PREPARE | TUX_DO_PREPARED | TUX_DO_PING |
			  TUX_DO_RAW,
};

/* What an input has changed since the last settle step: bits of tux_conn.dirty.
 * The settle step looks only at what these say. */
enum {
	TUX_DIRTY_LIFE = 0x001,		/* life, closing, the end of TCP */
	TUX_DIRTY_PATH = 0x002,		/* the path of a direction */
	TUX_DIRTY_APP_TX = 0x004,	/* the application wrote, or shut down */
	TUX_DIRTY_APP_RX = 0x008,	/* the application read, or has switched */
	TUX_DIRTY_ARM = 0x010,		/* PREPARE waits for the receive latch */
	TUX_DIRTY_ACCEPT = 0x020,	/* PREPARED waits for the send latch */
	TUX_DIRTY_ANNOUNCE = 0x040,	/* time to look at the switch of tx */
	TUX_DIRTY_PROVE = 0x080,	/* ... and at that of rx */
	TUX_DIRTY_RAW = 0x100,		/* plain TCP is wanted for good */
	TUX_DIRTY_CAME = 0x200,		/* content has come, over either path */
	TUX_DIRTY_ACKED = 0x400,	/* the peer has more of ours */
	TUX_DIRTY_TCP = 0x800,		/* TCP took or brought bytes */
	TUX_DIRTY_MESSAGE = 0x1000,	/* a message was settled, or none of them
					 * can go now */
	TUX_DIRTY_ROOM = 0x2000,	/* room for messages, here or there */
	TUX_DIRTY_READY = 0x4000,	/* the application can do more */
	TUX_DIRTY_CLOSE = 0x8000,	/* closed, or what closing waits for */
	TUX_DIRTY_FLIGHT = 0x10000,	/* the pair may have room for others */
};

struct tux_conn_open {			/* the opening exchange */
	tux_time at;			/* the next HELLO by timer */
	tux_time sent_at;
	unsigned tries;			/* HELLOs sent by timer */
	enum tux_reason why;		/* why it has not succeeded (yet) */
	bool owned;			/* OWNING: the effect was recorded */
	bool ask;			/* owned just now: a PING may be due */
};

struct tux_conn_tx {			/* the direction that this end sends */
	struct tux_sendbuf buf;		/* valid once path is not PLAIN */
	enum tux_path path;
	uint32_t gen;			/* the open generation; 0: none */
	uint64_t gen_at;		/* its N */
	uint32_t ack_gen;		/* PREPARED came, the latch is awaited */
	unsigned voids;			/* generations that came to nothing */
	uint64_t ahead;			/* how far to look ahead next time */
	tux_time announce_at;		/* not before */
	tux_time quiet_at;		/* look whether the writer rests short of N */
	uint64_t quiet_off;
	tux_time hold;			/* how long to stay on TCP next time */
	tux_time away_at;		/* PLAIN, stalled: no messages until then;
					 * TUX_NEVER: not stalled */
	bool stalled;			/* PLAIN, and the path was quiet */
	uint32_t kept;			/* TUX_DO_*: lost, and sent again when the
					 * path is tried again */
	tux_time probe_at;		/* PING: a way back to Tux, or a window */
	tux_time probe_in;		/* how long to wait for a window next time */
	tux_time back_at;
	uint32_t window;		/* the peer's first window */
	bool tail;			/* one packet may leave in spite of it */
	bool alive;			/* FRAMES, and the path has answered */
	bool done;			/* the peer has everything */
	bool shut_due;			/* shut TCP down behind it */
	bool raw_wanted;		/* plain TCP for good */
	bool raw_told;			/* RAW was sent, or is in `todo` */
	enum tux_reason raw_why;	/* why it is wanted */
};

struct tux_conn_rx {			/* the direction that this end receives */
	struct tux_recvbuf buf;		/* valid once gen is not 0 */
	enum tux_path path;
	uint32_t gen;			/* generation that buf was set up for */
	uint32_t arm_gen;		/* PREPARE came, the latch is awaited */
	uint64_t arm_at;
	uint32_t answer;		/* generation to say PREPARED for */
	bool prove;			/* stream data has come: is it switched? */
	bool tcp_wanted;		/* the loop was told to read TCP */
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
	struct tux_list effectq;	/* in core->effectq if it has effects */
	uint32_t effects;		/* TUX_EFFECT_* for the loop */
	uint32_t dirty;			/* TUX_DIRTY_* for the settle step */

	struct tux_tuple tuple;
	bool active;
	bool peer_messages;		/* the peer takes them */
	bool closed;			/* the application has closed it */
	bool aborted;			/* ... and wants a reset */
	bool closed_dead;		/* ... when it was dead already */
	bool expired;			/* the wait for the end of TCP is over */
	bool told_tux;			/* `ready` was told that it is on Tux, */
	enum tux_reason reason;		/* and this reason */
	enum tux_reason closed_why;	/* why it had not moved when closed */
	uint64_t closed_at;		/* what had arrived by then */
	enum tux_life life;
	bool dead_told;			/* the application knows of its death */
	int dead_err;			/* errno of its death */
	enum tux_reason dead_why;	/* NONE: as it was */

	struct tux_key key, session, seal;
	uint32_t id, peer_id;
	uint64_t nonce, peer_nonce;
	uint64_t peer_token;		/* names the peer's loop; 0: not known */
	struct tux_addr peer;		/* where packets go; port 0: not known */
	uint32_t mtu, pkt_max;

	uint32_t todo;			/* TUX_DO_* */
	tux_time retry_at;		/* a latch was held: try again */
	tux_time progress_at;		/* something was acknowledged, or the first
					 * of what is in flight left */
	tux_time linger_at;		/* closed: give up */
	tux_time reset_at;		/* told of a reset: TCP is read until then */

	struct tux_conn_open open;
	struct tux_conn_tx tx;
	struct tux_conn_rx rx;
	struct tux_conn_out out;
	struct tux_conn_in in;
	struct tux_messages *msg;	/* NULL: the application takes none */

	uint64_t first, peer_first;	/* the first numbers, for traces */
	uint64_t since;			/* packets must acknowledge more than this
					 * to be accepted */
	struct tux_rtt rtt;
	struct tux_loss loss;
	struct tux_pair *pair;		/* once the peer is known */
	struct tux_list waitq;		/* in pair->waitq if that holds it back */
	struct tux_list use;		/* in pair->users if tx is on Tux */
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
	tux_trace_fn *trace;		/* NULL: nobody listens */
	void *trace_arg;
	struct tux_rng rng;
	struct tux_table table;
	struct tux_heap timers;
	struct tux_list sendq;		/* connections with something to send */
	struct tux_list untimed;	/* whose deadline may have changed */
	struct tux_list effectq;	/* with effects for the loop */
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

#endif
