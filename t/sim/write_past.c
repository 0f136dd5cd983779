/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write_past - a writer does not wait for the switch
 */
#include "sim.h"

static struct sim_end *a, *b;

static void more(struct sim *s, void *arg, uint64_t n, uint64_t m)
{
	(void)s, (void)m;
	sim_write(arg, n);
}

/* Past N before the acknowledgment: void; the next looks ahead, and a writer
 * who reaches it after the acknowledgment commits in the middle of a write. */
static void past(struct sim *s)
{
	unsigned i;

	s->only = SIM_SWITCH & ~SIM_T(SEND_PREPARED);
	sim_pair(s, &a, &b);
	sim_write(a, 100);
	for (i = 0; i < 40; i++)
		sim_at(s, TUX_USEC(2200 + 400 * i), more, a, 100, 0);
	sim_ms(s, 30);
	SIM_TRACE(s,
		"[   2.000] a > send prepare 1 at 100\n"
		"[   2.200] a > generation 1 void\n"
		"[   2.250] a > send prepare 2 at 456\n"
		"[   3.000] b > armed 1 at 100\n"
		"[   3.000] b > send prepare 1 at 0\n"
		"[   3.250] b > armed 2 at 456\n"
		"[   3.400] a > generation 2 void\n"
		"[   3.500] a > send prepare 3 at 1100\n"
		"[   4.000] a > recv prepared 1\n"
		"[   4.000] a > armed 1 at 0\n"
		"[   4.250] a > recv prepared 2\n"
		"[   4.500] b > armed 3 at 1100\n"
		"[   5.000] b > recv prepared 1\n"
		"[   5.000] b > commit 1 at 0\n"
		"[   5.500] a > recv prepared 3\n"
		"[   5.800] a > commit 3 at 1100\n"
		"[   6.000] a > receive switched at 0\n"
		"[   6.800] b > receive switched at 1100\n");
	SIM_CHECK(s, b->got == 4100);
	sim_finish_all(s, TUX_SEC(10));
}

/* Never a pause: each N is the writer's guess of a round trip. */
static void bulk(struct sim *s)
{
	s->only = SIM_DONE | SIM_T(VOID);
	sim_pair(s, &a, &b);
	sim_write(a, 2000000);
	sim_finish_all(s, TUX_SEC(10));
	SIM_CHECK(s, a->stats.tcp_tx < 500000);
	SIM_TRACE(s,
		"[   2.000] a > generation 1 void\n"
		"[   8.000] a > commit 2 at 262144\n"
		"[   9.000] b > receive switched at 262144\n");
}

/* Short of an acknowledged N, and then nothing more: the loop takes that N back
 * and announces the place where the writer rests. */
static void short_of(struct sim *s)
{
	s->only = SIM_SWITCH & ~SIM_T(SEND_PREPARED);
	sim_pair(s, &a, &b);
	sim_write(a, 100);
	sim_at(s, TUX_USEC(2200), more, a, 200, 0);
	sim_ms(s, 30);
	SIM_TRACE(s,
		"[   2.000] a > send prepare 1 at 100\n"
		"[   2.200] a > generation 1 void\n"
		"[   2.250] a > send prepare 2 at 700\n"
		"[   3.000] b > armed 1 at 100\n"
		"[   3.000] b > send prepare 1 at 0\n"
		"[   3.250] b > armed 2 at 700\n"
		"[   4.000] a > recv prepared 1\n"
		"[   4.000] a > armed 1 at 0\n"
		"[   4.250] a > recv prepared 2\n"
		"[   5.000] b > recv prepared 1\n"
		"[   5.000] b > commit 1 at 0\n"
		"[   6.000] a > receive switched at 0\n"
		"[  12.250] a > generation 2 void\n"
		"[  14.250] a > recv prepared 3\n"
		"[  14.250] a > send prepare 4 at 300\n"
		"[  15.250] b > armed 4 at 300\n"
		"[  16.250] a > recv prepared 4\n"
		"[  16.250] a > commit 4 at 300\n"
		"[  17.250] b > receive switched at 300\n");
	sim_write(a, 50);
	sim_ms(s, 10);
	SIM_CHECK(s, a->was_tx && b->got == 350);
	sim_finish_all(s, TUX_SEC(10));
}

/* The writer reaches an acknowledged N exactly: the marker follows at once. */
static void exactly(struct sim *s)
{
	s->only = SIM_SWITCH & ~SIM_T(SEND_PREPARED);
	sim_pair(s, &a, &b);
	sim_write(a, 100);
	sim_at(s, TUX_USEC(2200), more, a, 10, 0);
	sim_ms(s, 5);
	SIM_CHECK(s, a->dx->tx.state == TUX_TX_ACKED);
	sim_write(a, a->dx->tx.at - a->sent);
	sim_ms(s, 10);
	SIM_CHECK(s, a->dx->tx.state == TUX_TX_SWITCHED && !a->stats.tux_tx);
	SIM_TRACE(s,
		"[   2.000] a > send prepare 1 at 100\n"
		"[   2.200] a > generation 1 void\n"
		"[   2.250] a > send prepare 2 at 366\n"
		"[   3.000] b > armed 1 at 100\n"
		"[   3.000] b > send prepare 1 at 0\n"
		"[   3.250] b > armed 2 at 366\n"
		"[   4.000] a > recv prepared 1\n"
		"[   4.000] a > armed 1 at 0\n"
		"[   4.250] a > recv prepared 2\n"
		"[   5.000] b > recv prepared 1\n"
		"[   5.000] b > commit 1 at 0\n"
		"[   5.000] a > commit 2 at 366\n"
		"[   6.000] a > receive switched at 0\n"
		"[   6.000] b > receive switched at 366\n");
	sim_finish_all(s, TUX_SEC(10));
}

const struct sim_story sim_stories[] = {
	{ "past", past },
	{ "bulk", bulk },
	{ "short_of", short_of },
	{ "exactly", exactly },
	{ NULL, NULL },
};
