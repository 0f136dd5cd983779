/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch - in which state an end is
 */
#include "conn/conn.h"
#include "conn/conn_in.h"
#include "machine.h"
#include "seen.h"
#include "sim.h"

/* How the opening exchange stands; behind the proof, SIM_M_LIFE tells more. */
static unsigned open_state(const struct tux_conn *c)
{
	if (c->life != TUX_LIFE_OPENING)
		return SIM_OPEN_PROVED;
	if (c->open.why == TUX_REASON_PEER_SILENT)
		return SIM_OPEN_SILENT;
	return c->peer_nonce ? SIM_OPEN_HEARD : SIM_OPEN_ASKING;
}

static unsigned tx_state(const struct tux_duplex_tx *t)
{
	if (atomic_load(&t->hold))
		return SIM_TX_HOLD;
	switch (atomic_load(&t->state)) {
	case TUX_TX_PLAIN:
		if (t->doubt)
			return t->disarming ? SIM_TX_DISARMING : SIM_TX_DOUBT;
		return t->pinned ? SIM_TX_PINNED : SIM_TX_PLAIN;
	case TUX_TX_ANNOUNCED:
		return SIM_TX_ANNOUNCED;
	case TUX_TX_ACKED:
		return SIM_TX_ACKED;
	case TUX_TX_SWITCHED:
		return atomic_load(&t->marker_left) ? SIM_TX_MARKER :
						      SIM_TX_RING;
	default:
		return SIM_TX_RAW;
	}
}

static unsigned rx_state(const struct tux_duplex_rx *r)
{
	switch (atomic_load(&r->state)) {
	case TUX_RX_PLAIN:
		if (atomic_load(&r->spill_len))
			return SIM_RX_SPILL;
		return r->pinned ? SIM_RX_PINNED : SIM_RX_PLAIN;
	case TUX_RX_ARMED:
		return r->held ? SIM_RX_HELD : SIM_RX_ARMED;
	case TUX_RX_SWITCHED:
		return r->marker_left ? SIM_RX_MARKER : SIM_RX_RING;
	default:
		return SIM_RX_RAW;
	}
}

static unsigned out_state(const struct tux_conn *c)
{
	if (c->tx.path == TUX_PATH_PLAIN && c->tx.away_at != TUX_NEVER)
		return SIM_OUT_AWAY;
	return c->tx.path == TUX_PATH_FRAMES && c->out.sw ? SIM_OUT_SWITCH :
							    SIM_OUT_NONE;
}

static unsigned end_state(const struct tux_conn *c)
{
	if (c->life == TUX_LIFE_GONE)
		return SIM_END_GONE;
	if (c->closed)
		return c->tx.done ? SIM_END_LINGER : SIM_END_CLOSED;
	if (c->tx.done)
		return SIM_END_DONE;
	return atomic_load(&c->dx->tx.shut) ? SIM_END_SHUT : SIM_END_OPEN;
}

static unsigned way_state(const struct tux_conn *c)
{
	const struct tux_pair *p = c->pair;

	if (!p)
		return SIM_WAY_NONE;
	if (p->down)
		return SIM_WAY_DOWN;
	if (c->rtt.backoff)
		return SIM_WAY_TIMEOUT;
	if (c->tx.tail || c->loss.probe_at)
		return SIM_WAY_TAIL;
	return p->conn_n > 1 ? SIM_WAY_SHARED : SIM_WAY_ALONE;
}

static unsigned length_state(const struct tux_conn *c)
{
	const struct tux_pmtu *m = c->pair ? &c->pair->pmtu : NULL;

	if (!m || m->len == UINT32_MAX)
		return m && m->gone != UINT32_MAX ? SIM_LENGTH_DOUBT :
						    SIM_LENGTH_WHOLE;
	if (m->len < TUX_PMTU_BASE)
		return SIM_LENGTH_FLOOR;
	return m->probe ? SIM_LENGTH_PROBE : SIM_LENGTH_SHORT;
}

/* ---- messages ---- */

static unsigned msg_out_state(struct tux_messages *g,
			      const struct tux_msg_out *m)
{
	if (!m->live)
		return SIM_MSG_OUT_NONE;
	if (m->cancelled)
		return SIM_MSG_OUT_BACK;
	if (tux_message_again(g, m))
		return SIM_MSG_OUT_LOST;
	if (m->fresh)
		return SIM_MSG_OUT_FRESH;
	return m->next < m->total ? SIM_MSG_OUT_PART : SIM_MSG_OUT_SENT;
}

static unsigned msg_in_state(const struct tux_messages *g,
			     const struct tux_msg_in *m)
{
	switch (m->state) {
	case TUX_MSG_PART:
		return SIM_MSG_IN_PART;
	case TUX_MSG_WHOLE:
		if (m->flags & TUX_MESSAGE_ORDER &&
		    (int32_t)(m->order - (uint32_t)g->order) >= 0)
			return SIM_MSG_IN_WAITS;
		return SIM_MSG_IN_WHOLE;
	case TUX_MSG_GONE:
		return SIM_MSG_IN_GONE;
	default:
		return SIM_MSG_IN_NONE;
	}
}

static void moved(struct sim_end *e, unsigned machine, unsigned from,
		  unsigned to)
{
	const struct sim_state_table *m = &sim_machines[machine];
	struct sim_seen *seen = e->conn->s->seen;

	seen->state[machine][to]++;
	seen->move[machine][from][to]++;
	if (!((sim_must(m, from) | m->may[from]) >> to & 1))
		sim_fail(e->conn->s, "%c%u: %s goes from %s to %s",
			 e->host->name, e->conn->i, m->name, m->state[from],
			 m->state[to]);
}

/* No move of the core's machines is untold. */
static void is_at(struct sim_end *e, unsigned machine, unsigned state)
{
	const struct sim_state_table *m = &sim_machines[machine];
	unsigned told = e->states.at[machine];

	if (told != state)
		sim_fail(e->conn->s, "%c%u: %s is %s, and %s was told",
			 e->host->name, e->conn->i, m->name, m->state[state],
			 m->state[told]);
}

static inline void move_to(struct sim_end *e, unsigned machine, uint8_t *at,
			   unsigned to)
{
	unsigned from = *at;

	if (from == to)
		return;
	*at = (uint8_t)to;
	moved(e, machine, from, to);
}

void sim_step(struct sim_end *e, unsigned machine, const struct tux_trace *t)
{
	unsigned from = (unsigned)t->n[0], to = (unsigned)t->n[1];

	is_at(e, machine, from);
	e->states.at[machine] = (uint8_t)to;
	moved(e, machine, from, to);
}

/* Slots that were left are empty, those in between have a state. */
static void look_lane(struct sim_end *e, bool in, unsigned lane)
{
	struct tux_messages *g = e->c->msg;
	struct sim_states *was = &e->states;
	uint64_t first = in ? g->rx[lane].first : g->tx[lane].first;
	uint64_t end = in ? g->rx[lane].top : g->tx[lane].next;
	uint64_t i = was->first[in][lane];

	if (i + tux_lane_n(lane) < first || i > first)
		i = first;
	for (; i < end; i++) {
		unsigned slot = tux_lane_slot(lane, i), to;

		if (i < first)
			to = 0;
		else if (in)
			to = msg_in_state(g, tux_message_in(g, lane, i));
		else
			to = msg_out_state(g, tux_message_out(g, lane, i));
		move_to(e, in ? SIM_M_MSG_IN : SIM_M_MSG_OUT,
			&was->msg[in][slot], to);
	}
	was->first[in][lane] = first;
}

void sim_look(struct sim_end *e, bool messages)
{
	uint8_t *at = e->states.at;
	const struct tux_conn *c = e->c;
	unsigned lane;

	if (!e->conn->s->seen)
		return;
	if (e->dx) {
		move_to(e, SIM_M_TX, &at[SIM_M_TX], tx_state(&e->dx->tx));
		move_to(e, SIM_M_RX, &at[SIM_M_RX], rx_state(&e->dx->rx));
	}
	if (!c)
		return;
	e->conn->s->seen->event[SIM_G_REASON][c->reason]++;
	is_at(e, SIM_M_LIFE, c->life);
	is_at(e, SIM_M_TX_PATH, c->tx.path);
	is_at(e, SIM_M_RX_PATH, c->rx.path);
	if (c->life < TUX_LIFE_DEAD)
		move_to(e, SIM_M_OPEN, &at[SIM_M_OPEN], open_state(c));
	move_to(e, SIM_M_OUT, &at[SIM_M_OUT], out_state(c));
	move_to(e, SIM_M_END, &at[SIM_M_END], end_state(c));
	move_to(e, SIM_M_WAY, &at[SIM_M_WAY], way_state(c));
	move_to(e, SIM_M_LENGTH, &at[SIM_M_LENGTH], length_state(c));
	move_to(e, SIM_M_ECN, &at[SIM_M_ECN],
		c->pair ? c->pair->ecn.verdict : 0);
	for (lane = 0; messages && c->msg && lane < TUX_LANES; lane++) {
		look_lane(e, false, lane);
		look_lane(e, true, lane);
	}
}
