/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * told - what a connection told in traces, against what it counted
 */
#include "sim.h"

#include "wire/frame.h"

void sim_told(struct sim_end *e, const struct tux_trace *t)
{
	struct sim_told *x = &e->told;

	x->n[t->what]++;
	switch (t->what) {
	case TUX_TRACE_SEND:
		x->stream_tx += t->n[2];
		break;
	case TUX_TRACE_RECV:
		x->stream_rx += t->n[2];
		break;
	case TUX_TRACE_MSG_DELIVER:
		x->msg_rx += t->n[2];
		break;
	case TUX_TRACE_FRAME_OUT:
		if (t->n[0] == TUX_FRAME_DATA)
			x->frame_tx += t->n[2];
		break;
	case TUX_TRACE_FRAME_IN:
		x->frame_last = t->n[0] == TUX_FRAME_DATA ? t->n[2] : 0;
		x->frame_rx += x->frame_last;
		break;
	default:
		break;
	}
}

static void check_events(struct sim *s, const struct tux_conn_stats *c,
			 const struct sim_told *x)
{
	SIM_CHECK(s, c->lost == x->n[TUX_TRACE_LOST]);
	SIM_CHECK(s, c->resent <= c->lost + c->tails);
	SIM_CHECK(s, c->timeouts == x->n[TUX_TRACE_TIMEOUT]);
	SIM_CHECK(s, c->tails == x->n[TUX_TRACE_TAIL]);
	SIM_CHECK(s, c->spurious == x->n[TUX_TRACE_SPURIOUS]);
	SIM_CHECK(s, c->undone == x->n[TUX_TRACE_UNDO]);
	SIM_CHECK(s, c->backs == x->n[TUX_TRACE_BACK]);
	SIM_CHECK(s, c->duplicates == x->n[TUX_TRACE_DUPLICATE]);
	/* A HELLO that is passed over is dropped, too. */
	SIM_CHECK(s, c->dropped >= x->n[TUX_TRACE_DROPPED] &&
		  c->dropped <= x->n[TUX_TRACE_DROPPED] +
				x->n[TUX_TRACE_RECV_HELLO]);
	SIM_CHECK(s, c->msgs_tx == x->n[TUX_TRACE_MSG_SENT]);
	SIM_CHECK(s, c->msgs_rx == x->n[TUX_TRACE_MSG_DELIVER]);
}

static void check_bytes(struct sim *s, const struct tux_conn_stats *c,
			const struct sim_told *x)
{
	SIM_CHECK(s, c->tux_tx == x->stream_tx);
	SIM_CHECK(s, c->tux_rx <= x->stream_rx);
	SIM_CHECK(s, c->frame_tx == x->frame_tx);
	/* The last one may not be here as a whole. */
	SIM_CHECK(s, c->frame_rx <= x->frame_rx &&
		  c->frame_rx + x->frame_last >= x->frame_rx);
	SIM_CHECK(s, c->msg_rx == x->msg_rx);
}

void sim_told_all(struct sim_end *e)
{
	struct sim *s = e->conn->s;

	if (!s->mute) {
		check_events(s, &e->stats, &e->told);
		check_bytes(s, &e->stats, &e->told);
	}
	e->told = (struct sim_told){ .frame_last = 0 };
}
