/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tell - callbacks of a connection
 *
 * Preemption is off (tux_sched_enter()), except in the callback itself.
 */
#ifndef TUX_API_TELL_H
#define TUX_API_TELL_H

#include "api/api_in.h"
#include "run/sched.h"

/* Calls callback @on of the service, which must be set. */
#define TUX_TELL(c, on, ...)						\
	do {								\
		struct tux_service *s_ = (c)->s;			\
									\
		(c)->t->callbacks++;					\
		tux_sched_leave();					\
		s_->on.fn((c), ##__VA_ARGS__, s_->on.arg);		\
		tux_sched_enter();					\
	} while (0)

/* The connection is the program's from now on, with or without a callback. */
void tux_api_tell_open(struct tux_connection *c);

/* Gives one group of messages to the callback. The rest waits for the next run,
 * so that other connections have their turn. */
void tux_api_tell_messages(struct tux_connection *c);

/* Calls on_settled for what has settled; without a callback, counts what
 * failed. */
void tux_api_settle(struct tux_connection *c);

/* Only counts, for a service without the callback.  True: there is more room than
 * before.  Any thread. */
bool tux_api_reap(struct tux_connection *c);

/* The connection ends with @why: what has not settled fails. */
void tux_api_give_up(struct tux_connection *c, int why);

/* Does nothing for a connection that the program does not know of. */
void tux_api_tell_gone(struct tux_connection *c, int err);

#endif
