/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait - a call that waits for room on a connection
 *
 * The caller tries; if there is no room, it begins to wait, and tries again
 * after each look:
 *
 *	err = tux_api_wait_begin(&w, c, ns, kind);
 *	while (!err && (k = try(c)) == -EAGAIN)
 *		err = tux_api_wait(&w);
 *	tux_api_wait_end(&w);
 *
 * A waiter is entered in its connection before the caller tries again, so no
 * room that comes after the try is missed; see wake.h.
 *
 * Those that write to the stream have an order; those that send messages have
 * none.
 */
#ifndef TUX_API_WAIT_H
#define TUX_API_WAIT_H

#include "api/wake.h"

/* Enters @w in @c, for at most @ns.  0; -EDEADLK: what the caller waits for
 * could come only after it has returned.  tux_api_wait_end() is due in any
 * case. */
int tux_api_wait_begin(struct tux_wait *w, struct tux_connection *c, tux_time ns,
		       enum tux_wait_kind kind);

/* Sleeps until something has happened on the connection since the last call.
 * 0: try again; -ETIMEDOUT; -ESHUTDOWN: tux_run() has returned, and the caller
 * is another thread. */
int tux_api_wait(struct tux_wait *w);

/* Is @w the first of its kind?  The others wait behind it. */
bool tux_api_wait_leads(struct tux_wait *w);

void tux_api_wait_end(struct tux_wait *w);

/* Does a call wait to write to the stream of @c?  With its latch held. */
static inline bool tux_api_writes(const struct tux_connection *c)
{
	return atomic_load(&c->writes_n);
}

/* No thread runs @t from now on (@halted), or one does. */
void tux_api_wait_halt(struct tux *t, bool halted);

#endif
