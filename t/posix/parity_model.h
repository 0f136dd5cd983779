/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parity_model - what is known of the sockets of an episode
 *
 * It says how long to wait for a step: whether its call will block, and what
 * must have reached the peer before the next step.  Where it is wrong, time is
 * lost, but no difference is hidden: outcomes are compared between worlds, not
 * with the model.
 */
#ifndef TUX_T_POSIX_PARITY_MODEL_H
#define TUX_T_POSIX_PARITY_MODEL_H

#include <stdbool.h>

#include "parity_step.h"

enum { PARITY_ENDS = 64 };

enum parity_slot_kind {
	PARITY_SLOT_EMPTY,
	PARITY_SLOT_RAW,	/* a socket that did not get a connection */
	PARITY_SLOT_LISTENER,
	PARITY_SLOT_EPOLL,
	PARITY_SLOT_END,
};

struct parity_slot {
	enum parity_slot_kind kind;
	unsigned end;
	bool watched;		/* an epoll instance has it */
	bool used;		/* RAW: it had a connection, with these modes: */
	bool nonblock, timed;
};

struct parity_end {
	unsigned peer, proc;
	unsigned refs;		/* descriptors */
	unsigned pending;	/* bytes that wait to be read */
	bool queued;		/* not accepted yet */
	bool nonblock, timed;	/* O_NONBLOCK, SO_RCVTIMEO */
	bool abort;		/* SO_LINGER of zero */
	bool fin, reset;	/* from the peer */
	bool shut_in, shut_out;
	bool pinned;		/* cannot move to Tux any more */
	bool peeks;		/* SO_PEEK_OFF, */
	unsigned peeked;	/* ... and where the next peek begins */
	bool on_tux;		/* what arrived last came over Tux */
};

struct parity_blocked {
	bool busy;
	bool signaled;
	unsigned end;
	struct parity_step step;
};

struct parity_model {
	struct parity_slot slot[PARITY_PROCS][PARITY_SLOTS];
	struct parity_blocked blocked[PARITY_PROCS][PARITY_WORKERS];
	unsigned n;
	struct parity_end end[PARITY_ENDS];
	unsigned queue[PARITY_PROCS];	/* its first end that is not accepted,
					 * plus one */
};

void parity_model_init(struct parity_model *m);

/* Has the step a defined outcome? */
bool parity_model_permits(const struct parity_model *m,
			  const struct parity_step *s);

/* Will the call block? */
bool parity_model_blocks(const struct parity_model *m,
			 const struct parity_step *s);

/* It does. */
void parity_model_block(struct parity_model *m, const struct parity_step *s);

/* Must the call that blocks return now? */
bool parity_model_releases(const struct parity_model *m, unsigned proc,
			   unsigned worker);

/* The call has returned. */
void parity_model_apply(struct parity_model *m, const struct parity_step *s,
			const struct parity_record *r);

/* The end that @proc has in @slot, or NULL. */
struct parity_end *parity_model_end(struct parity_model *m, unsigned proc,
				    unsigned slot);

/* A slot of @e, or -1. */
int parity_model_slot(const struct parity_model *m, const struct parity_end *e);

/* The call that takes bytes of @e while it blocks, or NULL. */
const struct parity_blocked *
parity_model_swallows(const struct parity_model *m, const struct parity_end *e);

/* Can @e and its peer exchange bytes, and does nothing wait in them? */
bool parity_model_calm(const struct parity_model *m,
		       const struct parity_end *e);

bool parity_model_reads(const struct parity_step *s);
bool parity_model_writes(const struct parity_step *s);

#endif
