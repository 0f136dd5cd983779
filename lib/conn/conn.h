/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn - one connection; private to lib/conn
 *
 * An input is a packet, bytes of TCP, the doorbell, the timer, news of the path
 * or the completion of an effect.  Its entry point calls a handler, which
 * changes the state of the connection and marks in `dirty` what kind of change
 * that was.  Then the entry point calls the settle step (settle.c), the only
 * place that derives what follows from the state and records effects for the
 * loop.
 *
 *   core.c        entry points for datagrams and timers; effects
 *   step.c        entry points for inputs that concern one connection
 *   conn_open.c   a connection is made and freed; questions about it
 *   settle.c      the settle step
 *   conn_timer.c  the deadline, and what happens when it passes
 *   conn_recv.c   handles a packet
 *   conn_send.c   builds a packet
 *   conn_fill.c   puts records into a packet
 *   conn_tcp_*.c  out: marker and frames to TCP; in: frames from it, its end
 *   conn_life.c   handles the doorbell; closing and death
 *   upgrade.c     when to announce and arm: policy around duplex*.c
 *   choose.c      which path the sending direction takes
 *   leave.c       both directions leave Tux, for a while, for another process
 *   back.c        from Tux back to TCP, and to Tux again; RAW
 *   stop.c        the application reads no more of what came over Tux
 *   hello.c       the opening exchange
 *   refuse.c      answers HELLOs for connections that stay on TCP
 *   conn_ack.c    handles acknowledgments and losses
 *   conn_ecn.c    ECN marks of packets
 *   message*.c    messages: see message.h
 *   window.c      how much of the stream may come
 *   conn_frame.c  begins a frame
 *   state.c       the life of a connection and the path of each direction
 *
 * A file calls functions only of files below it in this list.
 */
#ifndef TUX_CONN_CONN_H
#define TUX_CONN_CONN_H

#include "base/bytes.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/rng.h"
#include "conn/core.h"
#include "conn/life.h"
#include "conn/message.h"
#include "conn/pair.h"
#include "conn/table.h"
#include "policy/backoff.h"
#include "policy/choice.h"
#include "transport/ackq.h"
#include "transport/loss.h"
#include "transport/recvbuf.h"
#include "transport/rtt.h"
#include "transport/sendbuf.h"
#include "transport/sentq.h"
#include "wire/frame.h"
#include "wire/pkt.h"

/* A packet is dropped if its number is farther than this from the expected one:
 * the field `span` of the header, its number less the sender's floor, has 16
 * bits.  A packet is also dropped if the number that it acknowledges is farther
 * than this below the floor of this end.  So an attacker that knows only the id
 * of a connection has to guess both numbers (as in RFC 5961). */
enum { TUX_SEQ_REACH = 1 << 16 };

/* The control records that a packet carries.  In tux_conn.todo: what has to be
 * sent. */
enum {
	TUX_DO_PREPARE = 0x01,
	TUX_DO_PREPARED = 0x02,
	TUX_DO_PING = 0x04,
	TUX_DO_RAW = 0x08,
	TUX_DO_RESET = 0x10,		/* sent once, never again when lost */
	TUX_DO_HELLO = 0x20,
	TUX_DO_ACK = 0x40,		/* an acknowledgment, without delay */
	TUX_SENT_FIN = 0x80,		/* in a sent packet only */
	TUX_DO_ROOM = 0x100,		/* room for messages, in a packet or, in a
					 * direction on FRAMES, in a frame */
	TUX_DO_LEAVE = 0x400,
	TUX_SENT_PROBE = 0x200,		/* in a sent packet only: padded, to probe
					 * the path MTU */
	/* what needs a packet with a number */
	TUX_DO_NUMBERED = TUX_DO_PREPARE | TUX_DO_PREPARED | TUX_DO_PING |
			  TUX_DO_RAW | TUX_DO_LEAVE,
};

/* What inputs have changed since the last settle step: bits of tux_conn.dirty.
 * The settle step looks only at the parts of the state that these name. */
enum {
	TUX_DIRTY_LIFE = 0x001,		/* life; closed; TCP ended; RESET sent;
					 * why the opening failed */
	TUX_DIRTY_PATH = 0x002,		/* the path of a direction, or a frame that
					 * is due */
	TUX_DIRTY_APP_TX = 0x004,	/* the application wrote, or shut down */
	TUX_DIRTY_APP_RX = 0x008,	/* the application read, or its read has
					 * found the marker */
	TUX_DIRTY_ARM = 0x010,		/* a PREPARE is to be answered */
	TUX_DIRTY_ACCEPT = 0x020,	/* a PREPARED is to be taken */
	TUX_DIRTY_ANNOUNCE = 0x040,	/* a generation may be due, void or
					 * committed */
	TUX_DIRTY_PROVE = 0x080,	/* the receiving direction may have
					 * switched */
	TUX_DIRTY_RAW = 0x100,		/* plain TCP is wanted for good */
	TUX_DIRTY_CAME = 0x200,		/* stream bytes or END came in a packet */
	TUX_DIRTY_ACKED = 0x400,	/* the peer has acknowledged something */
	TUX_DIRTY_TCP = 0x800,		/* TCP took or brought bytes */
	TUX_DIRTY_MESSAGE = 0x1000,	/* a message may be settled; or the
					 * connection has sent all messages that
					 * it can send now */
	TUX_DIRTY_ROOM = 0x2000,	/* room for messages, here or at the peer */
	TUX_DIRTY_READY = 0x4000,	/* the application can do more */
	TUX_DIRTY_CLOSE = 0x8000,	/* closed, or the last message that closing
					 * waited for is settled */
	TUX_DIRTY_FLIGHT = 0x10000,	/* others of the pair may be able to send */
};

enum {					/* bits of tux_conn.told */
	TUX_TOLD_TX = 1,		/* the sending direction is on Tux */
	TUX_TOLD_RX = 2,		/* the receiving one is */
	TUX_TOLD_RETURNED = 4,		/* tux_conn_returned() */
};

struct tux_conn_open {			/* the opening exchange */
	tux_time at;			/* when the next HELLO of the series is due */
	tux_time sent_at;		/* when the last HELLO left */
	unsigned tries;			/* HELLOs of the series so far */
	enum tux_reason why;		/* why the path is not proved (yet) */
	bool refused;			/* ... because the peer will not move */
	bool owned;			/* OWNING: the effect was recorded */
	bool ask;			/* active end, PROVED just now: PING if
					 * nothing else is to be sent */
};

struct tux_conn_tx {			/* the direction that this end sends */
	struct tux_sendbuf buf;		/* valid once path is not PLAIN */
	enum tux_path path;
	uint32_t gen;			/* the open generation; 0: none */
	uint64_t gen_at;		/* its N */
	uint32_t ack_gen;		/* PREPARED has come for this generation,
					 * and is not taken yet; 0: none */
	unsigned voids;			/* generations that became void */
	uint64_t ahead;			/* how far ahead the next N is put */
	tux_time announce_at;		/* the next generation, not earlier */
	tux_time barred_at;		/* a write waits for the end of the doubt:
					 * how long; TUX_NEVER: none does */
	tux_time writer_at;		/* PREPARED has come, and the writer is
					 * short of N: when to look whether it
					 * has stopped, */
	uint64_t writer_off;		/* ... which it does if it has written
					 * nothing behind this offset */
	struct tux_backoff away;	/* how long to stay on TCP since the path is
					 * silent */
	tux_time away_at;		/* PLAIN, and the path is silent: neither
					 * messages nor `kept` are sent until
					 * then; TUX_NEVER: it is not silent */
	bool stalled;			/* the path went silent while PLAIN, and
					 * has not carried a direction since:
					 * the reason is STALLED */
	uint32_t kept;			/* TUX_DO_*: lost, and sent again when the
					 * path is tried again */
	tux_time probe_at;		/* PING: on FRAMES, to try the path again;
					 * on TUX, to learn of room */
	tux_time probe_in;		/* on TUX: the next interval between PINGs */
	tux_time back_at;		/* when it last came to TUX */
	uint32_t window;		/* the peer's first window */
	bool tail;			/* a tail probe is due: one packet may leave
					 * though the window is full */
	bool alive;			/* FRAMES, and the path has answered */
	bool done;			/* the peer, or its TCP, has everything */
	bool leaving;			/* to become PLAIN as a new turn: writes
					 * are held, and what is in flight
					 * arrives first */
	bool shared;			/* other processes use the connection, as
					 * plain TCP: it leaves, and no N is
					 * announced */
	bool asked;			/* LEAVE has come for the present turn */
	uint64_t turn_at;		/* offset at which the present turn began */
	struct tux_choice choice;
	bool bulk;			/* PLAIN: it stays, since its bursts are
					 * long */
	uint64_t burst_max;		/* on Tux: longer bursts make the settle
					 * step look at the choice of path */
	tux_time rate_at;		/* when the window began in which the rate
					 * is measured; TUX_NEVER: there is none */
	uint64_t rate_from;		/* ... and how many bytes had left then */
	uint64_t rate;			/* PLAIN: the best rate so far, */
	unsigned windows;		/* ... and how many windows are left */
	bool shut_due;			/* TUX_EFFECT_SHUT is due */
	bool raw_wanted;		/* plain TCP for good, in both directions */
	bool raw_told;			/* RAW was sent, or is in `todo` */
	bool raw_heard;			/* RAW has come, or is not waited for */
	uint64_t again_from;		/* of RAW or LEAVE: the peer's application
					 * has read up to here; UINT64_MAX: not
					 * known */
	tux_time raw_at;		/* RAW, or PLAIN while `shared`, is written
					 * then, though the peer's has not come */
	enum tux_reason raw_why;	/* why it is wanted */
};

enum tux_conn_stop {
	TUX_STOP_NEVER,			/* plain TCP is not wanted, or is there */
	TUX_STOP_WANTED,		/* as soon as the direction is on Tux */
	TUX_STOP_STOPPED,		/* until the peer has answered, */
	TUX_STOP_OVER,			/* ... or had a second for it */
};

struct tux_conn_rx {			/* the direction that this end receives */
	struct tux_recvbuf buf;		/* valid once gen is not 0 */
	enum tux_path path;
	uint32_t gen;			/* generation that buf was set up for; 0:
					 * none */
	uint32_t arm_gen;		/* PREPARE has come for this generation, */
	uint64_t arm_at;		/* ... at this N, and is to be answered */
	uint32_t arm_turn;		/* ... in this turn of the direction */
	uint64_t turn_at;		/* offset at which the present turn began */
	uint64_t late_to;		/* ... and up to which an earlier one had
					 * brought bytes */
	uint32_t answer;		/* generation to say PREPARED for */
	bool prove;			/* a packet has brought stream bytes, which
					 * proves that the peer has switched */
	bool back;			/* a frame has just said that packets no
					 * longer arrive at the peer */
	enum tux_conn_stop stop;	/* plain TCP is wanted, for good or while
					 * tx.shared: do reads stop? */
	uint64_t read_to;		/* since STOPPED: the application had all
					 * below, as the peer is told */
	uint64_t room_end;		/* the last ROOM told the window's end so */
	bool leave_told;		/* LEAVE was sent, or is in `todo` */
	tux_time stop_until;		/* STOPPED: the peer is not waited for any
					 * longer */
	bool tcp_wanted;		/* the loop was told to read TCP */
	bool tcp_ended;			/* TCP was read to its end */
	int tcp_err;
};

struct tux_conn_out {			/* bytes on their way to TCP */
	/* A marker; or the header of a frame, with that of a message, ROOM or
	 * END behind it. */
	uint8_t hdr[TUX_FRAME_HDR + TUX_ROOM_LEN];
	uint8_t hdr_len;
	uint8_t hdr_left;		/* of hdr, still to be written */
	uint8_t type;			/* enum tux_frame_type; 0: marker */
	uint64_t off;			/* offset of the stream's next byte */
	uint32_t left;			/* of the body, still to be written */
	bool busy;			/* a frame, or the rest of the marker, has
					 * begun */
	bool marker, fin, sw, raw, plain;	/* what is due */
	bool back;			/* ... and the word that packets no longer
					 * arrive here */
	bool latched;			/* the send latch is held, to write the
					 * marker */
	bool fin_sent;			/* the FIN frame is in TCP */
	tux_time sent_at;		/* when TCP last took bytes of this direction
					 * from the loop, or the marker */
	bool turn;			/* messages go next, not the stream */
	struct tux_msg_pick pick;	/* the fragment in a MESSAGE frame */
};

struct tux_conn_in {			/* bytes coming from TCP */
	uint8_t hdr[TUX_FRAME_HDR + TUX_ROOM_LEN];
	uint8_t have, need;		/* of hdr */
	bool message;			/* the body is a fragment of a message */
	struct tux_message_hdr part;	/* what is still to come of the fragment */
	struct tux_frame frame;		/* the header of the current frame */
	uint64_t off;			/* of the body's next byte */
	uint32_t left;			/* of the body, still to come */
	uint64_t again;			/* behind a RAW or PLAIN frame: so many bytes
					 * came over Tux, too, and were read there */
	bool starved;			/* a DATA frame waits for room in the ring */
	bool first;			/* no frame has come behind the marker */
};

struct tux_conn {
	struct tux_core *core;
	struct tux_duplex *dx;
	void *user;
	struct tux_list sendq;		/* in core->sendq if it has output */
	struct tux_heap_node timer;	/* never later than the deadline */
	struct tux_list untimed;	/* in core->untimed if the deadline may have
					 * changed */
	struct tux_list effectq;	/* in core->effectq if it has effects */
	uint32_t effects;		/* TUX_EFFECT_* for the loop */
	uint32_t dirty;			/* TUX_DIRTY_* for the settle step */

	struct tux_tuple tuple;
	bool active;
	bool begins;			/* it knows a UDP port of its peer, so it
					 * may send the first HELLO */
	bool peer_messages;		/* the peer takes messages */
	bool peer_plain;		/* the peer knows the frame PLAIN, */
	bool peer_again;		/* ... and the offset in RAW, */
	bool peer_leaves;		/* ... and LEAVE, */
	bool peer_bounds;		/* ... and the offset in ROOM */
	bool closed;			/* the application has closed it */
	bool aborted;			/* ... and wants a reset */
	bool closed_dead;		/* ... when it was DEAD already */
	bool barred;			/* no packet of it may travel */
	bool expired;			/* closed, and TCP has not ended in time */
	uint8_t told;			/* TUX_TOLD_*: what the last effect PATH was
					 * for, */
	enum tux_reason reason;		/* ... and the reason then */
	enum tux_reason turn_why;	/* why its directions have become plain as
					 * new turns; NONE: TCP is faster */
	enum tux_reason closed_why;	/* the reason if it is closed before any
					 * direction has switched */
	uint64_t closed_at;		/* offset of what had arrived when closed */
	enum tux_life life;
	bool dead_told;			/* the duplex has the error of its death */
	int dead_err;			/* errno of its death */
	enum tux_reason dead_why;	/* what RESET says; NONE: no RESET */

	struct tux_key key;		/* the caller's; of HELLO */
	struct tux_key session, seal;	/* derived; of markers, of packets */
	uint32_t id, peer_id;
	uint64_t nonce, peer_nonce;
	uint64_t peer_token;		/* names the peer's loop; 0: not known */
	struct tux_addr peer;		/* where packets go; port 0: not known */
	uint32_t mtu, pkt_max;

	uint32_t todo;			/* TUX_DO_* */
	tux_time retry_at;		/* a latch was held: try again then */
	tux_time progress_at;		/* when something was last acknowledged, or
					 * the oldest packet in flight left */
	tux_time linger_at;		/* closed: how long to wait for the end of
					 * TCP */
	tux_time reset_at;		/* RESET has come: how long to read TCP on */

	struct tux_conn_open open;
	struct tux_conn_tx tx;
	struct tux_conn_rx rx;
	struct tux_conn_out out;
	struct tux_conn_in in;
	struct tux_messages *msg;	/* NULL: the application takes none */

	uint64_t first, peer_first;	/* the first packet numbers */
	uint64_t since;			/* a packet must acknowledge a higher number
					 * than this to be accepted */
	bool trusted;			/* ... and such a packet has come */
	struct tux_rtt rtt;
	struct tux_loss loss;
	struct tux_pair *pair;		/* NULL until the first HELLO came */
	struct tux_list waitq;		/* in pair->waitq if the pair holds it back */
	struct tux_list use;		/* in pair->users if tx is on Tux */
	struct tux_ackq ackq;
	struct tux_ecn_counts came;	/* marks of packets that arrived */
	struct tux_ecn_sent ecn;	/* marks of packets that this end sent */
	struct tux_sentq sentq;
	struct tux_conn_stats stats;
};

struct tux_retired {			/* what one packet acknowledges newly */
	uint64_t bytes;			/* of packets that were in flight */
	uint64_t n;			/* packets, also those declared lost
					 * before */
	uint64_t ect_n;			/* ... of these, that left with ECT(0) */
	uint32_t reach;			/* the longest datagram */
	uint64_t top;			/* sentq.top before this packet */
	tux_time sent_at;		/* when the newest of them left */
	bool timed;			/* ... and whether the retransmission
					 * timer had declared it lost */
};

enum {
	TUX_REFUSAL_LEN = TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN,
	TUX_REFUSALS = 32,		/* that wait to be sent: more than the
					 * HELLOs of a datagram */
};

struct tux_refusal {			/* a datagram that answers a HELLO */
	struct tux_addr to, from;
	uint8_t p[TUX_REFUSAL_LEN];
};

struct tux_core {
	const struct tux_mem *mem;
	tux_trace_fn *trace;		/* may be NULL */
	void *trace_arg;
	struct tux_rng rng;
	struct tux_table table;
	struct tux_heap timers;
	struct tux_list sendq;		/* connections with something to send */
	struct tux_list untimed;	/* ... with a deadline that may have moved */
	struct tux_list effectq;	/* ... with effects for the loop */
	struct tux_pairs pairs;
	uint64_t token;			/* names this loop, in HELLO */
	uint16_t port;
	unsigned number;		/* see struct tux_core_opts */
	uint32_t pkt_max;
	tux_time ack_delay;
	uint32_t conn_n;
	unsigned refusal_n;
	struct tux_refusal refusal[TUX_REFUSALS];
	uint8_t ecn_rx;			/* of the datagram being read */
	bool strange;			/* it has a packet of no connection here */
	int8_t ecn_tx;			/* ... being built; -1: not chosen yet */
	struct tux_core_stats stats;
};

#endif
