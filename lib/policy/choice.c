/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * choice - which path a direction should take
 */
#include "policy/choice.h"

enum {
	HOLD_MIN_MS = 100,
	HOLD_MAX_S = 60,
	/* A direction that was on Tux for so many holds begins with the
	 * shortest hold again. */
	HOLD_DECAY = 8,
};

static const struct tux_backoff_rule hold = {
	.min = TUX_MSEC(HOLD_MIN_MS),
	.max = TUX_SEC(HOLD_MAX_S),
	.calm = TUX_NEVER,
};

void tux_choice_packet(struct tux_choice *p, uint32_t packet)
{
	p->limit = tux_choice_limit(packet);
}

void tux_choice_init(struct tux_choice *p, enum tux_path_mode mode,
		     uint32_t packet)
{
	*p = (struct tux_choice){ .mode = mode };
	tux_choice_packet(p, packet);
}

bool tux_choice_opens(bool active, const struct tux_burst *tx,
		      const struct tux_burst *rx, uint32_t packet)
{
	uint32_t turns = tux_choice_turns(active);
	uint32_t limit = tux_choice_limit(packet);

	return tux_burst_turns(tx) >= turns && tux_burst_turns(rx) >= turns &&
	       tux_burst_len(tx) <= limit && tux_burst_len(rx) <= limit;
}

static bool talks_shortly(const struct tux_choice *p,
			  const struct tux_evidence *e)
{
	uint32_t need = p->returned ? TUX_CHOICE_TURNS_AGAIN :
				      TUX_CHOICE_TURNS_PASSIVE;

	return e->burst <= p->limit && e->turns - p->turns >= need;
}

static enum tux_move on_tcp(const struct tux_choice *p,
			    const struct tux_evidence *e, tux_time now)
{
	/* TCP has been tried, and is slower by a tenth. */
	if (p->tux_rate && e->rate && e->rate < p->tux_rate - p->tux_rate / 10)
		return TUX_MOVE;
	if (now < p->until || !talks_shortly(p, e))
		return TUX_STAY;
	return TUX_MOVE;
}

static enum tux_move on_tux(const struct tux_choice *p,
			    const struct tux_evidence *e, tux_time now)
{
	/* TCP was slower: it is tried again when the hold has passed. */
	if (p->tux_rate && now < p->until)
		return TUX_STAY;
	if (e->burst <= tux_choice_burst_max(p))
		return TUX_STAY;
	/* Only the present burst is long: bytes have to wait for so long that
	 * the rate can be compared with that of TCP. */
	if (e->mean <= tux_choice_burst_max(p) && !e->rate)
		return TUX_STAY;
	return TUX_RETURN;
}

enum tux_move tux_choice_look(const struct tux_choice *p, bool is_on_tux,
			      const struct tux_evidence *e, tux_time now)
{
	if (p->mode == TUX_PATH_MODE_TUX)
		return is_on_tux ? TUX_STAY : TUX_MOVE;
	return is_on_tux ? on_tux(p, e, now) : on_tcp(p, e, now);
}

/* The direction stays where it is now for the hold, which doubles. */
static void begin_hold(struct tux_choice *p, tux_time now)
{
	p->until = tux_time_add(now, tux_backoff_again(&p->hold, &hold, now));
}

void tux_choice_moved(struct tux_choice *p, const struct tux_evidence *e,
		      tux_time now)
{
	p->moved_at = now;
	if (e->burst > p->limit)
		begin_hold(p, now);	/* it moved because TCP was slower */
	else
		p->tux_rate = 0;
}

void tux_choice_returned(struct tux_choice *p, const struct tux_evidence *e,
			 tux_time now)
{
	tux_time next = tux_backoff_next(&p->hold, &hold, now);

	if (tux_time_since(p->moved_at, now) > HOLD_DECAY * next)
		tux_backoff_reset(&p->hold);
	begin_hold(p, now);
	p->turns = e->turns;
	p->returned = true;
	p->tux_rate = e->rate;
}
