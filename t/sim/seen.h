/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * seen - which states, moves and events came about, and how often
 *
 * Three machines are the core's own (lib/conn/state.c): the core tells each of
 * their moves, so they are counted exactly.  For the other machines an end is
 * looked at after whatever may have changed it.  Each machine is in one state
 * then; from one look to the next it makes a move.  Some states are left within
 * one call, so such a move may be two steps of the code.  A move that a machine
 * does not have is a failure.
 *
 * seen.c: the numbers; machine.c: states and moves; watch.c: in which state an
 * end is.
 */
#ifndef SIM_SEEN_H
#define SIM_SEEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "conn/trace.h"

struct sim;
struct sim_end;

enum sim_machine {
	SIM_M_LIFE,		/* the core's: of a connection, */
	SIM_M_TX_PATH,		/* ... of a direction that is sent, */
	SIM_M_RX_PATH,		/* ... received */
	SIM_M_OPEN,		/* the opening exchange */
	SIM_M_TX,		/* the switch, of a direction that is sent */
	SIM_M_RX,		/* ... received */
	SIM_M_OUT,		/* what troubles the path that it takes */
	SIM_M_END,		/* how the connection ends */
	SIM_M_WAY,		/* what is known of the way there */
	SIM_M_LENGTH,		/* ... how long datagrams may be */
	SIM_M_ECN,		/* ... what it does to ECN */
	SIM_M_MSG_OUT,		/* a message */
	SIM_M_MSG_IN,
	SIM_MACHINES,
};

enum { SIM_STATES = 12, SIM_EVENTS = 64, SIM_SLOTS = 288 };

struct sim_states {		/* the last ones of an end */
	uint8_t at[SIM_MACHINES];
	uint8_t msg[2][SIM_SLOTS];	/* out, in */
	uint64_t first[2][2];	/* oldest known id, by lane */
};

struct sim_state_table {	/* a machine */
	const char *name;
	unsigned n;
	const char *state[SIM_STATES];
	const uint8_t *core;	/* the core's table: it must have gone there */
	/* As bits, where it may go: in a long run it must have gone there, or
	 * need not. */
	uint16_t must[SIM_STATES], may[SIM_STATES];
};

extern const struct sim_state_table sim_machines[SIM_MACHINES];

/* As bits, where it must have gone from state @from in a long run. */
static inline unsigned sim_must(const struct sim_state_table *m, unsigned from)
{
	return m->core ? m->core[from] : m->must[from];
}

/* Kinds of events. */
enum sim_group {
	SIM_G_FAULT,		/* what was done */
	SIM_G_FATE,		/* what became of datagrams */
	SIM_G_WORK,		/* what programs did */
	SIM_G_WORD,		/* what they were told */
	SIM_G_REASON,
	SIM_G_TRACE,		/* what the core told */
	SIM_G_FRAME,		/* frames that came, by type */
	SIM_G_RECORD,		/* records that left */
	SIM_G_CORE,		/* what fitted no connection */
	SIM_GROUPS,
};

struct sim_seen {
	uint64_t state[SIM_MACHINES][SIM_STATES];
	uint64_t move[SIM_MACHINES][SIM_STATES][SIM_STATES];
	uint64_t event[SIM_GROUPS][SIM_EVENTS];
};

/* ---- counting; nothing if @s counts nothing ---- */

void sim_seen_fault(struct sim *s, uint64_t what);
void sim_seen_trace(struct sim_end *e, const struct tux_trace *t);

/* @t tells of a move of one of the core's machines. */
void sim_step(struct sim_end *e, unsigned machine, const struct tux_trace *t);

/* @e is looked at.  With @messages, so are its messages. */
void sim_look(struct sim_end *e, bool messages);

/* At the end of @s: what it has counted itself. */
void sim_seen_all(struct sim *s);

/* ---- telling ---- */

void sim_seen_print(const struct sim_seen *seen, FILE *f);

/* Prints what never came about.  How many. */
unsigned sim_seen_missing(const struct sim_seen *seen, FILE *f);

#endif
