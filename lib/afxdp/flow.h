/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flow - where a connection's packets go: a table by its two addresses
 *
 * A flow outlives its connection for a moment, so that what is still under way to
 * its address comes to the queues.
 */
#ifndef TUX_AFXDP_FLOW_H
#define TUX_AFXDP_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/sip.h"
#include "base/time.h"
#include "wire/addr.h"

enum { TUX_FLOWS = 65536 };

struct tux_flow {
	struct tux_addr local, peer;
	uint64_t key;			/* in the map */
	uint32_t refs;			/* connections: 1, or 0 for a moment */
	int16_t hop;			/* of struct tux_neigh; -1: no route, */
	uint8_t why;			/* ... for this reason (enum tux_reason) */
	tux_time gone_at;		/* refs became 0 */
	bool used;
	uint32_t next_free;
};

struct tux_flows {
	struct tux_flow *at;		/* TUX_FLOWS */
	uint32_t top;			/* entries that ever were in use */
	uint32_t free;			/* index + 1 of a free one below top */
	uint32_t n, live_n;		/* in the table; of these with refs */
	struct tux_key secret;
	struct tux_map map;
};

/* -errno; @mem outlives the table. */
int tux_flows_init(struct tux_flows *t, const struct tux_mem *mem);
void tux_flows_fini(struct tux_flows *t);

/* The flow between @local and @peer; NULL. */
struct tux_flow *tux_flows_find(struct tux_flows *t,
				const struct tux_addr *local,
				const struct tux_addr *peer);

/* A new one, with one reference and no route; NULL: the table is full. */
struct tux_flow *tux_flows_add(struct tux_flows *t,
			       const struct tux_addr *local,
			       const struct tux_addr *peer);

/* References; the last one notes @now. */
void tux_flows_hold(struct tux_flows *t, struct tux_flow *f);
void tux_flows_release(struct tux_flows *t, struct tux_flow *f, tux_time now);

/* Forgets a flow without references. */
void tux_flows_del(struct tux_flows *t, struct tux_flow *f);

#endif
