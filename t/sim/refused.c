/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refused - an end that will not move a connection answers HELLOs with the
 * reason: the other end asks no more, and shows it
 */
#include "base/bytes.h"
#include "conn/core.h"
#include "forge.h"
#include "wire/pkt.h"

enum {
	LEN = TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_LEN,
};

#define WHY TUX_REASON_BYPASSED

static struct sim_end *a, *b;
static uint8_t kept[LEN];		/* the last refusal of b's host */
static bool has_kept;
static bool loses;			/* they do not arrive */
static unsigned asked;			/* HELLOs that have left a */

static void refuse(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	if (!(p[3] & TUX_PKT_OPEN))
		return;
	asked++;
	tux_core_refuse(b->host->core, &a->host->addr, p, len, &b->conn->key,
			WHY);
}

static void keep(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	if (len == LEN && p[TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_WHY]) {
		memcpy(kept, p, LEN);
		has_kept = true;
		p[0] ^= loses;
	}
}

/* b's loop cannot carry the connection, and its host says so; if @lost, in
 * vain. */
static void begin(struct sim *s, bool lost)
{
	loses = lost;
	asked = 0;
	has_kept = false;
	s->mute = !s->loud;
	sim_pair(s, &a, &b);
	sim_link(a->host, b->host)->tap = refuse;
	sim_link(b->host, a->host)->tap = keep;
	sim_run(s, s->now + TUX_USEC(500));
	sim_bar(b, true);
}

/* ... and now it can. */
static void relent(void)
{
	sim_link(a->host, b->host)->tap = NULL;
	sim_bar(b, false);
}

static void again(struct sim *s)
{
	sim_unstall(a);
	sim_host_turn(a->host);
	sim_ms(s, 50);
}

static void finish(struct sim *s)
{
	sim_write(a, 100000);
	sim_write(b, 100000);
	sim_ms(s, 100);
	sim_finish_all(s, TUX_SEC(10));
}

/* One question, one answer; reads and writes ask no more. */
static void refused(struct sim *s)
{
	unsigned i;

	begin(s, false);
	sim_ms(s, 3);
	SIM_CHECK(s, tux_conn_reason(a->c) == WHY && asked == 1);
	for (i = 0; i < 50; i++) {
		sim_write(a, 100);
		sim_write(b, 100);
		sim_ms(s, 100);
	}
	SIM_CHECK(s, tux_conn_reason(a->c) == WHY && asked == 1);
	SIM_CHECK(s, !a->was_tx && !b->was_tx);
	finish(s);
	SIM_CHECK(s, a->reason == WHY);
}

/* The next answer comes as soon as the next question. */
static void lost_once(struct sim *s)
{
	begin(s, true);
	sim_ms(s, 3);
	SIM_CHECK(s, !tux_conn_reason(a->c));
	loses = false;
	sim_ms(s, 10);
	SIM_CHECK(s, tux_conn_reason(a->c) == WHY && asked >= 2);
	finish(s);
}

/* Without the key, or without the echo, a refusal changes nothing. */
static void forged(struct sim *s)
{
	uint8_t p[LEN];
	unsigned i;

	begin(s, true);
	sim_ms(s, 3);
	SIM_CHECK(s, has_kept);
	relent();
	for (i = 0; i < 1000; i++) {
		memcpy(p, kept, LEN);
		p[TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_WHY] ^=
			(uint8_t)(i & 15);
		p[TUX_PKT_HDR + TUX_REC_HDR + TUX_HELLO_MAC + i % 8] ^= 1;
		sim_seal(NULL, p);
		sim_host_input(a->host, &b->host->addr, p, LEN, TUX_ECN_NONE);
	}
	SIM_CHECK(s, !tux_conn_reason(a->c));
	loses = false;
	sim_ms(s, 50);
	finish(s);
	SIM_CHECK(s, a->was_tx && b->was_tx);
}

/* The end that refused asks later; then copies of its refusal arrive. */
static void moves_later(struct sim *s)
{
	unsigned i;

	begin(s, false);
	sim_ms(s, 10);
	SIM_CHECK(s, tux_conn_reason(a->c) == WHY);
	relent();
	again(s);
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_NONE);
	for (i = 0; i < 100; i++) {
		sim_write(a, 300);
		sim_host_input(a->host, &b->host->addr, kept, LEN,
			       TUX_ECN_NONE);
		sim_ms(s, 5);
		SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_NONE);
	}
	SIM_CHECK(s, has_kept && tux_conn_tx_on_tux(a->c));
	finish(s);
	SIM_CHECK(s, a->was_tx && b->was_tx);
}

/* Between the proof and the switch, a refusal that is older counts no more. */
static void late(struct sim *s)
{
	begin(s, true);
	sim_ms(s, 3);
	SIM_CHECK(s, has_kept && !tux_conn_reason(a->c));
	relent();
	loses = false;
	sim_ms(s, 50);
	sim_host_input(a->host, &b->host->addr, kept, LEN, TUX_ECN_NONE);
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_NONE);
	finish(s);
	SIM_CHECK(s, a->was_tx && b->was_tx);
}

/* No descriptor is left at b, which has proved the path: it says so itself. */
static void no_descriptor(struct sim *s)
{
	s->mute = !s->loud;
	sim_pair(s, &a, &b);
	b->plan.no_fd = true;
	sim_write(a, 1000);
	sim_ms(s, 50);
	SIM_CHECK(s, tux_conn_reason(b->c) == TUX_REASON_NO_FD);
	SIM_CHECK(s, tux_conn_reason(a->c) == TUX_REASON_NO_FD);
	finish(s);
	SIM_CHECK(s, !a->was_tx && !b->was_tx);
}

const struct sim_story sim_stories[] = {
	{ "refused", refused },
	{ "lost_once", lost_once },
	{ "forged", forged },
	{ "moves_later", moves_later },
	{ "late", late },
	{ "no_descriptor", no_descriptor },
	{ NULL, NULL },
};
