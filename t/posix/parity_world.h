/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_world - two players, over kernel TCP or under Tux
 */
#ifndef TUX_T_POSIX_PARITY_WORLD_H
#define TUX_T_POSIX_PARITY_WORLD_H

#include <stdbool.h>
#include <sys/types.h>

#include "parity_player.h"

struct parity_world {
	const char *name;
	char **words;		/* that its programs are started with, or NULL */
	bool up;
	int fd[PARITY_PROCS];
	pid_t pid[PARITY_PROCS];
	uint64_t tcp_bytes[PARITY_PROCS][PARITY_SLOTS];
};

/* Starts the players, if they do not run. */
void parity_world_start(struct parity_world *w);

/* Ends them by force. */
void parity_world_stop(struct parity_world *w);

/* Sends an order to player @proc; takes its record.  False: it is dead, or does
 * not answer. */
bool parity_world_tell(struct parity_world *w, unsigned proc,
		       const struct parity_order *o);
bool parity_world_hear(struct parity_world *w, unsigned proc,
		       struct parity_record *r);

#endif
