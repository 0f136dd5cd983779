/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host - a core and what drives it, as lib/loop/loop.c does
 *
 * host.c: effects, birth and death; drive.c: turns.
 */
#ifndef SIM_HOST_H
#define SIM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/time.h"
#include "conn/core.h"

struct sim;
struct sim_end;

struct sim_host {
	struct sim *s;
	unsigned i;
	char name;		/* a, b, ... */
	unsigned place;		/* i; or that of another loop of the host */
	struct tux_list ends;	/* of connections */
	bool dead;
	tux_time stopped;	/* SIGSTOP, until then */
	struct tux_core *core;
	void (*ready)(struct sim_end *e);	/* NULL: it wakes the program */
	struct tux_addr addr;	/* with the port of its loop; 0: any */
	tux_time timer_at;	/* the earliest timer event that is queued */
	tux_time wake;		/* from a doorbell to the loop */
	uint64_t sent_n;	/* datagrams */
	unsigned idle;		/* timers since anything else happened */
	unsigned turns;		/* taken at this very instant */
	tux_time turn_at;
};

void sim_kill(struct sim_host *h);	/* kill -9 */
void sim_restart(struct sim_host *h);	/* a new process in its place */
void sim_stall(struct sim_end *e);	/* its UDP path is known to be gone, */
void sim_unstall(struct sim_end *e);	/* ... or to be there again */
void sim_stop(struct sim_host *h, tux_time in);	/* SIGSTOP, for so long */

/* ---- for the simulation itself ---- */

void sim_host_init(struct sim_host *h);
void sim_host_fini(struct sim_host *h);
void sim_host_claim(struct sim_end *e);		/* makes its rings, and opens */
int sim_host_open(struct sim_end *e);		/* 0, or it stays on TCP */
void sim_host_bell(struct sim_end *e);		/* rings for dx->rung */
void sim_host_tcp(struct sim_end *e);		/* TCP has news */
void sim_host_turn(struct sim_host *h);
void sim_host_input(struct sim_host *h, const struct tux_addr *from,
		    const uint8_t *p, size_t len, uint8_t ecn);

/* Carries out what the core has asked for. */
void sim_host_effects(struct sim_host *h);

/* Closes the core's connection of @e; keeps its last words. */
void sim_host_forget(struct sim_end *e);

#endif
