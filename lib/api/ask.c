/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What ends a connection: a call, or an error.  Either is noted here, and the
 * connection's task looks; closing.c does the rest.
 */
#include "api/ask.h"

#include "api/connection.h"

static void ask_for(struct tux_connection *c, uint32_t what)
{
	uint8_t stage;

	tux_sched_enter();
	stage = atomic_load(&c->stage);
	if (stage != TUX_STAGE_FREE && stage != TUX_STAGE_GONE) {
		atomic_fetch_or(&c->asked, what);
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
