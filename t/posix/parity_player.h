/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_player - a process of a world: does what it is ordered, and reports
 *
 * Orders and records are packets on a socket.  Calls are made by worker
 * threads, so that the player answers while a call blocks.
 */
#ifndef TUX_T_POSIX_PARITY_PLAYER_H
#define TUX_T_POSIX_PARITY_PLAYER_H

#include <stdint.h>

#include "parity_step.h"

enum parity_op {
	PARITY_BEGIN,		/* an episode: no sockets, no calls */
	PARITY_END,		/* ret -1: a call does not end */
	PARITY_CALL,		/* @step, by its worker */
	PARITY_AWAIT,		/* the end of the call of @step's worker */
	PARITY_KILL,		/* a signal to @step's worker */
	PARITY_OBSERVE,		/* @step's slot */
	PARITY_SWALLOW,		/* what the blocked call of @step has taken */
	PARITY_POKE,
	PARITY_GULP,
	PARITY_PORT,		/* ret: of the listener */
};

struct parity_order {
	uint8_t op;
	uint16_t port;		/* to connect to */
	uint32_t ms;		/* after so long, a call is said to block, and
				 * what is to be observed not to come */
	uint32_t bytes, events;	/* to observe */
	struct parity_step step;
};

/* Until the socket @fd ends. */
void parity_player_run(int fd);

#endif
