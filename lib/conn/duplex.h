/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * duplex - what an application and a loop share of one connection
 *
 * Two directions.  Each begins as plain bytes on a kernel TCP connection and
 * may move, once, to a ring in shareable memory that the loop serves; it may
 * end as plain bytes again (RAW).  Here is the state that decides where the
 * next byte goes, and both halves of the switch that t/model enumerates.
 *
 * The application's threads hold a direction's latch around every call here.
 * The loop only tries it, and only for the calls marked "loop".  In RING the
 * loop touches nothing but the pipe and the atomics.
 *
 * An offset counts the application's bytes in that direction from 0, whatever
 * path they took.
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
#include "wire/wire.h"

enum tux_tx_state {
	TUX_TX_PLAIN,		/* on TCP; nothing announced, or void */
	TUX_TX_ANNOUNCED,	/* on TCP; (gen, at) announced */
	TUX_TX_ACKED,		/* on TCP up to `at`, where it commits */
	TUX_TX_SWITCHED,		/* committed: through the ring */
	TUX_TX_RAW,		/* on TCP for good */
};

enum tux_rx_state {
	TUX_RX_PLAIN,		/* from TCP */
	TUX_RX_ARMED,		/* from TCP up to `at`, then the marker or not */
	TUX_RX_SWITCHED,		/* from the ring */
	TUX_RX_RAW,		/* from the ring until it is empty, then TCP */
};

/* Why the loop should look at a connection: bits in dx->rung. */
enum {
	TUX_DOORBELL_TX = 0x01,	/* bytes in the tx ring, or its end */
	TUX_DOORBELL_RX = 0x02,	/* room in the rx ring, or rx has switched */
	TUX_DOORBELL_TOUCH = 0x04,	/* plain I/O while the path is not proved */
	TUX_DOORBELL_CLOSE = 0x08,	/* the application is done with it */
	TUX_DOORBELL_ABORT = 0x10,	/* ... and wants a reset (SO_LINGER of 0) */
	TUX_DOORBELL_RAW = 0x20,	/* the application wants plain TCP for good */
	TUX_DOORBELL_MESSAGE = 0x40,	/* messages: to send, cancelled, released */
	TUX_DOORBELL_QUEUED = 0x80000000u,	/* its index is in the loop's bell */
};

struct tux_duplex_tx {
	struct tux_latch latch;
	_Atomic uint8_t state;		/* enum tux_tx_state */
	_Atomic uint8_t shut;		/* no more bytes will come */
	_Atomic uint8_t hold;		/* RAW, but its frame is not yet out */
	_Atomic uint8_t marker_left;	/* RING: bytes of it not yet in TCP */
	_Atomic uint8_t mute;		/* the next write is taken and goes nowhere:
					 * TCP, too, learns of a peer that has
					 * gone by the answer to a write */
	uint8_t pinned;			/* never announce a place again */
	uint8_t doubt;			/* the peer may be armed at `at`, and what
					 * went to TCP there is the beginning of
					 * the marker so far */
	uint8_t disarming;		/* the last announcement means: nowhere */
	uint32_t gen;			/* of the last announcement; 0: none yet */
	uint64_t off;			/* bytes written to TCP, until RING */
	uint64_t at;			/* N of the open or doubtful generation */
	uint64_t from;			/* off when it was announced */
	uint8_t marker[TUX_MARKER_LEN];	/* ... and its marker */
};

struct tux_duplex_rx {
	struct tux_latch latch;
	_Atomic uint8_t state;		/* enum tux_rx_state */
	_Atomic uint8_t eof;		/* the ring ends here: FIN arrived */
	uint8_t pinned;			/* never arm again */
	uint8_t marker_left;		/* RING: bytes of it still in TCP */
	uint8_t held;			/* ARMED, at N: so many bytes of it were
					 * read, and no more were there */
	_Atomic uint8_t spill_len;	/* read that way, but data after all */
	uint32_t gen;			/* the last generation seen */
	uint64_t off;			/* bytes read from TCP, until RING */
	uint64_t at;			/* N of generation `gen` */
	uint8_t marker[TUX_MARKER_LEN];
	uint8_t spill[TUX_MARKER_LEN];
};

struct tux_duplex {
	struct tux_duplex_tx tx;
	struct tux_duplex_rx rx;
	_Atomic uint32_t rung;		/* TUX_RING_*: application to loop */
	_Atomic uint32_t touches;	/* plain reads and writes that still ring */
	_Atomic uint32_t err;		/* errno for the application; 0: none */
	_Atomic uint64_t wake_at;	/* ring RX when consumed up to here */
	struct tux_pipe txp;		/* application to loop */
	struct tux_pipe rxp;		/* loop to application */
};

/* TCP as the duplex uses it.  Neither call blocks; -errno on failure. */
struct tux_tcp {
	ssize_t (*send)(void *arg, const struct iovec *iov, int n);
	ssize_t (*recv)(void *arg, const struct iovec *iov, int n, bool peek);
	void *arg;
};

/* The size of a duplex whose rings hold @cap bytes each (a power of two). */
size_t tux_duplex_size(uint32_t cap);

/* Sets up @d in zeroed memory of that size: both directions plain.  The first
 * few plain reads and writes ring TUX_DOORBELL_TOUCH. */
void tux_duplex_init(struct tux_duplex *d, uint32_t cap);

/* ---- the application's side; the caller holds that direction's latch ---- */

/* Writes what it can, to TCP or to the ring.  Bytes taken (more than 0);
 * -EAGAIN; -EPIPE after tux_duplex_shut(); the connection's error; or what
 * TCP said.  May leave bits in d->rung: see tux_duplex_rings(). */
ssize_t tux_duplex_write(struct tux_duplex *d, const struct iovec *iov, int n,
			 const struct tux_tcp *tcp);

/* Reads (or, with @peek, looks at) what is there.  Bytes; 0 at the end of the
 * stream; -EAGAIN; the connection's error, once; or what TCP said. */
ssize_t tux_duplex_read(struct tux_duplex *d, const struct iovec *iov, int n,
			bool peek, const struct tux_tcp *tcp);

/* At N: looks for the marker on TCP and acts on it.  Call it (rx latch held)
 * when TCP says readable and before telling the application so.  True if the
 * application may read something from TCP or the ring. */
bool tux_duplex_advance(struct tux_duplex *d, const struct tux_tcp *tcp);

/* The application sends no more (tx latch held).  True if the ring will carry
 * the news; false if the caller must shutdown(2) the TCP socket itself. */
bool tux_duplex_shut(struct tux_duplex *d);

/* What ring-borne directions allow now, latch not needed. */
enum {
	TUX_CAN_READ = 0x01,	/* bytes, the end, or an error */
	TUX_CAN_WRITE = 0x02,
	TUX_IS_ERR = 0x04,
	TUX_IS_EOF = 0x08,	/* the peer has finished; maybe not all is
				 * read, or a part of it still in TCP */
	TUX_RX_ON_RING = 0x10,	/* TCP's readability says nothing */
	TUX_TX_ON_RING = 0x20,	/* TCP's writability says nothing */
};
unsigned tux_duplex_poll(const struct tux_duplex *d);

/* Bytes that can be read without TCP now: add TCP's FIONREAD in a direction
 * that is not on the ring. */
uint32_t tux_duplex_readable(const struct tux_duplex *d);

/* ---- plain TCP for good; the latches of the directions are held ---- */

/* May one who knows nothing of the duplex write to the TCP socket, or read from
 * it, from now on? */
bool tux_duplex_tx_is_raw(const struct tux_duplex *d);
bool tux_duplex_rx_is_raw(const struct tux_duplex *d);

/* A connection that has not begun to move never will (as for a child that
 * takes it over).  0: both of the above hold; -EAGAIN: they will as soon as the
 * peer has answered an announcement of nowhere: try again; -EBUSY: too late. */
int tux_duplex_pin(struct tux_duplex *d);

/* Marks @bits for the loop.  True if the connection's index must be put into
 * the loop's bell (it is not there yet). */
static inline bool tux_duplex_rings(struct tux_duplex *d, uint32_t bits)
{
	return !(atomic_fetch_or(&d->rung, bits | TUX_DOORBELL_QUEUED) &
		 TUX_DOORBELL_QUEUED);
}

/* ---- the loop's side, once the application has closed ------------------ */

/* The loop reads TCP in its place, to find the marker, if one comes: how many
 * bytes to read at most, and what was read. */
size_t tux_duplex_swallow_want(const struct tux_duplex *d);
void tux_duplex_swallow(struct tux_duplex *d, const uint8_t *p, size_t len);

/* ---- the loop's side; @key is the session's, the latch was tried and got -- */

/* An announcement of this offset takes back the one before it. */
#define TUX_NOWHERE	UINT64_MAX

/* PLAIN to ANNOUNCED at off + @ahead; or, with an older generation still in
 * doubt, an announcement of TUX_NOWHERE, which commits to nothing.  The offset
 * to announce, with d->tx.gen, goes into *@at.  False if pinned, shut or not
 * plain. */
struct tux_key;
bool tux_duplex_announce(struct tux_duplex *d, uint64_t ahead,
			 const struct tux_key *key, bool active, uint64_t *at);

/* PREPARED(@gen) arrived: ANNOUNCED becomes ACKED, or a doubt ends. */
void tux_duplex_prepared(struct tux_duplex *d, uint32_t gen);

/* May the marker be written now?  Only the holder of the latch writes it; as
 * soon as TCP has taken @n > 0 bytes of it, tux_duplex_committed() makes the
 * direction RING. */
bool tux_duplex_at_commit(const struct tux_duplex *d);
void tux_duplex_committed(struct tux_duplex *d, size_t n);

/* The generation open now did not work out (quiet short of N): back to PLAIN. */
void tux_duplex_withdraw(struct tux_duplex *d);

/* PREPARE(@gen, @at) arrived.  True if PREPARED is the answer. */
bool tux_duplex_arm(struct tux_duplex *d, uint32_t gen, uint64_t at,
		    const struct tux_key *key, bool active);

/* Stream data has come in an ARMED direction: RING, if all before it has been
 * read from TCP.  True if it is RING now. */
bool tux_duplex_prove(struct tux_duplex *d);

#endif
