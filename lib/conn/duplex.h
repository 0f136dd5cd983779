/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duplex - the memory of one connection that an application and a loop share
 *
 * A duplex has two directions: tx, which the application writes, and rx, which
 * it reads.  Each direction begins with plain bytes on a kernel TCP connection.
 * It may switch to a ring in this memory that the loop serves.  Later it may
 * become plain TCP again: for good (RAW), or as a new turn (PLAIN), in which it
 * may switch once more.  The state of a direction says where its next byte
 * goes.  This module has the rules of the switch, for the
 * sender (duplex_tx.c) and the receiver (duplex_rx.c); t/model enumerates them,
 * and tux-wire(7), Switching a direction from TCP to Tux, explains them.
 *
 * Latches.  A thread of the application holds the latch of a direction during
 * each call about it.  The loop never waits for a latch: it tries one, only for
 * the calls of "the loop's side", and comes back later if it is held.  Once a
 * direction is SWITCHED, the loop uses only the ring and the atomic fields, and
 * needs no latch.
 *
 * An offset counts the application's bytes in a direction from 0, over TCP and
 * Tux alike.  N is the offset at which a direction switches.
 */
#ifndef TUX_CONN_DUPLEX_H
#define TUX_CONN_DUPLEX_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/latch.h"
#include "base/pipe.h"
#include "policy/burst.h"
#include "wire/wire.h"

enum tux_tx_state {
	TUX_TX_PLAIN,		/* writes go to TCP; no generation is open */
	TUX_TX_ANNOUNCED,	/* writes go to TCP; N is announced */
	TUX_TX_ACKED,		/* PREPARED came: writes go to TCP up to N, and
				 * a write at N commits */
	TUX_TX_SWITCHED,	/* committed: writes go to the ring */
	TUX_TX_RAW,		/* writes go to TCP, for good */
};

enum tux_rx_state {
	TUX_RX_PLAIN,		/* reads empty the ring, in a later turn, then
				 * come from TCP */
	TUX_RX_ARMED,		/* reads come from TCP up to N; the marker there
				 * means switched, other bytes mean void */
	TUX_RX_SWITCHED,	/* reads come from the ring */
	TUX_RX_RAW,		/* reads empty the ring, then come from TCP */
};

/* Bits of dx->rung: why the loop should look at a connection. */
enum {
	TUX_DOORBELL_TX = 0x01,	/* the tx ring has bytes, tx was shut, or a
				 * write has reached N */
	TUX_DOORBELL_RX = 0x02,	/* the rx ring has room, or rx has switched */
	TUX_DOORBELL_TOUCH = 0x04,	/* plain I/O: see d->touches */
	TUX_DOORBELL_CLOSE = 0x08,	/* the application has closed */
	TUX_DOORBELL_ABORT = 0x10,	/* it has, with a reset (SO_LINGER 0) */
	TUX_DOORBELL_RAW = 0x20,	/* it wants plain TCP, for good */
	TUX_DOORBELL_MESSAGE = 0x40,	/* a message to send, cancelled or
					 * released */
	TUX_DOORBELL_LOOK = 0x80,	/* tx has shown new evidence of which
					 * path is better (tx.look_at) */
	TUX_DOORBELL_LEAVE = 0x100,	/* the socket is the application's alone:
					 * TCP is plain for good, or is reset */
	TUX_DOORBELL_WOKE = 0x200,	/* it had slept: tux_duplex_wake() */
	TUX_DOORBELL_SHARE = 0x400,	/* another process uses the connection */
	TUX_DOORBELL_QUEUED = 0x80000000u, /* the index of the connection is in
					    * the loop's bell */
};

/* The latch protects all fields that are not atomic. */
struct tux_duplex_tx {
	struct tux_latch latch;
	_Atomic uint8_t state;		/* enum tux_tx_state */
	_Atomic uint8_t shut;		/* the application sends no more */
	_Atomic uint8_t hold;		/* writes wait until the loop has written
					 * the frame behind which the direction
					 * is plain TCP again */
	_Atomic uint32_t turn;		/* how often it has become PLAIN again */
	_Atomic uint32_t look_at;	/* PLAIN: ring TUX_DOORBELL_LOOK when
					 * `bursts` has so many turn-arounds */
	struct tux_burst bursts;	/* on every path */
	_Atomic uint8_t marker_left;	/* SWITCHED: so many bytes of the marker
					 * are not yet in TCP; the loop writes
					 * them, and writes wait */
	_Atomic uint8_t mute;		/* discard the next write and report
					 * success: the peer has died, and TCP,
					 * too, learns that from the answer to a
					 * write, and fails the one after */
	_Atomic uint8_t bars;		/* odd: a write waits for the end of the
					 * doubt, since its next byte would
					 * complete the marker; counts when such
					 * waits begin and end */
	uint8_t pinned;			/* announce no N any more */
	_Atomic uint8_t doubt;		/* the receiver may be armed at `at`,
					 * and the bytes that TCP has behind it,
					 * if any, match the marker so far */
	uint8_t disarming;		/* the last announcement was of
					 * TUX_NOWHERE */
	uint32_t gen;			/* last announced; 0: none yet */
	uint64_t off;			/* PLAIN: bytes written so far; SWITCHED:
					 * N */
	uint64_t at;			/* N of the open generation, or of the
					 * one in doubt */
	uint64_t from;			/* off at the last announcement */
	uint32_t segment;		/* so many bytes are one segment of TCP;
					 * 0: not known */
	uint32_t rest;			/* SWITCHED: of the write that went across
					 * N, so many bytes lie behind N, and go
					 * in the first frame */
	uint32_t framed;		/* ... and so many bytes of that frame and
					 * of SWITCH behind it are in TCP */
	uint8_t marker[TUX_MARKER_LEN];	/* of the generation of `at` */
};

/* The latch protects all fields that are not atomic, until SWITCHED; from then
 * on marker_left is the loop's. */
struct tux_duplex_rx {
	struct tux_latch latch;
	_Atomic uint8_t state;		/* enum tux_rx_state */
	_Atomic uint8_t eof;		/* no more bytes come into the ring: FIN
					 * and all before it have arrived, or
					 * the connection is dead */
	uint8_t pinned;			/* arm no more */
	uint8_t refuses;		/* ... for now */
	uint8_t marker_left;		/* SWITCHED: so many bytes of the marker
					 * are still in TCP; the loop skips
					 * them */
	_Atomic uint8_t stopped;	/* reads leave the ring: see
					 * tux_duplex_stop() */
	_Atomic uint8_t missed;		/* ... and one has found nothing meanwhile, */
	_Atomic uint8_t resumes;	/* ... and how often they went on then */
	uint8_t held;			/* ARMED, at N: so many bytes were read,
					 * and match the marker so far */
	_Atomic uint8_t spill_len;	/* bytes in spill: they were read as a
					 * marker's beginning and are data */
	_Atomic uint32_t turn;		/* how often it has become PLAIN again */
	struct tux_burst bursts;	/* on every path */
	uint32_t gen;			/* the newest generation seen */
	_Atomic uint64_t from;		/* offset at which the present turn began:
					 * PLAIN, the ring may have bytes below */
	uint64_t off;			/* PLAIN: offset of the next byte of TCP,
					 * behind those in spill; SWITCHED: N */
	uint64_t at;			/* N of generation gen */
	_Atomic uint64_t taken;		/* the application has all below: of a
					 * write that went across N, even bytes
					 * that are not in the ring yet */
	uint8_t marker[TUX_MARKER_LEN];
	uint8_t spill[TUX_MARKER_LEN];
};

struct tux_duplex {
	struct tux_duplex_tx tx;
	struct tux_duplex_rx rx;
	_Atomic uint32_t rung;		/* TUX_DOORBELL_*, for the loop */
	_Atomic uint32_t touches;	/* plain reads and writes that still
					 * ring TUX_DOORBELL_TOUCH */
	_Atomic uint32_t err;		/* errno for the application; 0: none */
	_Atomic uint8_t failed;		/* the application was told an error: the
					 * connection has no other */
	_Atomic uint8_t called;		/* the peer wanted to move a direction that
					 * was pinned */
	_Atomic uint8_t raw_why;	/* enum tux_reason: why TUX_DOORBELL_RAW
					 * rang */
	_Atomic uint64_t wake_at;	/* ring TUX_DOORBELL_RX when the rx ring
					 * is consumed up to here; never more
					 * than half a ring beyond the tail that
					 * the loop has seen */
	_Atomic uint64_t peer_read;	/* the peer's application has read all
					 * below: as long as it has not, the tx
					 * ring keeps the bytes if it can */
	_Atomic uint32_t *begun;	/* NULL, or gets `claim` before the first
					 * direction is announced or armed: until
					 * then, TCP is all that there is */
	uint32_t claim;
	struct tux_pipe txp;		/* the tx ring: application to loop */
	struct tux_pipe rxp;		/* the rx ring: loop to application */
};

/* The TCP socket.  Neither call blocks; both return -errno on failure. */
struct tux_tcp {
	ssize_t (*send)(void *arg, const struct iovec *iov, int n);
	ssize_t (*recv)(void *arg, const struct iovec *iov, int n, bool peek);
	void *arg;
};

/* The size of a duplex with rings of @cap bytes each (a power of two). */
size_t tux_duplex_size(uint32_t cap);

/* Sets up @d in zeroed memory of tux_duplex_size(@cap) bytes, with both
 * directions plain. */
void tux_duplex_init(struct tux_duplex *d, uint32_t cap);

/* @tx and @rx are what the directions of fresh @d have carried before it was
 * there. */
void tux_duplex_begin(struct tux_duplex *d, const struct tux_burst *tx,
		      const struct tux_burst *rx);

/* ---- the application's side; the caller holds that direction's latch ---- */

/* Writes what TCP or the ring takes.  Returns how many bytes (more than 0), or
 * -EAGAIN, -EPIPE after tux_duplex_shut(), the connection's error, or the error
 * of TCP.  It may set bits in d->rung; then the caller rings, see
 * tux_duplex_rings(). */
ssize_t tux_duplex_write(struct tux_duplex *d, const struct iovec *iov, int n,
			 const struct tux_tcp *tcp);

/* Reads what is there; with @peek, without consuming it: then all that is there
 * and that @iov takes.  Returns how many bytes, 0 at the end of the stream, or
 * -EAGAIN, the connection's error (once), or the error of TCP.  It may set bits
 * in d->rung. */
ssize_t tux_duplex_read(struct tux_duplex *d, const struct iovec *iov, int n,
			bool peek, const struct tux_tcp *tcp);

/* Will the next bytes come from TCP?  Then a short read has emptied TCP.  After a
 * read: has it come to N?  Then more bytes may follow from the ring.  The rx latch is
 * held. */
bool tux_duplex_from_tcp(const struct tux_duplex *d);
bool tux_duplex_at_switch(const struct tux_duplex *d);

/* Has the peer ended the stream, and are all of its bytes here, read or not?
 * @fin: TCP has no error, and the FIN of TCP has arrived.  The rx latch is
 * held. */
bool tux_duplex_ended(struct tux_duplex *d, bool fin,
		      const struct tux_tcp *tcp);

/* How many bytes can be read, wherever they are, if TCP has @n?  The rx latch is
 * held. */
uint64_t tux_duplex_unread(struct tux_duplex *d, uint64_t n,
			   const struct tux_tcp *tcp);

/* Call it when TCP is readable, before the application is told so: if the
 * direction is armed and at N, it looks for the marker on TCP and switches, or
 * makes the generation void.  Returns true if the application should read.  The
 * rx latch is held. */
bool tux_duplex_advance(struct tux_duplex *d, const struct tux_tcp *tcp);

/* The error of the connection, if the application was not told it yet; from now on it
 * was.  0: there is none.  No latch is needed. */
int tux_duplex_error(struct tux_duplex *d);

/* The application sends no more.  Returns true if the loop will tell the peer;
 * false if the caller must shutdown(2) the TCP socket.  The tx latch is
 * held. */
bool tux_duplex_shut(struct tux_duplex *d);

/* What switched directions allow now.  No latch is needed. */
enum {
	TUX_CAN_READ = 0x01,	/* bytes, the end of the stream, or an error */
	TUX_CAN_WRITE = 0x02,
	TUX_IS_ERR = 0x04,
	TUX_IS_EOF = 0x08,	/* the peer has ended the stream; bytes may be
				 * left to read, some of them in TCP */
	TUX_RX_ON_RING = 0x10,	/* ignore whether TCP is readable */
	TUX_TX_ON_RING = 0x20,	/* ignore whether TCP is writable */
	TUX_TX_WAITS = 0x40,	/* so, too: a write waits for the end of the
				 * doubt; but errors of TCP count */
};
unsigned tux_duplex_poll(const struct tux_duplex *d);

/* How often the direction has become plain TCP again, for good or not; and in that of
 * reads, how often these went on after one had found nothing: what can be read is not
 * where it was, or was hidden before, though no byte has come. */
static inline uint32_t tux_duplex_tx_turns(const struct tux_duplex *d)
{
	return atomic_load(&d->tx.turn) +
	       (atomic_load(&d->tx.state) == TUX_TX_RAW &&
		!atomic_load(&d->tx.hold));
}

static inline uint32_t tux_duplex_rx_turns(const struct tux_duplex *d)
{
	return atomic_load(&d->rx.turn) + atomic_load(&d->rx.resumes) +
	       (atomic_load(&d->rx.state) == TUX_RX_RAW);
}

/* Bytes that can be read now and are not in TCP.  If rx is not on the ring, add
 * TCP's FIONREAD. */
uint32_t tux_duplex_readable(const struct tux_duplex *d);

/* ---- plain TCP for good; the latches of the directions are held ---- */

/* May code that does not know the duplex write to the TCP socket, or read from
 * it, from now on? */
bool tux_duplex_tx_is_raw(const struct tux_duplex *d);
bool tux_duplex_rx_is_raw(const struct tux_duplex *d);

/* Keeps both directions on TCP for good, for example because a child process
 * takes the connection over.  Returns 0 if both of the above hold now; -EAGAIN
 * if they will once the peer has answered an announcement of TUX_NOWHERE: try
 * again; -EBUSY if a direction has begun to switch. */
int tux_duplex_pin(struct tux_duplex *d);

/* As tux_duplex_pin(), of a connection that goes back to TCP for good.  True if all
 * bytes not yet read are in TCP, and both directions are plain.  Looks for the
 * peer's marker first, unless @tcp is NULL: no read would find one that comes next
 * in TCP, if nothing reads meanwhile.  Both latches are held. */
bool tux_duplex_go_raw(struct tux_duplex *d, const struct tux_tcp *tcp);

/* Why will tux_duplex_go_raw() not succeed, however long a caller waits?  -EPIPE: a
 * direction has ended on Tux; or the connection's error.  0: it may.  Needs no
 * latch. */
int tux_duplex_hopeless(const struct tux_duplex *d);

/* Are both directions PLAIN, with no byte left on the rx ring, and no doubt?  Needs
 * no latch; it may be otherwise a moment later. */
bool tux_duplex_is_plain(const struct tux_duplex *d);

/* As tux_duplex_pin(), until tux_duplex_wake(), and all or nothing; -EPERM if a
 * direction is pinned for good. */
int tux_duplex_sleep(struct tux_duplex *d);

/* Are both directions pinned by it? */
bool tux_duplex_sleeps(const struct tux_duplex *d);

/* The directions may move again.  The kernel's calls have moved bytes since: @tx and
 * @rx are what the directions have carried in all; NULL: nothing was moved.  False
 * if one has been pinned for good meanwhile. */
bool tux_duplex_wake(struct tux_duplex *d, const struct tux_burst *tx,
		     const struct tux_burst *rx);

/* Sets @bits in d->rung.  Returns true if the caller must put the connection's
 * index into the loop's bell, because it is not there yet. */
static inline bool tux_duplex_rings(struct tux_duplex *d, uint32_t bits)
{
	return !(atomic_fetch_or(&d->rung, bits | TUX_DOORBELL_QUEUED) &
		 TUX_DOORBELL_QUEUED);
}

/* ---- the loop's side, once the application has closed ------------------ */

/* In a direction that has not switched, the loop reads TCP instead of the
 * application: it discards the bytes and looks for the marker.  The first
 * function tells how many bytes to read at most; the second takes what was
 * read. */
size_t tux_duplex_swallow_want(const struct tux_duplex *d);
void tux_duplex_swallow(struct tux_duplex *d, const uint8_t *p, size_t len);

/* ---- the loop's side; it holds the latch; @key is the session key -------- */

/* As N: arms nothing, and takes back the announcement before it. */
#define TUX_NOWHERE	UINT64_MAX

/* Announces N = off + @ahead, PLAIN to ANNOUNCED; if an older generation is in
 * doubt, announces TUX_NOWHERE instead and stays PLAIN.  Puts N into *@at; its
 * generation is d->tx.gen.  Returns false if there is nothing to announce: the
 * direction is pinned, shut, or not PLAIN. */
struct tux_key;
bool tux_duplex_announce(struct tux_duplex *d, uint64_t ahead,
			 const struct tux_key *key, bool active, uint64_t *at);

/* Does a write wait for the end of the doubt?  Needs no latch. */
static inline bool tux_duplex_barred(const struct tux_duplex *d)
{
	return atomic_load(&d->tx.bars) & 1 && !atomic_load(&d->tx.shut);
}

/* PREPARED(@gen) arrived: ANNOUNCED becomes ACKED, or the doubt ends.  Returns
 * true if a write has waited for that. */
bool tux_duplex_prepared(struct tux_duplex *d, uint32_t gen);

/* May the marker be written to TCP now?  The holder of the latch writes it.
 * When TCP has taken @n > 0 bytes of it, tux_duplex_committed() makes the
 * direction SWITCHED. */
bool tux_duplex_at_commit(const struct tux_duplex *d);
void tux_duplex_committed(struct tux_duplex *d, size_t n);

/* Makes the open generation void: back to PLAIN.  The loop does that when the
 * application has stopped writing short of N. */
void tux_duplex_withdraw(struct tux_duplex *d);

/* Writes wait from now on (@hold), or go on.  The direction is SWITCHED. */
void tux_duplex_hold(struct tux_duplex *d, bool hold);

/* The frame PLAIN is to be written behind all frames, at offset @off: the
 * direction becomes PLAIN, and writes wait until tux_duplex_tx_plain(). */
void tux_duplex_tx_leave(struct tux_duplex *d, uint64_t off);
void tux_duplex_tx_plain(struct tux_duplex *d);

/* The frame PLAIN has come: behind what the ring still has, reads come from TCP
 * again, at offset @off.  No latch is needed. */
void tux_duplex_rx_plain(struct tux_duplex *d, uint64_t off);

/* The direction is SWITCHED, and is to become plain TCP.  From now on reads find nothing
 * in the ring, and the peer may send again, over TCP, what they have not taken: all
 * from the offset on that is put into *@from.  The rx latch is held. */
void tux_duplex_stop(struct tux_duplex *d, uint64_t *from);

/* The end of that.  With @drop, the peer sends what the ring has once more.  No
 * latch is needed. */
void tux_duplex_resume(struct tux_duplex *d, bool drop);

/* Does the tx ring have all from offset @from on, be it acknowledged or not?  The tx
 * latch is held. */
bool tux_duplex_keeps(const struct tux_duplex *d, uint64_t from);

/* May a generation be armed?  Not while the ring has bytes of an earlier turn.
 * Then the next read that empties it rings TUX_DOORBELL_RX. */
bool tux_duplex_drained(struct tux_duplex *d);

/* PREPARE(@gen, @at) arrived.  Returns true if the answer is PREPARED(@gen). */
bool tux_duplex_arm(struct tux_duplex *d, uint32_t gen, uint64_t at,
		    const struct tux_key *key, bool active);

/* Stream bytes arrived over Tux, which proves that the sender has switched.  If
 * the direction is ARMED and everything below N has been read from TCP, it
 * becomes SWITCHED.  Returns true if it is SWITCHED now. */
bool tux_duplex_prove(struct tux_duplex *d);

#endif
