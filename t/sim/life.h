/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * life - a world while it is lived through; for the files that do so
 */
#ifndef SIM_LIFE_H
#define SIM_LIFE_H

#include "sim.h"
#include "world.h"

enum { SIM_KEPT = 64 };		/* datagrams that an attacker remembers */

struct sim_kept {
	struct sim_host *to;
	struct tux_addr from;
	uint8_t *p;
	size_t len;
};

struct sim_life {
	struct sim *s;
	const struct sim_world *w;
	struct sim_conn *conn[SIM_CONNS];	/* by number; NULL: not yet */
	struct sim_kept kept[SIM_KEPT];
	unsigned kept_n;
	bool keeps;
	/* how many of 1000 packets, and HELLOs, malicious ends change */
	uint32_t foul_packets, foul_hellos;
	bool other_version[SIM_HOSTS];	/* what comes to it, is */
};

/* The end that item @it names by its numbers @conn and @side; NULL: it is not
 * there yet. */
static inline struct sim_end *sim_life_end(const struct sim_life *life,
					   const struct sim_item *it,
					   unsigned conn, unsigned side)
{
	struct sim_conn *k = life->conn[it->v[conn]];

	return k ? &k->end[it->v[side] & 1] : NULL;
}

#endif
