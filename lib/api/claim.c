/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a connection may move to Tux.
 *
 * A candidate has no end, so its bytes go straight to TCP, which its
 * directions' calls count (stream.c).  Its task asks policy/decide.h whether it
 * may move now.  The claim holds the latches of both directions: a thread that
 * waits for one of them goes on with that of the duplex (tux_api_take_rx(),
 * ..._tx()).
 */
#include "api/claim.h"

#include "api/host.h"
#include "api/say.h"
#include "policy/decide.h"
#include "stack/loops.h"
#include "stack/stack_in.h"
#include "sys/clock.h"
#include "sys/take.h"

static void stay_on_tcp(struct tux_connection *c, enum tux_reason why)
{
	c->is_candidate = false;
	atomic_store(&c->why, why);
	tux_api_say_reason(c->t, why);
}

static bool has_messages(const struct tux_service *s)
{
	return s->on_message.fn || s->on_settled.fn;
}

/* No thread is in a call that moves bytes of @c.  Returns why it stays on TCP,
 * if it does. */
static enum tux_reason make_end(struct tux_connection *c)
{
	const struct tux_service *s = c->s;
	struct tux_end_opts o = {
		.fd = c->fd, .lent = true, .tuple = c->tuple, .active = c->active, .user = c,
		.messages = has_messages(s), .asks = s->on_settled.fn,
		.mode = c->t->o.path == TUX_USE_TUX ? TUX_PATH_MODE_TUX :
						      TUX_PATH_MODE_AUTO,
		.candidate = &c->candidate, .loop = c->t->loop_n,
	};
	struct tux_end *e;
	int r = tux_end_claim(c->t->stack, &o, &e);

	if (r < 0)
		return (enum tux_reason)-r;
	c->is_candidate = false;
	c->dx = tux_end_duplex(e);
	c->messages = o.messages;
	atomic_store(&c->end, e);
	return TUX_REASON_NONE;
}

void tux_api_claim_begin(struct tux_connection *c)
{
	struct tux *t = c->t;
	enum tux_reason why = TUX_REASON_NONE;

	if (!t->stack)
		atomic_store(&c->why, t->shared->tcp_why);
	if (!t->stack || atomic_load(&c->why))
		return;
	if (!tux_api_covers(t, c->active ? &c->tuple.active :
				&c->tuple.passive))
		why = TUX_REASON_OTHER_INTERFACE;
	else if (t->o.path == TUX_USE_TUX || has_messages(c->s))
		why = make_end(c);
	else
		c->is_candidate = true;
	if (why)
		stay_on_tcp(c, why);
}

/* @fact is TUX_FACT_PEER or TUX_FACT_CPU. */
static void look_up_fact(const struct tux_connection *c, enum tux_fact fact,
			 tux_time now, struct tux_view *v)
{
	struct tux *t = c->t;

	v->known |= fact;
	if (fact == TUX_FACT_PEER)
		v->peer_silent = tux_history_waits(&t->history,
						   &c->tuple.passive, now);
	else
		v->cpu_busy = tux_loops_away(t->stack, t->loop_n, now);
}

/* The library alone moves the bytes of @c, and what forbids it to move was found
 * when it began. */
static struct tux_decision decide_claim(struct tux_connection *c)
{
	tux_time now = tux_clock_read();
	struct tux_view v = {
		.candidate = &c->candidate, .mode = TUX_PATH_MODE_AUTO,
		.active = c->active,
		.known = ~(unsigned)(TUX_FACT_PEER | TUX_FACT_CPU),
	};
	struct tux_decision d;

	tux_end_segment(&c->candidate, c->t->stack->o.io, c->fd);
	while ((d = tux_decide(&v, now)).verdict == TUX_DECIDE_FIND)
		look_up_fact(c, d.fact, now, &v);
	return d;
}

static bool claim_is_due(struct tux_connection *c)
{
	struct tux_decision d;

	if (!tux_candidate_asks(&c->candidate))
		return false;
	d = decide_claim(c);
	atomic_store(&c->why, d.why);
	if (d.verdict == TUX_DECIDE_WAIT)
		tux_candidate_wait(&c->candidate, d.turns);
	return d.verdict == TUX_DECIDE_OPEN;
}

/* The peer, or a thread here, may have shut @c down: what has begun to end does
 * not move. */
static enum tux_reason claim_now(struct tux_connection *c)
{
	struct tux_latch *rx = &c->plain[0], *tx = &c->plain[1];
	enum tux_reason why;

	tux_latch_take(rx);
	tux_latch_take(tx);
	why = c->shut || c->fin || c->ended ? TUX_REASON_CLOSED : make_end(c);
	tux_latch_drop(tx);
	tux_latch_drop(rx);
	return why;
}

void tux_api_claim_look(struct tux_connection *c)
{
	enum tux_reason why;

	if (!c->is_candidate || atomic_load(&c->err) || !claim_is_due(c))
		return;
	why = claim_now(c);
	if (why)
		stay_on_tcp(c, why);
}
