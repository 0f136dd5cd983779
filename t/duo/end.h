/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * end - one end of a connection in memory, with what its loop does
 *
 * The bytes that TCP carries toward it are in an array.  A test joins two ends:
 * it carries the datagrams between their cores, and sets the time.  The unit
 * tests of conn (duo), the fuzzers (world) and bench/parts (twin) do.
 */
#ifndef TUX_DUO_END_H
#define TUX_DUO_END_H

#include "conn/core.h"
#include "conn/msgbox.h"

struct duo_tcp {		/* the bytes on the way to an end */
	uint8_t *p;
	size_t len, cap;	/* bytes at @p; the most that fit */
	bool full;		/* the peer found too little room */
	bool eof;		/* the end of TCP follows the last byte, */
	int err;		/* ... or this error; 0: none */
};

struct duo_end {
	unsigned side;			/* 0: it called connect() */
	struct duo_end *peer;
	tux_time *now;
	struct tux_core *core;		/* other ends may share it */
	struct tux_conn *c;		/* NULL: closed */
	struct tux_duplex *dx;
	struct tux_msgbox *box;		/* NULL: it takes no messages */
	struct tux_addr addr;		/* with the UDP port */
	struct tux_tcp tcp;		/* as the duplex uses it */
	struct duo_tcp in;
	bool tcp_work;			/* for duo_serve(): see there */
	bool ended;			/* the core was told the end of TCP */
	uint16_t announced;		/* what the peer's handshake has; 0 */
	int own_err;			/* of duplicating the descriptor */
	bool own_late;			/* the test calls tux_conn_owned() */
	unsigned ready_n, own_n, tcp_n, shut_n, gone_n;	/* effects so far */
	bool gone_reset;
};

/* Makes @e the end @side of a connection to @peer, at the time *@now.  TCP has
 * room for @cap bytes at @p.  Set core, dx and box before duo_end_open(). */
void duo_end_init(struct duo_end *e, unsigned side, struct duo_end *peer,
		  tux_time *now, uint8_t *p, size_t cap);
/* Sets @e->core to a new core.  Returns what tux_core_new() does. */
int duo_end_core(struct duo_end *e, const struct tux_mem *mem,
		 tux_trace_fn *trace, void *trace_arg);
/* Opens the connection from the TCP port @port of side 0.  Returns what
 * tux_core_open() does. */
int duo_end_open(struct duo_end *e, uint16_t port, uint32_t mtu);

/* Carries out, and counts, the effects of all connections of @e's core.  The
 * user of each is its end. */
void duo_effects(struct duo_end *e);

/* The next datagram of @e's core to @p, and where it goes to *@o.  Returns its
 * length; 0: there is none now. */
size_t duo_datagram(struct duo_end *e, uint8_t *p, size_t cap,
		    struct tux_out *o);

/* ---- the loop's TCP ---- */

/* Bytes at @p reach @e over TCP.  Returns how many found room. */
size_t duo_tcp_put(struct duo_end *e, const void *p, size_t len);
/* Takes the first @n bytes that reached @e. */
void duo_tcp_take(struct duo_end *e, size_t n);
/* The core is asked for bytes, and TCP takes at most @max of them.  Returns how
 * many it took. */
size_t duo_tcp_out(struct duo_end *e, size_t max);
/* Moves bytes between TCP and the core, at most @max at a time, until none
 * moves, and tells the core the end of TCP.  Returns whether a byte moved.
 * There may be something to do if e->tcp_work is set; this clears it first. */
bool duo_serve(struct duo_end *e, size_t max);

/* ---- the application ---- */

/* Rings the doorbell with @bits, and with those that already wait. */
void duo_ring(struct duo_end *e, uint32_t bits);
/* The calls of the duplex, which also ring.  They return what it does. */
ssize_t duo_write(struct duo_end *e, const void *p, size_t len);
ssize_t duo_read(struct duo_end *e, void *p, size_t len);

#endif
