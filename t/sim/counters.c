/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counters - what a connection and a core count, against what was sent
 */
#include "base/bytes.h"
#include "sim.h"
#include "wire/pkt.h"

static struct sim_end *a, *b;
static uint64_t numbered[2];		/* packets to b, to a */

static uint64_t count(const uint8_t *p, size_t len)
{
	uint64_t n = 0;
	size_t at;

	for (at = 0; at < len; at += tux_get16(p + at + 4))
		n += !(p[at + 3] & TUX_PKT_OPEN);
	return n;
}

static void to_b(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	numbered[0] += count(p, len);
}

static void to_a(struct sim *s, uint8_t *p, size_t len)
{
	(void)s;
	numbered[1] += count(p, len);
}

static void begin(struct sim *s)
{
	sim_messages(s, &a, &b);
	numbered[0] = numbered[1] = 0;
	sim_link(a->host, b->host)->tap = to_b;
	sim_link(b->host, a->host)->tap = to_a;
}

static void finish(struct sim *s)
{
	sim_finish_all(s, TUX_SEC(100));
	sim_check_messages(s, true);
}

/* All that @x has sent, and its peer has got, without a fault. */
static void check_clean(struct sim *s, const struct sim_end *x, uint64_t stream,
			uint64_t mail, unsigned mails)
{
	const struct tux_conn_stats *t = &x->stats, *r = &x->peer->stats;

	SIM_CHECK(s, t->tcp_tx + t->tux_tx == stream);
	SIM_CHECK(s, r->tcp_rx == t->tcp_tx && r->tux_rx == t->tux_tx);
	SIM_CHECK(s, t->msg_tx == mail && r->msg_rx == mail);
	SIM_CHECK(s, t->msgs_tx == mails && r->msgs_rx == mails);
	SIM_CHECK(s, t->pkts_tx == numbered[x->side]);
	SIM_CHECK(s, r->pkts_rx == numbered[x->side]);
	SIM_CHECK(s, !t->lost && !t->resent && !t->timeouts && !t->spurious &&
		  !t->undone && !t->dropped && !t->duplicates && !t->backs &&
		  !t->frame_tx && !t->frame_rx && !t->ce_tx && !t->ce_rx);
}

static void clean(struct sim *s)
{
	unsigned i;

	begin(s);
	sim_write(a, 1000);
	sim_ms(s, 50);
	for (i = 0; i < 10; i++) {
		sim_send(a, 100 * i, 0);
		sim_send(b, 20000, TUX_MSG_ORDERED);
	}
	sim_write(a, 50000);
	sim_write(b, 300000);
	finish(s);
	check_clean(s, a, 51000, 4500, 10);
	check_clean(s, b, 300000, 200000, 10);
	SIM_CHECK(s, a->stats.tcp_tx >= 1000 && a->stats.tux_tx >= 49000);
}

/* Four packets vanish: the tail is probed once, and each goes again. */
static void lossy(struct sim *s)
{
	const struct tux_conn_stats *t;

	sim_switched(s, &a, &b);
	t = &a->stats;
	sim_part(s, 0, 1, true);
	sim_write(a, 4 * 1000);
	sim_ms(s, 1);
	sim_part(s, 0, 1, false);
	sim_ms(s, 100);
	SIM_CHECK(s, b->got == 4000);
	finish(s);
	SIM_CHECK(s, t->tails == 1 && !t->timeouts && !t->spurious);
	SIM_CHECK(s, t->lost == sim_link(a->host, b->host)->lost_n);
	SIM_CHECK(s, t->resent == t->lost);
	SIM_CHECK(s, t->tux_tx == 8000 && b->stats.tux_rx == 4000);
	SIM_CHECK(s, !b->stats.lost && !b->stats.resent);
}

/* What TCP brings in frames, and what it brought before the switch. */
static void framed(struct sim *s)
{
	const struct tux_conn_stats *t, *r;

	sim_switched(s, &a, &b);
	t = &a->stats;
	r = &b->stats;
	sim_write(a, 3000);
	sim_ms(s, 50);
	sim_part(s, 0, 1, true);
	sim_write(a, 50000);
	sim_ms(s, 1500);
	SIM_CHECK(s, !tux_conn_tx_on_tux(a->c));
	sim_write(a, 50000);
	sim_ms(s, 50);
	finish(s);
	SIM_CHECK(s, t->backs == 1 && t->frame_tx == 100000);
	SIM_CHECK(s, r->frame_rx == 100000);
	SIM_CHECK(s, r->tcp_rx + r->tux_rx == 3000 && t->tcp_tx == r->tcp_rx);
}

/* A core counts what comes, by what it is. */
static void core(struct sim *s)
{
	static const uint8_t junk[40] = { 1, 2, 3 };
	struct tux_core_stats was, is;
	struct sim_link *l;

	begin(s);
	sim_ms(s, 50);
	l = sim_link(a->host, b->host);
	was = *tux_core_stats(b->host->core);
	SIM_CHECK(s, was.datagrams_rx == l->sent_n);
	SIM_CHECK(s, was.packets_rx >= was.datagrams_rx);
	SIM_CHECK(s, tux_core_stats(a->host->core)->datagrams_tx == l->sent_n);
	SIM_CHECK(s, tux_core_stats(a->host->core)->packets_tx ==
		  was.packets_rx);
	sim_host_input(b->host, &a->host->addr, junk, sizeof(junk), 0);
	is = *tux_core_stats(b->host->core);
	SIM_CHECK(s, is.datagrams_rx == was.datagrams_rx + 1);
	SIM_CHECK(s, is.packets_rx == was.packets_rx);
	SIM_CHECK(s, is.damaged == was.damaged + 1);
	SIM_CHECK(s, !is.strangers && !is.bad_mac && !is.wrong_version);
	finish(s);
}

const struct sim_story sim_stories[] = {
	{ "clean", clean },
	{ "lossy", lossy },
	{ "framed", framed },
	{ "core", core },
	{ NULL, NULL },
};
