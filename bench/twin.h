/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * twin - two cores back to back in memory, and connections between them
 *
 * No kernel, no clock, no network: what the stack itself costs.  Side 0 is the
 * active end of all connections.  Datagrams go over in batches, as a link's do,
 * none is lost, and time is what the caller says.
 */
#ifndef BENCH_TWIN_H
#define BENCH_TWIN_H

#include "../t/duo/end.h"

enum {
	TWIN_CONNS = 64,
	TWIN_BATCH = 32,	/* datagrams that go over at once */
	TWIN_MTU = 1472,	/* longest of them */
	TWIN_TCP = 256,		/* bytes that TCP has room for */
};

struct twin_dgram {
	struct tux_addr from;
	uint8_t ecn;
	size_t len;
	uint8_t p[TWIN_MTU];
};

struct twin {
	struct tux_mem mem;
	struct duo_end end[2][TWIN_CONNS];	/* a side shares a core */
	uint8_t tcp[2][TWIN_CONNS][TWIN_TCP];
	uint32_t lane;		/* bytes; 0: no end takes messages */
	unsigned n;
	tux_time now;
	struct twin_dgram wire[2][TWIN_BATCH];	/* [i]: from side i */
	unsigned wire_n[2];
};

/* Opens @n connections in @t, and moves both directions of each to Tux.  Their rings
 * hold @cap bytes, and their lanes for messages @lane bytes; 0: they take no
 * messages.  -ENOMEM, or -ETIMEDOUT: they did not move. */
int twin_init(struct twin *t, unsigned n, uint32_t cap, uint32_t lane);
void twin_fini(struct twin *t);

/* Side @i builds datagrams, at most a batch; how many. */
unsigned twin_output(struct twin *t, unsigned i);

/* Side @i takes in what the other one built. */
void twin_input(struct twin *t, unsigned i);

/* Time goes on, and what is due happens. */
void twin_pass(struct twin *t, tux_time by);

#endif
