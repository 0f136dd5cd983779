/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ports - handshakes announce the UDP ports of loops, so that either end may
 * speak first; and a way that is known to be there again is tried at once
 */
#include "sim.h"

static struct sim_end *a, *b;

static void open_way(struct sim *s, bool tell)
{
	sim_part(s, 0, 1, false);
	if (!tell)
		return;
	sim_unstall(a);
	sim_unstall(b);
	sim_host_turn(a->host);
	sim_host_turn(b->host);
}

static void finish(struct sim *s)
{
	sim_write(a, 5000);
	sim_write(b, 5000);
	sim_finish_all(s, TUX_SEC(100));
}

/* The opener's HELLO is lost: the other end's own is enough. */
static void passive_first(struct sim *s)
{
	s->only = SIM_OPENING;
	s->announced = true;
	sim_pair(s, &a, &b);
	sim_link(a->host, b->host)->down = true;
	sim_run(s, TUX_USEC(500));
	sim_link(a->host, b->host)->down = false;
	sim_ms(s, 2);
	SIM_TRACE(s,
		"[   0.000] a > send hello 59\n"
		"[   0.000] b > send hello 57\n"
		"[   1.000] a > recv hello 57\n"
		"[   1.000] a > send hello 59\n"
		"[   2.000] b > recv hello 59\n"
		"[   2.000] b > path proved\n"
		"[   2.000] b > send hello 56\n");
	finish(s);
}

/* Switched, and gone back: no probe waits for its time. */
static void again(struct sim *s, bool tell)
{
	s->only = SIM_BACK | SIM_T(PLAIN_OUT) | SIM_T(COMMIT);
	s->announced = true;
	sim_switched(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_stall(a);
	sim_stall(b);
	sim_host_turn(a->host);
	sim_host_turn(b->host);
	sim_write(a, 5000);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 5000);
	open_way(s, tell);
	sim_ms(s, 40);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) == tell);
	SIM_CHECK(s, tux_conn_tx_on_tux(b->c) == tell);
}

static void again_told(struct sim *s)
{
	again(s, true);
	SIM_TRACE(s,
		"[  50.000] a > back to tcp at 0\n"
		"[  50.000] b > back to tcp at 0\n"
		"[  50.000] a > plain out at 0\n"
		"[  50.000] b > plain out at 0\n"
		"[ 170.000] a > probe\n"
		"[ 170.000] b > probe\n"
		"[ 174.250] a > commit 2 at 5000\n"
		"[ 174.250] b > commit 2 at 0\n");
	finish(s);
}

static void again_untold(struct sim *s)
{
	again(s, false);
	sim_ms(s, 2000);
	SIM_TRACE(s,
		"[  50.000] a > back to tcp at 0\n"
		"[  50.000] b > back to tcp at 0\n"
		"[  50.000] a > plain out at 0\n"
		"[  50.000] b > plain out at 0\n"
		"[1050.000] a > probe\n"
		"[1050.000] b > probe\n"
		"[1054.250] a > commit 2 at 5000\n"
		"[1054.250] b > commit 2 at 0\n");
	finish(s);
}

/* There was no way from the start, and all HELLOs are spent. */
static void late(struct sim *s, bool tell)
{
	s->only = SIM_OPENING | SIM_DONE;
	s->announced = true;
	sim_pair(s, &a, &b);
	sim_part(s, 0, 1, true);
	sim_ms(s, 5000);
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_PEER_SILENT);
	SIM_CHECK(s, tux_conn_reason(b->c) == TUX_REASON_PEER_SILENT);
	sim_trace_clear(s);
	open_way(s, tell);
	sim_ms(s, 40);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c) == tell);
	SIM_CHECK(s, tux_conn_tx_on_tux(b->c) == tell);
}

static void late_told(struct sim *s)
{
	late(s, true);
	SIM_TRACE(s,
		"[5000.000] a > send hello 59\n"
		"[5000.000] b > send hello 57\n"
		"[5001.000] b > recv hello 59\n"
		"[5001.000] b > send hello 57\n"
		"[5001.000] a > recv hello 57\n"
		"[5001.000] a > send hello 59\n"
		"[5002.000] a > recv hello 57\n"
		"[5002.000] a > path proved\n"
		"[5002.000] a > send hello 58\n"
		"[5002.000] b > recv hello 59\n"
		"[5002.000] b > path proved\n"
		"[5002.000] b > send hello 56\n"
		"[5003.000] b > recv hello 58\n"
		"[5003.000] a > recv hello 56\n"
		"[5004.000] a > commit 1 at 0\n"
		"[5004.000] b > commit 1 at 0\n"
		"[5005.000] b > receive switched at 0\n"
		"[5005.000] a > receive switched at 0\n");
	finish(s);
}

static void late_untold(struct sim *s)
{
	late(s, false);
	SIM_TRACE(s, "");
	finish(s);
}

/* Handshakes announce ports.  The listener's is that of another process, which
 * does not serve this connection: the serving end opens towards the port of the
 * active one. */
static void worker(struct sim *s)
{
	s->only = SIM_OPENING;
	sim_pair(s, &a, &b);
	a->plan.peer_port = 9;
	b->plan.peer_port = a->host->addr.port;
	sim_ms(s, 10);
	SIM_TRACE(s,
		"[   0.000] a > send hello 59\n"
		"[   0.000] b > send hello 57\n"
		"[   1.000] a > recv hello 57\n"
		"[   1.000] a > send hello 59\n"
		"[   2.000] b > recv hello 59\n"
		"[   2.000] b > path proved\n"
		"[   2.000] b > send hello 56\n"
		"[   3.000] a > recv hello 56\n"
		"[   3.000] a > path proved\n");
	finish(s);
}

/* The serving end is ready first.  Its HELLO comes to an end that does not know
 * of the connection yet, so it repeats it. */
static void early_worker(struct sim *s)
{
	s->only = SIM_OPENING;
	sim_pair(s, &a, &b);
	a->plan.peer_port = 9;
	a->plan.claim = TUX_MSEC(3);
	b->plan.peer_port = a->host->addr.port;
	sim_ms(s, 20);
	SIM_TRACE(s,
		"[   0.000] b > send hello 57\n"
		"[   3.000] a > send hello 59\n"
		"[   4.000] b > send hello 57\n"
		"[   5.000] a > recv hello 57\n"
		"[   5.000] a > send hello 59\n"
		"[   6.000] b > recv hello 59\n"
		"[   6.000] b > path proved\n"
		"[   6.000] b > send hello 56\n"
		"[   7.000] a > send hello 59\n"
		"[   7.000] a > recv hello 56\n"
		"[   7.000] a > path proved\n"
		"[   8.000] b > recv hello 59\n"
		"[   8.000] b > send hello 56\n"
		"[   9.000] a > recv hello 56\n");
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "worker", worker },
	{ "early_worker", early_worker },
	{ "passive_first", passive_first },
	{ "again_told", again_told },
	{ "again_untold", again_untold },
	{ "late_told", late_told },
	{ "late_untold", late_untold },
	{ NULL, NULL },
};
