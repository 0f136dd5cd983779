/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core - many connections as one engine, without system calls
 *
 * A loop has one core and uses it through this header alone.
 *
 * Inputs:	tux_core_input()	a datagram has arrived
 *		tux_core_expire()	a deadline has passed
 *		tux_conn_rung()		the application has rung its doorbell
 *		tux_conn_tcp_in()	TCP has brought bytes,
 *		tux_conn_tcp_end()	... or has ended
 *		tux_conn_tcp_sent()	TCP has taken bytes
 *		tux_conn_owned()	an effect is complete
 *		tux_conn_stall()	the path is known to be gone,
 *		tux_conn_unstall()	... or may be open again
 *		tux_conn_bar()		no packet may travel, or may again
 *		tux_conn_rerouted()	datagrams take another way
 *
 * Outputs:	tux_core_lead()		where the next datagram goes
 *		tux_core_output()	that datagram
 *		tux_conn_tcp_out()	bytes for TCP
 *		tux_core_effects()	what else the loop has to do
 *		tux_core_deadline()	when to call tux_core_expire()
 *
 * After any input, the loop asks for effects, datagrams and the deadline again.
 *
 * The core makes no system call, reads no clock, has no thread, and draws all
 * its random numbers from a seed.  The only functions of the loop that it calls
 * are `trace` and the allocator.  It allocates memory when a connection is
 * opened, and when the peer's first HELLO attaches the connection to a pair.
 *
 * `now` is in nanoseconds and never decreases; the loop reads the clock once a
 * turn.  One thread at a time calls into a core.
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
#include "policy/choice.h"
#include "wire/addr.h"
#include "wire/reason.h"
#include "wire/wire.h"

struct tux_cc_ops;
struct tux_core;
struct tux_conn;

/* What the loop has to do for a connection.  If several bits are set, it does
 * this in the order of the list. */
enum {
	TUX_EFFECT_OWN = 0x01,		/* the path is proved: duplicate the TCP
					 * descriptor, then tux_conn_owned() */
	TUX_EFFECT_PATH = 0x02,		/* tux_conn_tx_on_tux(), _rx_on_tux(),
					 * _reason() or _returned() has
					 * changed */
	TUX_EFFECT_READY = 0x04,	/* the duplex, the message box, a path or
					 * tux_conn_reason() has changed: wake
					 * the application, so that it looks */
	TUX_EFFECT_TCP = 0x08,		/* tux_conn_tcp_out() may have bytes, or
					 * tux_conn_tcp_want() has changed */
	TUX_EFFECT_SHUT = 0x10,		/* the peer has every byte: shut down TCP's
					 * sending side */
	TUX_EFFECT_GONE = 0x20,		/* nothing is left to do: close TCP, then
					 * tux_conn_close() */
	TUX_EFFECT_RESET = 0x40,	/* with GONE: close TCP with a reset */
};

enum { TUX_PORT_CORES = 16 };	/* may have one port of UDP */

struct tux_core_opts {
	const struct tux_mem *mem;	/* must outlive the core */
	tux_trace_fn *trace;		/* gets every trace event; may be NULL */
	void *trace_arg;
	struct tux_key seed;		/* of ids, nonces and first packet numbers */
	uint16_t port;			/* of UDP, to which packets for this end go */
	tux_time ack_delay;		/* maximum delay of an acknowledgment */
	uint32_t pkt_max;		/* longest packet that this end accepts; 0:
					 * TUX_PKT_MAX */
	const struct tux_cc_ops *cc;	/* congestion control; NULL: CUBIC */
	unsigned number;		/* from 1 to TUX_PORT_CORES, if several cores
					 * have one port: the lowest four bits of its
					 * ids are the number less 1; 0: no other core
					 * has the port */
};

struct tux_conn_opts {
	struct tux_tuple tuple;
	bool active;			/* this end called connect() */
	struct tux_key key;		/* a secret of the two ends: authenticates
					 * HELLO, and all other keys derive
					 * from it */
	struct tux_duplex *dx;		/* the caller's; must outlive the
					 * connection */
	struct tux_msgbox *box;		/* the same; NULL: no messages */
	void *user;			/* for tux_conn_user() and the trace */
	uint32_t mtu;			/* longest datagram that the interface
					 * takes, at least TUX_HELLO_PKT_MIN */
	uint16_t peer_port;		/* UDP port of the peer's loop, from its
					 * handshake.  0: an active end takes the
					 * number of the peer's TCP port, and a
					 * passive one waits for HELLO */
	enum tux_path_mode mode;	/* which path its stream should take;
					 * TCP is not for a core */
};

/* Since the connection was opened. */
struct tux_conn_stats {
	uint64_t tcp_tx, tcp_rx;	/* application bytes over plain TCP */
	uint64_t frame_tx, frame_rx;	/* ... in frames on TCP */
	uint64_t tux_tx, tux_rx;	/* ... in packets */
	uint64_t pkts_tx, pkts_rx;
	uint64_t lost, resent, timeouts, duplicates, dropped;
	uint64_t tails;			/* tail probes */
	uint64_t spurious;		/* counted in `lost`, but had arrived */
	uint64_t undone;		/* window reductions that were undone */
	uint64_t ce_tx, ce_rx;		/* packets that arrived with CE: _tx at
					 * the peer, _rx here */
	uint64_t backs;			/* times a direction went back to TCP */
	uint64_t msg_tx, msg_rx;	/* bytes of messages, over either path */
	uint64_t msgs_tx, msgs_rx;	/* messages that arrived: _tx at the
					 * peer, _rx here */
};

/* Makes a core; *@cp then belongs to the caller.  0, or -ENOMEM. */
int tux_core_new(struct tux_core **cp, const struct tux_core_opts *o);

/* Frees @core, which has no connection any more.  @core may be NULL. */
void tux_core_free(struct tux_core *core);

/* Opens a connection over an established TCP connection.  0, and *@cp is valid
 * until tux_conn_close(); or -ENOMEM; or -EEXIST: @core has a connection with
 * the same tuple and the same `active` already.  It may have both ends of a
 * TCP connection. */
int tux_core_open(struct tux_core *core, const struct tux_conn_opts *o,
		  struct tux_conn **cp, tux_time now);

/* Frees @c and cancels its timers and effects.  Sends nothing.  The duplex and
 * the message box are the caller's alone again.  Other connections of the same
 * pair may be able to send now. */
void tux_conn_close(struct tux_conn *c, tux_time now);

/* Takes the effects of one connection: returns it, with TUX_EFFECT_* bits in
 * *@effects.  NULL: there are no effects.  To carry out an effect, the loop may
 * call the core, which may record more effects.  So the loop asks again until
 * this returns NULL. */
struct tux_conn *tux_core_effects(struct tux_core *core, uint32_t *effects);

/* The loop has carried out TUX_EFFECT_OWN.  @err is 0 if it has a descriptor of
 * its own; then the directions may switch.  A negative errno keeps the
 * connection on TCP for good (reason NO_FD).  Until this call the core accepts
 * packets, but does not answer PREPARE: the peer would write the marker while
 * the loop cannot read TCP. */
void tux_conn_owned(struct tux_conn *c, int err, tux_time now);

/* A datagram of @len bytes at @p arrived from @from, with the IP header's ECN
 * field @ecn (TUX_ECN_*).  Packets that are damaged, or belong to no
 * connection, are counted and dropped.  Returns the user of the
 * connection of the datagram's first packet, if that was authentic (perhaps a
 * replay), and came from the other end's address; else NULL. */
void *tux_core_input(struct tux_core *core, const struct tux_addr *from,
		     const uint8_t *p, size_t len, uint8_t ecn, tux_time now);

struct tux_question {		/* a HELLO that asks for an answer */
	const uint8_t *p;	/* its packet, in the datagram */
	size_t len;
	struct tux_tuple tuple;	/* the addresses that it names */
	bool active;		/* this end is the active one */
};

/* The next such HELLO of a datagram, of which *@len bytes at *@p are left; they
 * move past it.  A peer that claims several connections at once asks for them in
 * one datagram.  False: there is none, and *@q is undefined. */
bool tux_core_asked(const uint8_t **p, size_t *len, struct tux_question *q);

/* The packet of @len bytes at @p, such a HELLO, came from @from for a connection
 * with @key that @core does not have, because this end will not move it: answers
 * once with the reason @why, and keeps nothing.  False: the HELLO is not of that
 * connection, or too many answers wait. */
bool tux_core_refuse(struct tux_core *core, const struct tux_addr *from,
		     const uint8_t *p, size_t len, const struct tux_key *key,
		     enum tux_reason why);

/* Had the last datagram a packet of no connection of @core? */
bool tux_core_strange(const struct tux_core *core);

/* The next HELLO of a datagram from @from that is the first valid one which a passive
 * connection hears: tux_conn_user() of that; NULL: there is none.  *@len bytes of the
 * datagram at *@p are left; they move past it.  Nothing else changes. */
void *tux_core_first_heard(const struct tux_core *core,
			   const struct tux_addr *from, const uint8_t **p,
			   size_t *len);

/* Which of the cores that have one port may have connections for the datagram of @len
 * bytes at @p: bit 0 stands for number 1.  A HELLO without an id, as the first ones of a
 * connection, may be for all.  Packets from a damaged one on do not count. */
uint32_t tux_core_owners(const uint8_t *p, size_t len);

struct tux_out {		/* the next datagram */
	struct tux_addr to;
	struct tux_addr from;	/* this end's address, with the number of the
				 * active end's TCP port */
	void *user;		/* of the connection that leads it; NULL: it
				 * refuses one that this core does not have */
	uint8_t ecn;		/* set by tux_core_output(): TUX_ECN_ECT0 or
				 * TUX_ECN_NONE */
};

/* Where does the next datagram go?  False: there is nothing to send. */
bool tux_core_lead(const struct tux_core *core, struct tux_out *o);

/* Builds the datagram that tux_core_lead() has just told of into @cap bytes at
 * @buf, at least as long as the longest packet of any connection: packets of the
 * connection that leads it, and of as many others as have the same destination
 * and fit.  Returns its length; 0: the connection may send nothing at @now, and
 * leads no more. */
size_t tux_core_output(struct tux_core *core, uint8_t *buf, size_t cap,
		       struct tux_out *o, tux_time now);

/* The earliest instant at which tux_core_expire() has something to do;
 * TUX_NEVER: there is none.  Not const: it sorts the timers that have moved. */
tux_time tux_core_deadline(struct tux_core *core);

/* Does what is due at @now.  False: nothing was due, which is cheap to find
 * out. */
bool tux_core_expire(struct tux_core *core, tux_time now);

/* The doorbell of @c rang.  The caller has taken @bits (TUX_DOORBELL_*) out of
 * dx->rung. */
void tux_conn_rung(struct tux_conn *c, uint32_t bits, tux_time now);

/* How many bytes the loop may read from TCP now; it must never read more, since
 * the bytes behind may be the application's.  0: the loop must not read.
 * TUX_EFFECT_TCP tells it when that changes. */
size_t tux_conn_tcp_want(const struct tux_conn *c);

/* The loop has read @len bytes at @p from TCP, at most tux_conn_tcp_want(). */
void tux_conn_tcp_in(struct tux_conn *c, const uint8_t *p, size_t len,
		     tux_time now);

/* The loop has read TCP to its end.  @err 0: the peer has shut down its sending
 * side; this end may still write.  @err an errno: TCP is broken; this may
 * follow a call with @err 0.  Not before tux_conn_owned(): the loop has no
 * descriptor to read. */
void tux_conn_tcp_end(struct tux_conn *c, int err, tux_time now);

/* Copies bytes that are to be written to TCP to @buf, at most @cap, which is at
 * least 16, the length of a marker.  Returns how many; 0: none.  If not 0, the
 * caller writes them and calls tux_conn_tcp_sent() next, before any other
 * function of the core: the core may hold the send latch in between. */
size_t tux_conn_tcp_out(struct tux_conn *c, uint8_t *buf, size_t cap,
			tux_time now);

/* TCP has a part of bytes that the peer had over Tux: if it ended here, the peer would
 * take that for the end of the stream. */
bool tux_conn_tcp_cut(const struct tux_conn *c);

/* TCP has taken the first @n of the bytes that tux_conn_tcp_out() returned; @n
 * may be 0. */
void tux_conn_tcp_sent(struct tux_conn *c, size_t n, tux_time now);

/* The UDP path to the peer is known to be gone, say because the interface is
 * down: a sending direction on Tux goes back to TCP now.  An ICMP message is no
 * reason for this call, since anybody can forge it. */
void tux_conn_stall(struct tux_conn *c, tux_time now);

/* The path may be open again, or for the first time: try it within 20 ms, and
 * forget that it ever failed. */
void tux_conn_unstall(struct tux_conn *c, tux_time now);

/* While @barred, no packet of this connection may travel: the core drops what it
 * would send, and what arrives.  Other connections of the same pair go on.  To
 * be called together with tux_conn_stall() and tux_conn_unstall(). */
void tux_conn_bar(struct tux_conn *c, bool barred);

/* The datagrams of @c take another way to the peer from now on, by a socket where
 * an interface's queues carried them, or the other way round.  Firewalls may not
 * know it: so one connection of the pair asks whether it leads to the peer, before
 * there is something to send.  To be called for each. */
void tux_conn_rerouted(struct tux_conn *c, tux_time now);

/* The interface takes datagrams of up to @mtu bytes from now on.  Bytes that
 * are lost in longer datagrams are sent again in shorter ones. */
void tux_conn_set_mtu(struct tux_conn *c, uint32_t mtu, tux_time now);

/* ---- questions ---- */

void *tux_conn_user(const struct tux_conn *c);
struct tux_duplex *tux_conn_duplex(const struct tux_conn *c);

/* Writes to *@active, unless @active is NULL, whether this end connected. */
const struct tux_tuple *tux_conn_tuple(const struct tux_conn *c, bool *active);

const struct tux_conn_stats *tux_conn_stats(const struct tux_conn *c);

/* Why @c is not wholly on Tux; TUX_REASON_NONE: it is, or is about to be. */
enum tux_reason tux_conn_reason(const struct tux_conn *c);

/* Is the path of @c not proved yet, so that nothing of it can have moved? */
bool tux_conn_opens(const struct tux_conn *c);

/* Are both directions of @c on TCP again, after one was on Tux?  Then *@until is
 * when one may be better on Tux again, as far as is known. */
bool tux_conn_returned(const struct tux_conn *c, tux_time *until);

/* Is plain TCP wanted for a while only, because other processes use @c? */
bool tux_conn_is_shared(const struct tux_conn *c);

/* What decides which path the directions of @c take, as it is now. */
struct tux_grounds tux_conn_grounds(const struct tux_conn *c);

/* Do bytes leave, or arrive, in packets now? */
bool tux_conn_tx_on_tux(const struct tux_conn *c);
bool tux_conn_rx_on_tux(const struct tux_conn *c);

/* Since the core was made. */
struct tux_core_stats {
	uint64_t datagrams_rx, datagrams_tx, packets_rx, packets_tx;
	/* Dropped: damaged, without a connection here, HELLO with a wrong MAC
	 * or address, of another version of the protocol. */
	uint64_t damaged, strangers, bad_mac, wrong_version;
	/* eased: window reductions because of CE; a window belongs to a pair,
	 * so one reduction counts once.  no_ecn: paths on which ECN was given
	 * up. */
	uint64_t eased, no_ecn;
};
const struct tux_core_stats *tux_core_stats(const struct tux_core *core);

#endif
