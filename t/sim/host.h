/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host - a simulated host: a core, and what lib/loop does for it in a real one
 *
 * host.c: effects, how a host begins and ends; drive.c: its turns.
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
	unsigned place;		/* i, or that of another loop on the same host */
	unsigned number;	/* among those there that have one port, from 1; 0: its
				 * own */
	struct tux_list ends;	/* of connections */
	bool dead;
	tux_time stopped;	/* by SIGSTOP, until then */
	struct tux_core *core;
	void (*ready)(struct sim_end *e);	/* on TUX_EFFECT_READY; NULL: wakes
						 * the program */
	struct tux_addr addr;	/* with the UDP port of its loop; 0: any */
	tux_time timer_at;	/* the earliest timer event that is queued */
	tux_time wake;		/* how long from a doorbell to a turn */
	uint64_t sent_n;	/* datagrams */
	unsigned idle;		/* timers since anything else happened */
	unsigned turns;		/* taken at `turn_at` */
	tux_time turn_at;
};

void sim_kill(struct sim_host *h);	/* kill -9 */
void sim_restart(struct sim_host *h);	/* a new process in its place */
void sim_stall(struct sim_end *e);	/* tux_conn_stall() */
void sim_unstall(struct sim_end *e);	/* tux_conn_unstall() */
void sim_bar(struct sim_end *e, bool barred);	/* tux_conn_bar(), and these */
void sim_stop(struct sim_host *h, tux_time in);	/* SIGSTOP, for @in */

/* ---- for the simulation itself ---- */

void sim_host_init(struct sim_host *h);
void sim_host_fini(struct sim_host *h);
/* Makes the duplex of @e, and opens its connection in the core. */
void sim_host_claim(struct sim_end *e);
/* Opens it only.  0, or the error of tux_core_open(): @e stays on TCP. */
int sim_host_open(struct sim_end *e);
/* The application has set bits in dx->rung: the loop takes a turn. */
void sim_host_bell(struct sim_end *e);
/* TCP has bytes, room or an end for @e. */
void sim_host_tcp(struct sim_end *e);
void sim_host_turn(struct sim_host *h);
void sim_host_input(struct sim_host *h, const struct tux_addr *from,
		    const uint8_t *p, size_t len, uint8_t ecn);

/* Carries out the effects of the core. */
void sim_host_effects(struct sim_host *h);

/* Closes @e's connection in the core, and keeps what checks need of it. */
void sim_host_forget(struct sim_end *e);

#endif
