/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * writers - whose turn it is to write
 *
 * LMDB has one writer at a time, and makes the others wait in the kernel.  A callback
 * that waits there stops the network.  So callbacks give their jobs to a routine,
 * which runs what is there, up to a group, in one transaction.  Jobs of different
 * connections that came in one turn of the network thus share a transaction, and so
 * do those that come while a commit waits for the disk.  Threads, which may wait, take
 * turns with such routines.
 */
#ifndef TUXKV_WRITERS_H
#define TUXKV_WRITERS_H

#include "group.h"

struct tux;

struct writers {
	struct store *store;
	struct tux *tux;	/* runs the routines; NULL: no callbacks write */
	unsigned group;		/* jobs in one transaction, at most */
	pthread_mutex_t lock;	/* of what follows */
	pthread_cond_t done;	/* not busy any more */
	bool busy;		/* a transaction is open */
	bool by_routine;	/* the open transaction, or the last one if none is open,
				 * is a routine's */
	uint64_t tickets, served;	/* of threads, which get turns in order */
	bool starts;		/* a routine will begin */
	unsigned answering;	/* routines that have answers to send */
	struct job_queue given;
};

void writers_init(struct writers *w, struct store *s, struct tux *t,
		  unsigned group);

/* For callbacks: a routine runs and answers @j, which writes. */
void writers_give(struct writers *w, struct job *j);

/* For other threads: runs and answers @g, whose jobs write; it is empty then. */
void writers_run(struct writers *w, struct group *g);

/* Is anything under way? */
bool writers_busy(struct writers *w);

#endif
