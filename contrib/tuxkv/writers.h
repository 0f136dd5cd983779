/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * writers - whose turn it is to write
 *
 * LMDB has one writer at a time, and makes the others wait in the kernel.  A
 * callback that waits there stops the network.  So a callback that finds somebody
 * writing leaves its jobs here and returns; they run in one transaction when that
 * writer is done.  While commits wait for the disk, one commit thus serves all
 * that came meanwhile.  Other threads wait.
 */
#ifndef TUXKV_WRITERS_H
#define TUXKV_WRITERS_H

#include "group.h"

struct tux;

struct writers {
	struct store *store;
	struct tux *tux;	/* whose routines run what was left; NULL: there
				 * are no callbacks */
	pthread_mutex_t lock;	/* of what follows */
	pthread_cond_t done;	/* not busy any more */
	bool busy;		/* somebody writes */
	bool drains;		/* a routine takes, or will take, what was left */
	struct job_queue left;
};

void writers_init(struct writers *w, struct store *s, struct tux *t);

/* Runs and answers @g, whose jobs write; @g is empty then.  In a callback, the jobs
 * may be left to another routine. */
void writers_run(struct writers *w, struct group *g);

/* Does somebody write, or is something left? */
bool writers_busy(struct writers *w);

#endif
