/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wake - wakes the calls that wait for room on a connection
 *
 * Every event of the connection that may bring room or an error does so: the
 * calls do not depend on the task of the connection, which may be the one that
 * waits.
 */
#ifndef TUX_API_WAKE_H
#define TUX_API_WAKE_H

#include "api/api_in.h"

enum tux_wait_kind { TUX_WAIT_MESSAGE, TUX_WAIT_STREAM };

struct tux_wait {			/* on the stack of the caller */
	struct tux_list node;		/* in its connection's `waits` */
	struct tux_connection *c;	/* with a reference */
	struct tux *t;			/* its loop */
	struct tux_routine *r;		/* that waits; NULL: a thread, which
					 * sleeps on `woken` */
	tux_time until;
	_Atomic uint32_t woken;
	enum tux_wait_kind kind;
	bool late;			/* woken once more, when time was up */
	bool pins;			/* the loop must not come to thread 0 */
};

/* Wakes those that wait on @c and may go on.  Any thread. */
void tux_api_wake_some(struct tux_connection *c);

static inline void tux_api_wake(struct tux_connection *c)
{
	if (atomic_load(&c->waits_n))
		tux_api_wake_some(c);
}

/* Wakes all of them: the stack stops. */
void tux_api_wake_all(struct tux_connection *c);

#endif
