/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conn_open - a connection is made and freed, and the questions of core.h about
 * it
 */
#include "conn/core.h"

#include <errno.h>

#include "conn/choose.h"
#include "conn/conn_in.h"
#include "conn/hello.h"
#include "conn/message_life.h"
#include "conn/settle.h"

static uint32_t draw_id(struct tux_core *core)
{
	uint32_t id = tux_rng_u32(&core->rng);

	return core->number ? id - id % TUX_PORT_CORES + core->number - 1 : id;
}

static uint32_t new_id(struct tux_core *core)
{
	uint32_t id;

	do
		id = draw_id(core);
	while (!id || tux_table_by_id(&core->table, id));
	return id;
}

static void init(struct tux_conn *c, const struct tux_conn_opts *o)
{
	struct tux_core *core = c->core;

	tux_list_init(&c->sendq);
	tux_list_init(&c->waitq);
	tux_list_init(&c->use);
	tux_list_init(&c->untimed);
	tux_list_init(&c->effectq);
	c->timer.at = TUX_NEVER;
	c->dx = o->dx;
	c->user = o->user;
	c->tuple = o->tuple;
	c->active = o->active;
	c->key = o->key;
	c->id = new_id(core);
	c->nonce = tux_rng_u64(&core->rng) | 1;	/* 0 means "not known" */
	c->mtu = o->mtu;
	c->pkt_max = core->pkt_max;
	c->peer = o->active ? o->tuple.passive : o->tuple.active;
	c->begins = o->active || o->peer_port;
	if (o->peer_port || !c->begins)
		c->peer.port = o->peer_port;
	c->retry_at = c->linger_at = c->reset_at = TUX_NEVER;
	c->open.at = TUX_NEVER;
	c->tx.announce_at = c->tx.writer_at = c->tx.probe_at = TUX_NEVER;
	c->tx.barred_at = TUX_NEVER;
	c->tx.again_from = UINT64_MAX;
	c->rx.stop_until = c->tx.raw_at = TUX_NEVER;
	c->tx.rate_at = TUX_NEVER;
	c->trusted = true;
	tux_choice_init(&c->tx.choice, o->mode, 0);
	tux_choose_mtu(c);
	c->tx.away_at = TUX_NEVER;
	c->in.need = TUX_FRAME_HDR;
	tux_rtt_init(&c->rtt, 0);
	tux_loss_init(&c->loss);
	/* Above 2^32, so that a number a little below the first is not
	 * negative. */
	c->first = (1ull << 32) + tux_rng_u32(&core->rng);
	tux_sentq_init(&c->sentq, c->first);
}

int tux_core_open(struct tux_core *core, const struct tux_conn_opts *o,
		  struct tux_conn **cp, tux_time now)
{
	struct tux_conn *c;
	int err;

	err = tux_heap_reserve(&core->timers, core->conn_n + 1);
	if (err)
		return err;
	c = tux_mem_alloc(core->mem, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->core = core;
	init(c, o);
	if (o->box)
		c->msg = tux_messages_new(core->mem, o->box);
	err = o->box && !c->msg ? -ENOMEM :
	      tux_table_add(&core->table, c->id, &c->tuple, c->active, c);
	if (err) {
		tux_messages_free(core->mem, c->msg);
		tux_mem_free(core->mem, c);
		return err;
	}
	core->conn_n++;
	tux_hello_start(c, now);
	tux_conn_settle(c, now);
	*cp = c;
	return 0;
}

void tux_conn_close(struct tux_conn *c, tux_time now)
{
	struct tux_core *core = c->core;

	tux_list_remove(&c->sendq);
	tux_list_remove(&c->untimed);
	tux_list_remove(&c->effectq);
	tux_conn_drop_flight(c);
	tux_conn_settle_pair(c, now);
	if (c->pair)
		tux_pair_put(&core->pairs, c->pair);
	tux_heap_set(&core->timers, &c->timer, TUX_NEVER);
	tux_table_del(&core->table, c->id, &c->tuple, c->active);
	core->conn_n--;
	tux_messages_free(core->mem, c->msg);
	tux_mem_free(core->mem, c);
}

/* ---- questions ---- */

void *tux_conn_user(const struct tux_conn *c)
{
	return c->user;
}

struct tux_duplex *tux_conn_duplex(const struct tux_conn *c)
{
	return c->dx;
}

const struct tux_tuple *tux_conn_tuple(const struct tux_conn *c, bool *active)
{
	if (active)
		*active = c->active;
	return &c->tuple;
}

const struct tux_conn_stats *tux_conn_stats(const struct tux_conn *c)
{
	return &c->stats;
}

enum tux_reason tux_conn_reason(const struct tux_conn *c)
{
	return c->reason;
}

bool tux_conn_is_shared(const struct tux_conn *c)
{
	return c->tx.shared && !c->tx.raw_wanted;
}

bool tux_conn_opens(const struct tux_conn *c)
{
	return c->life == TUX_LIFE_OPENING;
}

bool tux_conn_tx_on_tux(const struct tux_conn *c)
{
	return c->tx.path == TUX_PATH_TUX;
}

bool tux_conn_rx_on_tux(const struct tux_conn *c)
{
	return c->rx.path == TUX_PATH_TUX;
}
