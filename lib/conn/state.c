/* SPDX-License-Identifier: BSD-2-Clause */
#include "conn/state.h"

#include <assert.h>

#include "conn/conn_in.h"

#define LIFE(state) (1u << TUX_LIFE_##state)
#define PATH(state) (1u << TUX_PATH_##state)

const uint8_t tux_life_next[TUX_LIFE_N] = {
	[TUX_LIFE_OPENING] = LIFE(OWNING) | LIFE(GONE),
	[TUX_LIFE_OWNING] = LIFE(PROVED) | LIFE(REFUSED) | LIFE(GONE),
	[TUX_LIFE_REFUSED] = LIFE(GONE),
	[TUX_LIFE_PROVED] = LIFE(DEAD) | LIFE(GONE),
	[TUX_LIFE_DEAD] = LIFE(GONE),
	[TUX_LIFE_GONE] = 0,
};

const uint8_t tux_tx_next[TUX_PATH_N] = {
	[TUX_PATH_PLAIN] = PATH(TUX),
	[TUX_PATH_TUX] = PATH(FRAMES),
	[TUX_PATH_FRAMES] = PATH(TUX) | PATH(RAW) | PATH(PLAIN),
	[TUX_PATH_RAW] = 0,
};

/* From TUX to RAW or PLAIN: the receiver learns from the first DATA frame that the peer
 * has gone back to TCP.  A peer that has nothing to send again sends no DATA
 * frame, and RAW or PLAIN is its first. */
const uint8_t tux_rx_next[TUX_PATH_N] = {
	[TUX_PATH_PLAIN] = PATH(TUX),
	[TUX_PATH_TUX] = PATH(FRAMES) | PATH(RAW) | PATH(PLAIN),
	[TUX_PATH_FRAMES] = PATH(TUX) | PATH(RAW) | PATH(PLAIN),
	[TUX_PATH_RAW] = 0,
};

static void state_change(struct tux_conn *c, const uint8_t *next, unsigned from,
		   unsigned to, enum tux_trace_what what, uint32_t dirty)
{
#ifdef TUX_DEBUG
	assert(next[from] >> to & 1 && "the table has no such transition");
#else
	(void)next;
#endif
	tux_conn_trace(c, what, from, to, 0);
	tux_conn_mark(c, dirty);
}

void tux_conn_set_life(struct tux_conn *c, enum tux_life to)
{
	state_change(c, tux_life_next, c->life, to, TUX_TRACE_LIFE, TUX_DIRTY_LIFE);
	c->life = to;
}

void tux_conn_set_tx(struct tux_conn *c, enum tux_path to)
{
	state_change(c, tux_tx_next, c->tx.path, to, TUX_TRACE_TX_PATH,
	       TUX_DIRTY_PATH);
	c->tx.path = to;
}

void tux_conn_set_rx(struct tux_conn *c, enum tux_path to)
{
	state_change(c, tux_rx_next, c->rx.path, to, TUX_TRACE_RX_PATH,
	       TUX_DIRTY_PATH);
	c->rx.path = to;
}
