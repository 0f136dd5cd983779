/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plain_peer - the other end has no Tux
 */
#include "sim.h"

static struct sim_end *a, *b;

static void talk(struct sim *s)
{
	sim_write(a, 20000);
	sim_write(b, 20000);
	sim_ms(s, 1000);
	sim_write(a, 20000);
	sim_write(b, 20000);
	sim_ms(s, 9000);
	SIM_CHECK(s, a->got == 40000 && b->got == 40000);
}

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(20));
	SIM_CHECK(s, !a->was_tx && !a->was_rx && !b->was_tx && !b->was_rx);
}

/* A few HELLOs, then silence. */
static void server(struct sim *s)
{
	s->only = SIM_T(SEND_HELLO) | SIM_T(GONE);
	sim_pair(s, &a, &b);
	b->plan.plain = true;
	talk(s);
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_PEER_SILENT);
	SIM_CHECK(s, s->packets <= 5 + 16);
	finish(s);
	SIM_TRACE(s,
		"[   0.000] a > send hello 59\n"
		"[   1.000] a > send hello 59\n"
		"[   4.000] a > send hello 59\n"
		"[  24.000] a > send hello 59\n"
		"[ 124.000] a > send hello 59\n"
		"[ 624.000] a > send hello 59\n"
		"[1000.000] a > send hello 59\n"
		"[1001.000] a > send hello 59\n"
		"[10001.000] a > gone\n");
}

/* Who did not connect does not speak first. */
static void client(struct sim *s)
{
	sim_pair(s, &a, &b);
	a->plan.plain = true;
	talk(s);
	finish(s);
	SIM_CHECK(s, s->packets == 0);
}

/* The HELLOs arrive at a host with Tux, but of another connection's program. */
static void stranger(struct sim *s)
{
	sim_pair(s, &a, &b);
	b->plan.claim = TUX_MSEC(3000);
	sim_run(s, TUX_MSEC(2000));
	SIM_CHECK(s, tux_core_stats(b->host->core)->strangers > 0);
	talk(s);
	sim_finish_all(s, TUX_SEC(30));
}

/* No memory for the connection: it stays on TCP, and nothing is amiss. */
static void no_memory(struct sim *s)
{
	sim_pair(s, &a, &b);
	s->alloc_fail_at = s->alloc_n + 1;
	talk(s);
	finish(s);
	SIM_CHECK(s, a->reason == TUX_REASON_NO_MEMORY);
}

/* The loop gets no descriptor: pinned to TCP, and the peer is told. */
static void no_fd(struct sim *s)
{
	sim_pair(s, &a, &b);
	b->plan.no_fd = true;
	talk(s);
	SIM_CHECK(s, tux_conn_reason(b->c) == TUX_REASON_NO_FD);
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_NO_FD);
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "server", server },
	{ "client", client },
	{ "stranger", stranger },
	{ "no_memory", no_memory },
	{ "no_fd", no_fd },
	{ NULL, NULL },
};
