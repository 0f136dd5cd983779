/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reset - one end closes with SO_LINGER {1, 0}: the other is told at once
 */
#include "closing.h"

static void abort_at(struct sim *s, enum where w, unsigned side)
{
	struct sim_end *end[2], *x, *y;
	tux_time at;

	bring(s, w, &end[0], &end[1]);
	x = end[side];
	y = end[1 - side];
	sim_write(x, 30000);
	sim_write(y, 30000);
	sim_run(s, s->now + TUX_USEC(300));
	sim_abort(x);
	at = s->now;
	sim_run_out(s, s->now + TUX_SEC(2));
	SIM_CHECK(s, y->closed && (y->rerr || y->werr) && !y->eof);
	SIM_CHECK(s, s->now - at < TUX_MSEC(100));
}

/* Only b's direction to a is still plain, and a does not read.  The loop at a
 * is the first to hear of the reset, by writing frames; a must hear of it. */
static void half_switched(struct sim *s)
{
	struct sim_end *a, *b;

	sim_pair(s, &a, &b);
	sim_run(s, 0);
	b->dx->tx.pinned = 1;
	sim_ms(s, 50);
	SIM_CHECK(s, a->was_tx && !a->was_rx);
	sim_part(s, 0, 1, true);
	sim_pause(a, true);
	sim_write(b, 500000);
	sim_write(a, 500000);
	sim_ms(s, 1000);
	sim_abort(b);
	sim_ms(s, 100);
	sim_pause(a, false);
	sim_run_out(s, s->now + TUX_SEC(2));
	SIM_CHECK(s, (a->rerr || a->werr) && !a->eof);
}

/* a answers in frames and closes; b writes once more, and is told of the reset
 * over Tux while the answer is still under way in TCP.  A reset of TCP's own
 * would come behind it. */
static void behind_frames(struct sim *s)
{
	struct sim_end *a, *b;

	sim_switched(s, &a, &b);
	a->conn->tcp.delay = TUX_MSEC(30);
	sim_stall(a);
	sim_host_turn(a->host);
	sim_write(a, 5000);
	sim_finish(a);
	sim_ms(s, 1);
	sim_close(a);
	sim_write(b, 100);
	sim_ms(s, 20);
	SIM_CHECK(s, !a->c && !b->got);
	sim_ms(s, 50);
	SIM_CHECK(s, b->got == 5000 && b->eof);
	sim_close(b);
	sim_run_out(s, s->now + TUX_SEC(2));
}

#define TALE(name, where) \
	static void name##_a(struct sim *s) { abort_at(s, where, 0); } \
	static void name##_b(struct sim *s) { abort_at(s, where, 1); }
TALE(plain, PLAIN)
TALE(opening, OPENING)
TALE(announced, ANNOUNCED)
TALE(armed, ARMED)
TALE(switched, SWITCHED)
TALE(back, BACK)

const struct sim_story sim_stories[] = {
	{ "plain_a", plain_a }, { "plain_b", plain_b },
	{ "opening_a", opening_a }, { "opening_b", opening_b },
	{ "announced_a", announced_a }, { "announced_b", announced_b },
	{ "armed_a", armed_a }, { "armed_b", armed_b },
	{ "switched_a", switched_a }, { "switched_b", switched_b },
	{ "back_a", back_a }, { "back_b", back_b },
	{ "half_switched", half_switched },
	{ "behind_frames", behind_frames },
	{ NULL, NULL },
};
