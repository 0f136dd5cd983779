/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * incast - 64 hosts answer one at the same instant, through a port of a switch
 * that is too small for them
 *
 * incast -v prints how it went.
 */
#include <stdio.h>

#include "sim.h"

enum {
	SENDERS = 64,
	BYTES = 262144,			/* of each */
	PIECE = 65536,			/* of a message */
};

static const uint64_t RATE = 1250000000;	/* bytes a second: 10 Gb/s */

static struct sim_end *from[SENDERS], *to[SENDERS];

/* All of them connected to the one, 25 us away, through @neck. */
static void fan_in(struct sim *s, struct sim_neck *neck)
{
	struct sim_host *sink = sim_add_host(s);
	unsigned i;

	s->mute = true;
	for (i = 0; i < SENDERS; i++) {
		struct sim_host *h = sim_add_host(s);
		struct sim_conn *k = sim_connect(h, sink);

		sim_link(h, sink)->neck = neck;
		sim_link(h, sink)->delay = TUX_USEC(25);
		sim_link(sink, h)->delay = TUX_USEC(25);
		k->small = k->bulk = 1 << 20;
		from[i] = &k->end[0];
		to[i] = &k->end[1];
	}
	sim_ms(s, 100);
}

static bool arrived(bool messages)
{
	unsigned i;

	for (i = 0; i < SENDERS; i++) {
		if (messages ? to[i]->msg_got < BYTES / PIECE :
			       to[i]->got < BYTES)
			return false;
	}
	return true;
}

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(10));
	sim_check_messages(s, true);
}

/* What came over, in hundredths of what the link could have carried; and that
 * nobody has gone back to TCP, or has waited for timers more than @timers
 * times. */
static unsigned rush(struct sim *s, struct sim_neck *neck, bool messages,
		     unsigned timers)
{
	uint64_t timeouts = 0, lost = neck->lost_n;
	tux_time began = s->now;
	unsigned i, n, part;

	for (i = 0; i < SENDERS; i++) {
		for (n = 0; messages && n < BYTES / PIECE; n++)
			sim_send(from[i], PIECE, 0);
		if (!messages)
			sim_write(from[i], BYTES);
	}
	while (!arrived(messages) && s->now < began + TUX_SEC(10) && !s->failed)
		sim_run(s, s->now + TUX_USEC(100));
	part = (unsigned)(SENDERS * (uint64_t)BYTES * 100 * 1000 /
			  ((s->now - began) * (RATE / 1000000)));
	for (i = 0; i < SENDERS; i++) {
		timeouts += tux_conn_stats(from[i]->c)->timeouts;
		SIM_CHECK(s, from[i]->was_tx);
		SIM_CHECK(s, !tux_conn_stats(from[i]->c)->backs);
	}
	if (s->loud)
		printf("# %s, %s: %u us, %u %% of the link, %u timeouts, "
		       "lost %u\n",
		       neck->places ? "64 packets" : "1 MB",
		       messages ? "messages" : "streams",
		       (unsigned)((s->now - began) / 1000), part,
		       (unsigned)timeouts, (unsigned)(neck->lost_n - lost));
	SIM_CHECK(s, timeouts <= timers);
	return part;
}

/* A port with a megabyte. */
static void large(struct sim *s, bool messages)
{
	struct sim_neck *neck = sim_add_neck(s, RATE, (1 << 20) * TUX_SEC(1) /
					     RATE);

	fan_in(s, neck);
	SIM_CHECK(s, rush(s, neck, messages, SENDERS) > 50);
	finish(s);
}

/* A port with 64 places, so one packet of each sender fills it. */
static void small(struct sim *s, bool messages)
{
	struct sim_neck *neck = sim_add_neck(s, RATE, TUX_SEC(1));

	neck->places = 64;
	fan_in(s, neck);
	SIM_CHECK(s, rush(s, neck, messages, 4 * SENDERS) > 25);
	finish(s);
}

static void streams_large(struct sim *s)
{
	large(s, false);
}

static void streams_small(struct sim *s)
{
	small(s, false);
}

static void messages_large(struct sim *s)
{
	large(s, true);
}

static void messages_small(struct sim *s)
{
	small(s, true);
}

const struct sim_story sim_stories[] = {
	{ "streams_large", streams_large },
	{ "streams_small", streams_small },
	{ "messages_large", messages_large },
	{ "messages_small", messages_small },
	{ NULL, NULL },
};
