/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core - many connections as one engine; everything that a loop needs
 *
 * The loop feeds it inputs: datagrams, bytes of TCP, doorbells, completions and
 * the time.  An input changes the state of connections.  What follows from that
 * state comes out: datagrams (tux_core_output()), bytes for TCP
 * (tux_conn_tcp_out()), effects that the loop carries out (tux_core_effects())
 * and a deadline (tux_core_deadline()).
 *
 * The core makes no system call, reads no clock, draws no randomness of its own
 * and has no thread.  It allocates only when a connection is opened.  `now` is
 * in nanoseconds and never goes back; the loop reads the clock once a turn.  One
 * thread at a time calls into a core, and the core calls nothing outside but
 * `trace`.
 */
#ifndef TUX_CONN_CORE_H
#define TUX_CONN_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/sip.h"
#include "base/time.h"
#include "conn/duplex.h"
#include "conn/msgbox.h"
#include "conn/trace.h"
#include "wire/addr.h"
#include "wire/reason.h"
#include "wire/wire.h"

struct tux_cc_ops;
struct tux_core;
struct tux_conn;

/* What the loop has to do for a connection, in this order. */
enum {
	TUX_EFFECT_OWN = 0x01,		/* the path is proved: duplicate the TCP
					 * descriptor, then tux_conn_owned() */
	TUX_EFFECT_READY = 0x02,	/* the application can do more, or a direction
					 * has moved, or tux_conn_reason() or a
					 * path has changed: let it look at the
					 * duplex and the box of messages */
	TUX_EFFECT_TCP = 0x04,		/* tux_conn_tcp_out() has bytes, or
					 * tux_conn_tcp_want() has changed */
	TUX_EFFECT_SHUT = 0x08,		/* the peer has every byte: shut down TCP's
					 * sending side */
	TUX_EFFECT_GONE = 0x10,		/* nothing is left to do: close TCP, then
					 * tux_conn_close() */
	TUX_EFFECT_RESET = 0x20,	/* ... and close TCP with a reset */
};

struct tux_core_opts {
	const struct tux_mem *mem;
	tux_trace_fn *trace;		/* told every trace event; NULL: nobody
					 * listens */
	void *trace_arg;
	struct tux_key seed;		/* for ids, nonces and numbers */
	uint16_t port;			/* UDP port that our HELLO names; 0: the
					 * number of the connection's TCP port */
	tux_time ack_delay;		/* the longest we may hold back an ack */
	uint32_t pkt_max;		/* longest packet we take (0: TUX_PKT_MAX) */
	const struct tux_cc_ops *cc;	/* congestion control; NULL: CUBIC */
};

struct tux_conn_opts {
	struct tux_tuple tuple;
	bool active;			/* this end called connect() */
	struct tux_key key;		/* what only the two ends know */
	struct tux_duplex *dx;		/* outlives the connection */
	struct tux_msgbox *box;		/* so does this; NULL: no messages */
	void *user;
	uint32_t mtu;			/* longest datagram of the path, at least
					 * TUX_HELLO_PKT_MIN */
};

/* Counters, in the order that people read them. */
struct tux_conn_stats {
	uint64_t tcp_tx, tcp_rx;	/* application bytes over plain TCP */
	uint64_t frame_tx, frame_rx;	/* ... in frames, on the way back */
	uint64_t tux_tx, tux_rx;	/* ... over the Tux path */
	uint64_t pkts_tx, pkts_rx;
	uint64_t lost, resent, timeouts, duplicates, dropped;
	uint64_t tails;			/* probes of the tail */
	uint64_t spurious;		/* of lost: had arrived after all */
	uint64_t undone;		/* reductions of the window taken back */
	uint64_t ce_tx, ce_rx;		/* packets that came with CE: to the
					 * peer, from it */
	uint64_t backs;			/* times a direction went back to TCP */
	uint64_t msg_tx, msg_rx;	/* bytes of messages, over either path */
	uint64_t msgs_tx, msgs_rx;	/* messages: arrived there, here */
};

int tux_core_new(struct tux_core **cp, const struct tux_core_opts *o);
void tux_core_free(struct tux_core *core);	/* NULL is fine */

/* Opens a connection over an established TCP connection.  -ENOMEM, -EEXIST (the
 * tuple is here already). */
int tux_core_open(struct tux_core *core, const struct tux_conn_opts *o,
		  struct tux_conn **cp, tux_time now);

/* Forgets @c: its id, its timers, its effects, its place in queues.  The duplex
 * is the caller's again.  Other connections of its pair may send then. */
void tux_conn_close(struct tux_conn *c, tux_time now);

/* The next connection that has effects, and what they are (TUX_EFFECT_*), once;
 * NULL: none has.  Carrying one out may call the core, which may record others:
 * ask until NULL. */
struct tux_conn *tux_core_effects(struct tux_core *core, uint32_t *effects);

/* TUX_EFFECT_OWN is done.  @err 0: the loop has a descriptor of its own, and the
 * directions may move.  A negative errno pins the connection to TCP (reason
 * NO_FD).  Packets that came in between were taken, but no agreement to switch
 * was given: nobody would have read TCP for the marker. */
void tux_conn_owned(struct tux_conn *c, int err, tux_time now);

/* A datagram of @len bytes from @from arrived, with @ecn (TUX_ECN_*). */
void tux_core_input(struct tux_core *core, const struct tux_addr *from,
		    const uint8_t *p, size_t len, uint8_t ecn, tux_time now);

/* Builds the next datagram into @cap bytes at @buf: packets of connections that
 * share the destination, as many as fit.  Its length, with the destination in
 * *@to, our own address in *@from, and TUX_ECN_ECT0 or _NONE in *@ecn; 0 if
 * nothing may be sent at @now. */
size_t tux_core_output(struct tux_core *core, uint8_t *buf, size_t cap,
		       struct tux_addr *to, struct tux_addr *from, uint8_t *ecn,
		       tux_time now);

/* When tux_core_expire() has something to do; TUX_NEVER: nothing waits.  Puts the
 * timers in order, hence no question. */
tux_time tux_core_deadline(struct tux_core *core);
/* Does what is due at @now.  False: nothing was; finding that out costs little. */
bool tux_core_expire(struct tux_core *core, tux_time now);

/* The connection's doorbell rang with @bits (TUX_DOORBELL_*): the caller took them
 * out of dx->rung. */
void tux_conn_rung(struct tux_conn *c, uint32_t bits, tux_time now);

/* How many bytes to read from TCP for a switched direction (never read more);
 * 0: do not read, for now.  TUX_EFFECT_TCP tells when that ends. */
size_t tux_conn_tcp_want(const struct tux_conn *c);

/* Bytes that were read, at most tux_conn_tcp_want(). */
void tux_conn_tcp_in(struct tux_conn *c, const uint8_t *p, size_t len,
		     tux_time now);

/* Reading TCP is at its end (@err 0; writing goes on), or TCP is broken (@err an
 * errno, which may come after a mere end); all that was in it has been read. */
void tux_conn_tcp_end(struct tux_conn *c, int err, tux_time now);

/* Bytes to write to TCP: copies up to @cap (at least 16) into @buf and returns
 * how many.  If that is not 0, tux_conn_tcp_sent() must follow at once and say
 * how many TCP took, none included: the core may hold a latch in between, and
 * settles nothing. */
size_t tux_conn_tcp_out(struct tux_conn *c, uint8_t *buf, size_t cap,
			tux_time now);
void tux_conn_tcp_sent(struct tux_conn *c, size_t n, tux_time now);

/* The UDP path to this peer is known to be gone (interface down, ICMP is not
 * enough): go back to TCP now. */
void tux_conn_stall(struct tux_conn *c, tux_time now);

/* The path may be there again, or for the first time: try it now, as if it had
 * never failed. */
void tux_conn_unstall(struct tux_conn *c, tux_time now);

/* Datagrams on this path may have @mtu bytes from now on.  What was sent longer
 * and is lost, is sent again in such. */
void tux_conn_set_mtu(struct tux_conn *c, uint32_t mtu, tux_time now);

/* ---- looking ---- */

void *tux_conn_user(const struct tux_conn *c);
struct tux_duplex *tux_conn_duplex(const struct tux_conn *c);
const struct tux_tuple *tux_conn_tuple(const struct tux_conn *c, bool *active);
const struct tux_conn_stats *tux_conn_stats(const struct tux_conn *c);
enum tux_reason tux_conn_reason(const struct tux_conn *c);
/* Over which path do bytes leave and arrive now? */
bool tux_conn_tx_on_tux(const struct tux_conn *c);
bool tux_conn_rx_on_tux(const struct tux_conn *c);

/* Since the start: what came and went; what fitted no connection, by kind; and of
 * windows that several connections share, how often CE made one smaller, and the
 * paths on which that was given up. */
struct tux_core_stats {
	uint64_t datagrams_rx, datagrams_tx, packets_rx, packets_tx;
	uint64_t damaged, strangers, bad_mac, wrong_version;
	uint64_t eased, no_ecn;
};
const struct tux_core_stats *tux_core_stats(const struct tux_core *core);

#endif
