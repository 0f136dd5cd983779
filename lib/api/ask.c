/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ends a connection: a call, or an error.  Either is noted here, and the
 * connection's task looks; closing.c does the rest.
 */
#include "api/ask.h"

#include "api/connection.h"
#include "api/wake.h"
#include "sys/sys.h"

void tux_api_shut(struct tux_connection *c)
{
	struct tux_latch *latch = tux_api_take_tx(c);

	c->shut |= !c->end;
	if (!atomic_load(&c->closed) &&
	    (!c->end || !tux_duplex_shut(c->dx)))
		tux_sys_shutdown(c->fd, SHUT_WR);
	/* With the latch held: behind it, the connection may be gone. */
	if (c->end)
		tux_end_flush(c->end, false);
	tux_api_wake(c);
	tux_latch_drop(latch);
}

static void ask_for(struct tux_connection *c, uint32_t what)
{
	uint8_t stage;

	tux_sched_enter();
	stage = atomic_load(&c->stage);
	if (stage != TUX_STAGE_FREE && stage != TUX_STAGE_GONE) {
		atomic_fetch_or(&c->asked, what);
		/* The end leaves now, on TCP: the task of @c closes later, when
		 * what the program writes to others after this may be there.
		 * Messages have to settle before. */
		if (what == TUX_ASK_DISCONNECT && stage == TUX_STAGE_OPEN &&
		    !c->messages)
			tux_api_shut(c);
		tux_api_raise(c, TUX_EVENT_END);
	}
	tux_sched_leave();
}

void tux_disconnect(struct tux_connection *c)
{
	ask_for(c, TUX_ASK_DISCONNECT);
}

void tux_abort(struct tux_connection *c)
{
	ask_for(c, TUX_ASK_ABORT);
}

void tux_api_shutdown(struct tux_connection *c)
{
	ask_for(c, TUX_ASK_SHUTDOWN);
}

void tux_api_broke(struct tux_connection *c, int err)
{
	uint32_t none = 0;

	if (atomic_compare_exchange_strong(&c->err, &none, (uint32_t)err))
		tux_api_raise(c, TUX_EVENT_END);
}
