/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_step - a call, and all that the program can see of its outcome
 *
 * A step names its process, thread and sockets by number, so that it means the
 * same in every world in which it is played.
 */
#ifndef TUX_T_POSIX_PARITY_STEP_H
#define TUX_T_POSIX_PARITY_STEP_H

#include <stdint.h>

/* The kinds of calls.  "way_back" is a call, too: it passes the descriptor to
 * another socket of the same process, which takes a connection back to TCP.
 * "overflow" is a call with a vector that is too long, and "unspec" connect() to
 * AF_UNSPEC. */
#define PARITY_KINDS(X) \
	X(listen) X(connect) X(accept) X(accept4) \
	X(read) X(readv) X(recv) X(recvfrom) X(recvmsg) \
	X(write) X(writev) X(send) X(sendto) X(sendmsg) \
	X(shutdown) X(close) X(dup) X(dup2) X(fcntl) \
	X(poll) X(select) X(epoll_ctl) X(epoll_wait) \
	X(ioctl) X(getsockopt) X(setsockopt) \
	X(getsockname) X(getpeername) X(bind) X(lseek) X(fork) \
	X(way_back) X(signal) X(upgrade) \
	X(peek_off) X(overflow) X(unspec) X(spawn)

enum { PARITY_POKED = 4 };	/* bytes of a poke, see parity_call.h */

enum parity_kind {
#define X(name) PARITY_##name,
	PARITY_KINDS(X)
#undef X
	PARITY_KIND_N
};

enum {
	PARITY_PROCS = 2,
	PARITY_WORKERS = 2,	/* threads of a process that make calls */
	PARITY_SLOTS = 8,	/* descriptors of a process */
	PARITY_CONNS = 3,	/* connections are in these slots of both */
	PARITY_DUP_SLOT = PARITY_CONNS,		/* and duplicates in two */
	PARITY_LISTEN_SLOT = 5,
	PARITY_EPOLL_SLOT = 6,	/* from here on */
};

struct parity_step {
	uint8_t kind;
	uint8_t proc;
	uint8_t worker;
	uint8_t slot;
	uint8_t other;		/* a second slot: of dup2, select, epoll_ctl */
	int32_t n;		/* bytes; for others than reads and writes, what
				 * parity_call.c says */
	int32_t flags;
	int32_t value;
	uint32_t id;		/* what the bytes that it writes depend on */
};

enum parity_state {
	PARITY_DONE,
	PARITY_BLOCKS,		/* the call has not returned */
};

enum { PARITY_OUT = 4 };

struct parity_record {
	int32_t state;
	int32_t err;		/* errno, if @ret is -1 */
	int64_t ret;
	uint64_t hash;		/* of the bytes that came */
	uint32_t out[PARITY_OUT];	/* events, options, flags, by the kind */
	uint64_t tcp_bytes;	/* of an observation: what TCP has brought so
				 * far.  Not compared */
};

const char *parity_kind_name(unsigned kind);

/* Prints @s, or @r, in a line of their own. */
void parity_step_print(const struct parity_step *s);
void parity_record_print(const char *world, const struct parity_record *r);

#endif
