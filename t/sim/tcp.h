/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tcp - a kernel's TCP connection, simulated
 *
 * Reliable and in order, and no better than that: buffers are limited, a write
 * or read may be partial, segments may be cut anywhere.  A close with unread
 * bytes, or data that arrives for a closed socket, makes a reset, and a reset
 * destroys what the other side has not yet sent.
 *
 * Bytes of a direction are counted from 0, markers and frames included.
 */
#ifndef SIM_TCP_H
#define SIM_TCP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "base/time.h"

struct sim;
struct sim_end;

struct sim_pipe {		/* one direction */
	uint8_t *mem;
	uint32_t cap;		/* power of two: sndbuf and rcvbuf together */
	/* offsets: read <= arrived <= left <= wrote */
	uint64_t wrote, left, arrived, read;
	uint64_t acked;		/* arrived, as the sender knows */
	uint64_t window;	/* the sender may let go of bytes below */
	uint64_t told;		/* window, as the receiver last told it */
	bool fin, fin_left, fin_arrived;
	tux_time last_at;	/* when the last segment arrives */
	uint64_t hold_off;	/* segments from here on take longer, once */
	tux_time hold_for;	/* 0: no such wish */
};

struct sim_sock {		/* one end of it, as a kernel holds it */
	unsigned refs;		/* the application's descriptor, the loop's */
	bool closed;
	int err;		/* to be told once */
	bool dead;		/* reset, by either end */
	bool starved;		/* a write found no room */
	struct sim_pipe *tx, *rx;
};

struct sim_tcp {
	struct sim_pipe pipe[2];	/* [i]: from end i to the other */
	tux_time delay;
	uint32_t sndbuf, rcvbuf;
	uint32_t mss;		/* the longest segment */
	bool cut;		/* any length up to it */
	uint32_t scant;		/* of a million writes, take but a part */
	bool down;		/* no segment leaves */
};

struct sim_conn;
void sim_tcp_init(struct sim_conn *k);
void sim_tcp_fini(struct sim_conn *k);

/* The kernel's calls; never block.  Count, 0 at the end, or -errno. */
ssize_t sim_tcp_send(struct sim_end *e, const struct iovec *iov, int n);
ssize_t sim_tcp_recv(struct sim_end *e, const struct iovec *iov, int n,
		     bool peek);
void sim_tcp_shut(struct sim_end *e);		/* SHUT_WR */

/* One descriptor less; the last one closes, with @reset as SO_LINGER {1, 0}. */
void sim_tcp_put(struct sim_end *e, bool reset);

/* Would recv not say -EAGAIN? */
bool sim_tcp_readable(const struct sim_end *e);

/* Has the peer's FIN arrived, and no error? */
bool sim_tcp_ended(const struct sim_end *e);

/* Would send not say -EAGAIN? */
bool sim_tcp_writable(const struct sim_end *e);

/* Bytes that @e writes at raw offset @off and beyond take @extra longer. */
void sim_tcp_hold(struct sim_end *e, uint64_t off, tux_time extra);

/* No segment leaves, in both directions, or they do again. */
void sim_tcp_down(struct sim_conn *k, bool down);

#endif
