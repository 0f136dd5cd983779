/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loss_each - of each kind of packet one is lost
 */
#include "sim.h"

static struct sim_end *a, *b;

static void begin(struct sim *s, uint64_t only)
{
	sim_switched(s, &a, &b);
	s->only = only;
	s->net_lines = true;
}

/* Three later ones are acknowledged: sent again, and no timer passes. */
static void data(struct sim *s)
{
	begin(s, SIM_STREAM);
	sim_drop(sim_link(a->host, b->host), SIM_DATA, 1, 1);
	sim_write(a, 10000);
	sim_ms(s, 20);
	SIM_TRACE(s,
		"[  50.000] a > send 2 stream 0 +1420\n"
		"[  50.000] a > send 3 stream 1420 +1420\n"
		"[  50.000] net lost data from a\n"
		"[  50.000] a > send 4 stream 2840 +1420\n"
		"[  50.000] a > send 5 stream 4260 +1420\n"
		"[  50.000] a > send 6 stream 5680 +1420\n"
		"[  50.000] a > send 7 stream 7100 +1420\n"
		"[  50.000] a > send 8 stream 8520 +1420\n"
		"[  50.000] a > send 9 stream 9940 +60\n"
		"[  51.000] b > recv 2 stream 0 +1420\n"
		"[  51.000] b > recv 4 stream 2840 +1420\n"
		"[  51.000] b > recv 5 stream 4260 +1420\n"
		"[  51.000] b > recv 6 stream 5680 +1420\n"
		"[  51.000] b > recv 7 stream 7100 +1420\n"
		"[  51.000] b > recv 8 stream 8520 +1420\n"
		"[  51.000] b > recv 9 stream 9940 +60\n"
		"[  52.000] a > lost 0 stream 1420 +1420\n"
		"[  52.000] a > send 10 stream 1420 +1420\n"
		"[  53.000] b > recv 10 stream 1420 +1420\n");
	sim_finish_all(s, TUX_SEC(20));
}

/* The last one: nothing later can tell, the timer must. */
static void last_data(struct sim *s)
{
	begin(s, SIM_STREAM);
	sim_drop(sim_link(a->host, b->host), SIM_DATA, 2, 1);
	sim_write(a, 4000);
	sim_ms(s, 20);
	SIM_TRACE(s,
		"[  50.000] a > send 2 stream 0 +1420\n"
		"[  50.000] a > send 3 stream 1420 +1420\n"
		"[  50.000] a > send 4 stream 2840 +1160\n"
		"[  50.000] net lost data from a\n"
		"[  51.000] b > recv 2 stream 0 +1420\n"
		"[  51.000] b > recv 3 stream 1420 +1420\n"
		"[  57.511] a > probe the tail, 1212 in flight\n"
		"[  57.511] a > send 5 stream 2840 +1160\n"
		"[  58.511] b > recv 5 stream 2840 +1160\n"
		"[  59.511] a > lost 0 stream 2840 +0\n");
	sim_finish_all(s, TUX_SEC(20));
}

/* What is sent again is lost again. */
static void twice(struct sim *s)
{
	begin(s, SIM_T(LOST) | SIM_T(TIMEOUT) | SIM_T(TAIL));
	sim_drop(sim_link(a->host, b->host), SIM_DATA, 0, 3);
	sim_write(a, 1000);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 1000);
	SIM_TRACE(s,
		"[  50.000] net lost data from a\n"
		"[  56.000] a > probe the tail, 1052 in flight\n"
		"[  56.000] net lost data from a\n"
		"[  62.000] a > timeout, 2104 in flight\n"
		"[  62.000] a > lost 0 stream 0 +0\n"
		"[  62.000] a > lost 0 stream 0 +1000\n"
		"[  62.000] net lost data from a\n"
		"[  74.000] a > timeout, 1052 in flight\n"
		"[  74.000] a > lost 0 stream 0 +1000\n");
	sim_finish_all(s, TUX_SEC(20));
}

/* FIN is on TCP as well: the reader waits for nothing. */
static void fin(struct sim *s)
{
	begin(s, SIM_STREAM | SIM_T(FRAME_IN));
	sim_drop(sim_link(a->host, b->host), SIM_FIN, 0, 1);
	sim_finish(a);
	sim_ms(s, 2);
	SIM_CHECK(s, b->eof);
	sim_ms(s, 20);
	SIM_TRACE(s,
		"[  50.000] a > send 2 stream 0 +0\n"
		"[  50.000] a > send 2 fin at 0\n"
		"[  50.000] net lost fin from a\n"
		"[  51.000] b > tcp in frame 3 at 0 +0\n"
		"[  56.000] a > probe the tail, 52 in flight\n"
		"[  56.000] a > send 3 stream 0 +0\n"
		"[  56.000] a > send 3 fin at 0\n"
		"[  57.000] b > recv 3 stream 0 +0\n"
		"[  57.000] b > recv 3 fin at 0\n"
		"[  58.000] a > lost 0 stream 0 +0\n");
	sim_finish_all(s, TUX_SEC(20));
}

/* FIN with the last bytes: those come by the timer, and then the end. */
static void fin_and_data(struct sim *s)
{
	begin(s, SIM_STREAM | SIM_T(FRAME_IN));
	sim_drop(sim_link(a->host, b->host), SIM_FIN, 0, 1);
	a->plan.finish = true;
	sim_write(a, 500);
	sim_ms(s, 2);
	SIM_CHECK(s, !b->eof && !b->got);
	sim_ms(s, 20);
	SIM_CHECK(s, b->eof);
	SIM_TRACE(s,
		"[  50.000] a > send 2 stream 0 +500\n"
		"[  50.000] a > send 2 fin at 500\n"
		"[  50.000] net lost data+fin from a\n"
		"[  51.000] b > tcp in frame 3 at 500 +0\n"
		"[  56.000] a > probe the tail, 552 in flight\n"
		"[  56.000] a > send 3 stream 0 +500\n"
		"[  56.000] a > send 3 fin at 500\n"
		"[  57.000] b > recv 3 stream 0 +500\n"
		"[  57.000] b > recv 3 fin at 500\n"
		"[  58.000] a > lost 0 stream 0 +0\n");
	sim_finish_all(s, TUX_SEC(20));
}

/* The next acknowledgment says it all again. */
static void ack(struct sim *s)
{
	begin(s, SIM_STREAM);
	sim_drop(sim_link(b->host, a->host), SIM_ACK, 0, 1);
	sim_write(a, 2000);
	sim_ms(s, 2);
	sim_write(a, 100);
	sim_ms(s, 20);
	SIM_TRACE(s,
		"[  50.000] a > send 2 stream 0 +1420\n"
		"[  50.000] a > send 3 stream 1420 +580\n"
		"[  51.000] b > recv 2 stream 0 +1420\n"
		"[  51.000] b > recv 3 stream 1420 +580\n"
		"[  51.250] net lost ack from b\n"
		"[  52.000] a > send 4 stream 2000 +100\n"
		"[  53.000] b > recv 4 stream 2000 +100\n");
	sim_finish_all(s, TUX_SEC(20));
}

/* The last acknowledgment: the bytes go twice, and are delivered once. */
static void last_ack(struct sim *s)
{
	begin(s, SIM_STREAM | SIM_T(DUPLICATE));
	sim_drop(sim_link(b->host, a->host), SIM_ACK, 0, 1);
	sim_write(a, 100);
	sim_ms(s, 20);
	SIM_CHECK(s, b->got == 100);
	SIM_TRACE(s,
		"[  50.000] a > send 2 stream 0 +100\n"
		"[  51.000] b > recv 2 stream 0 +100\n"
		"[  51.250] net lost ack from b\n"
		"[  56.000] a > probe the tail, 152 in flight\n"
		"[  56.000] a > send 3 stream 0 +100\n"
		"[  57.000] b > recv 3 stream 0 +100\n");
	sim_finish_all(s, TUX_SEC(20));
}

/* The window opens, and nobody says so: the sender asks. */
static void window(struct sim *s)
{
	begin(s, SIM_T(PROBE) | SIM_T(BACK));
	sim_drop(sim_link(b->host, a->host), SIM_WINDOW, 0, 1);
	sim_pause(b, true);
	sim_write(a, 100000);
	sim_ms(s, 1000);
	SIM_CHECK(s, a->sent > 65536 && a->sent < 100000 + 65536);
	sim_pause(b, false);
	sim_ms(s, 1000);
	SIM_CHECK(s, b->got == 100000);
	SIM_CHECK(s, !tux_conn_stats(a->c)->backs);
	sim_trace_clear(s);
	sim_finish_all(s, TUX_SEC(20));
}

/* TCP's own reset says the same. */
static void reset(struct sim *s)
{
	begin(s, SIM_END);
	sim_drop(sim_link(b->host, a->host), SIM_RESET, 0, 1);
	sim_close(b);
	sim_ms(s, 10);
	sim_write(a, 1000);
	sim_ms(s, 10);
	sim_write(a, 1000);
	sim_ms(s, 10);
	SIM_CHECK(s, a->closed && (a->rerr || a->werr));
	sim_run_out(s, TUX_SEC(5));
}

/* On TCP, the question whether the path is back is lost: it is asked later. */
static void ping(struct sim *s)
{
	begin(s, SIM_BACK | SIM_T(PLAIN_OUT) | SIM_T(COMMIT));
	sim_part(s, 0, 1, true);
	sim_write(a, 1000);
	sim_ms(s, 1200);
	sim_part(s, 0, 1, false);
	sim_drop(sim_link(a->host, b->host), SIM_PING, 0, 1);
	sim_ms(s, 10000);
	SIM_CHECK(s, tux_conn_tx_on_tux(a->c));
	SIM_TRACE(s,
		"[  50.000] net path down\n"
		"[  50.000] net lost data from a\n"
		"[  56.000] net lost data from a\n"
		"[  62.000] net lost data from a\n"
		"[  74.000] net lost data from a\n"
		"[  74.000] net lost data from a\n"
		"[  74.000] net lost data from a\n"
		"[  98.000] net lost data from a\n"
		"[  98.000] net lost data from a\n"
		"[  98.000] net lost data from a\n"
		"[ 146.000] net lost data from a\n"
		"[ 146.000] net lost data from a\n"
		"[ 146.000] net lost data from a\n"
		"[ 242.000] net lost data from a\n"
		"[ 242.000] net lost data from a\n"
		"[ 242.000] net lost data from a\n"
		"[ 434.000] net lost data from a\n"
		"[ 434.000] net lost data from a\n"
		"[ 434.000] net lost data from a\n"
		"[ 818.000] net lost data from a\n"
		"[ 818.000] net lost data from a\n"
		"[ 818.000] net lost data from a\n"
		"[1050.000] a > back to tcp at 0\n"
		"[1250.000] net path up\n"
		"[2050.000] a > probe\n"
		"[2050.000] net lost ping from a\n"
		"[3586.000] a > plain out at 1000\n"
		"[5588.000] a > commit 2 at 1000\n");
	sim_finish_all(s, TUX_SEC(20));
}

/* The first packet after the way back. */
static void after_again(struct sim *s)
{
	begin(s, SIM_BACK | SIM_STREAM);
	sim_part(s, 0, 1, true);
	sim_write(a, 1000);
	sim_ms(s, 1200);
	sim_part(s, 0, 1, false);
	sim_ms(s, 5000);
	sim_trace_clear(s);
	sim_drop(sim_link(a->host, b->host), SIM_DATA, 0, 1);
	sim_write(a, 1000);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 2000);
	SIM_TRACE(s,
		"[6250.000] a > send 24 stream 1000 +460\n"
		"[6250.000] net lost data from a\n"
		"[6250.000] a > send 25 stream 1460 +460\n"
		"[6250.000] a > send 26 stream 1920 +80\n"
		"[6251.000] b > recv 25 stream 1460 +460\n"
		"[6251.000] b > recv 26 stream 1920 +80\n"
		"[6252.000] a > lost 0 stream 1000 +460\n"
		"[6252.000] a > send 28 stream 1000 +460\n"
		"[6253.000] b > recv 28 stream 1000 +460\n");
	sim_finish_all(s, TUX_SEC(20));
}

const struct sim_story sim_stories[] = {
	{ "data", data },
	{ "last_data", last_data },
	{ "twice", twice },
	{ "fin", fin },
	{ "fin_and_data", fin_and_data },
	{ "ack", ack },
	{ "last_ack", last_ack },
	{ "window", window },
	{ "reset", reset },
	{ "ping", ping },
	{ "after_again", after_again },
	{ NULL, NULL },
};
